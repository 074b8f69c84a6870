//! From names on the wire to names of this host and back, as idmapd.conf(5) says.

use std::path::Path;
use std::sync::OnceLock;

use hayase_conf::Conf;

use crate::domain::host_domain;

/// How names on the wire and names of this host belong together.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// The domain, once it is known.
    domain: OnceLock<String>,
    /// Names on the wire that stand for a user of this host.
    fixed: Vec<(String, String)>,
    /// Whether names of the domain are those of this host.
    by_domain: bool,
}

impl Mapping {
    /// Names of this domain are the names of this host.
    pub fn of_domain(domain: &str) -> Self {
        let domain = OnceLock::from(domain.to_owned());
        Mapping { domain, fixed: Vec::new(), by_domain: true }
    }

    /// What a file in the format of idmapd.conf(5) says; one that is not there says nothing. Words
    /// of it that have no effect here are logged, with the reason.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn read(file: &Path) -> std::io::Result<Self> {
        Ok(Mapping::of_conf(&Conf::read(file)?))
    }

    fn of_conf(conf: &Conf) -> Self {
        let mut mapping = Mapping { by_domain: false, ..Mapping::default() };
        if let Some(domain) = conf.value("General", "Domain").filter(|domain| !domain.is_empty()) {
            mapping.domain = OnceLock::from(domain.to_owned());
        }
        if conf.value("General", "Local-Realms").is_some() {
            tracing::info!("idmapd.conf: Local-Realms has no effect: there is no Kerberos here");
        }
        let methods = conf.value("Translation", "Method").unwrap_or("nsswitch");
        for method in methods.split([',', ' ', '\t']).filter(|method| !method.is_empty()) {
            match method {
                "nsswitch" => mapping.by_domain = true,
                "static" => {
                    let pairs = conf.section("Static");
                    mapping.fixed = pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
                }
                other => tracing::warn!(
                    "idmapd.conf: Method {other} has no effect: use nsswitch, which asks LDAP, SSSD \
                     and others through nsswitch.conf, or static"
                ),
            }
        }
        mapping
    }

    /// With another domain than the file says.
    #[must_use]
    pub fn with_domain(self, domain: &str) -> Self {
        Mapping { domain: OnceLock::from(domain.to_owned()), ..self }
    }

    /// The domain. The first time it may ask the name service.
    pub fn domain(&self) -> &str {
        self.domain.get_or_init(host_domain)
    }

    /// The user of this host for whom a name on the wire stands.
    pub(crate) fn local_user<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        let fixed = self.fixed.iter().find(|(wire, _)| wire.eq_ignore_ascii_case(name));
        fixed.map(|(_, local)| &**local).or_else(|| self.local_group(name))
    }

    /// The group of this host for which a name on the wire stands.
    pub(crate) fn local_group<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (local, domain) = name.rsplit_once('@')?;
        let ours = self.by_domain && domain.eq_ignore_ascii_case(self.domain());
        (ours && !local.is_empty()).then_some(local)
    }

    /// The name on the wire of a user of this host.
    pub(crate) fn wire_user(&self, local: &str) -> Option<String> {
        let fixed = self.fixed.iter().find(|(_, user)| user == local);
        fixed.map(|(wire, _)| wire.clone()).or_else(|| self.wire_group(local))
    }

    /// The name on the wire of a group of this host.
    pub(crate) fn wire_group(&self, local: &str) -> Option<String> {
        self.by_domain.then(|| format!("{local}@{}", self.domain()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(text: &str) -> Mapping {
        Mapping::of_conf(&Conf::parse(text))
    }

    #[test]
    fn names_of_the_domain_are_names_of_the_host() {
        let mapping = mapping("[General]\nDomain = example.org\nLocal-Realms = EXAMPLE.ORG\n");
        assert_eq!(mapping.local_user("alice@Example.ORG"), Some("alice"));
        // Names of hosts that are in several domains have one of their own.
        assert_eq!(mapping.local_user("alice@corp@example.org"), Some("alice@corp"));
        assert_eq!(mapping.wire_user("alice").as_deref(), Some("alice@example.org"));
        assert_eq!(mapping.wire_group("staff").as_deref(), Some("staff@example.org"));
        for name in ["alice", "alice@example.com", "@example.org", "alice@", ""] {
            assert_eq!(mapping.local_user(name), None, "{name}");
        }
    }

    #[test]
    fn fixed_names_are_users_only_and_come_first() {
        let text = "[General]\nDomain=d\n[Translation]\nMethod = static,nsswitch\n\
                    [Static]\nremote@elsewhere = alice\n";
        let both = mapping(text);
        assert_eq!(both.local_user("Remote@elsewhere"), Some("alice"));
        assert_eq!(both.local_group("remote@elsewhere"), None);
        assert_eq!(both.wire_user("alice").as_deref(), Some("remote@elsewhere"));
        assert_eq!(both.wire_user("bob").as_deref(), Some("bob@d"));
        let only = mapping(&text.replace("static,nsswitch", "static"));
        assert_eq!(only.local_user("bob@d"), None);
        assert_eq!(only.wire_user("bob"), None);
        // Fixed names without the method that reads them say nothing.
        assert_eq!(mapping(&text.replace("static,", "")).local_user("remote@elsewhere"), None);
    }

    #[test]
    fn methods_that_are_not_here_are_passed_over() {
        let none = mapping("[General]\nDomain=d\n[Translation]\nMethod = umich_ldap\n");
        assert_eq!((none.local_user("a@d"), none.wire_user("a")), (None, None));
        let domain = mapping("").with_domain("lab");
        assert_eq!(domain.local_user("a@lab"), Some("a"));
    }
}
