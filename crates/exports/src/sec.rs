//! `sec=`: which RPC security flavors an export accepts.

use crate::diagnostic::Problem;
use crate::nearest::nearest;
use std::fmt;

/// An RPC security flavor that an export can accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// `AUTH_SYS`: the client states uid and gids; no cryptography.
    Sys,
    /// `AUTH_NONE`: no identity; every request is anonymous.
    None,
}

impl Flavor {
    /// The number of the flavor in RPC (RFC 5531 §8.2).
    pub const fn number(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Sys => 1,
        }
    }

    /// The word in `sec=`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sys => "sys",
        }
    }
}

/// The options that can differ by flavor: those that follow a `sec=` are for its flavors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is one pair of words in exports(5)")]
pub struct Treatment {
    /// `ro`
    pub ro: bool,
    /// `secure`
    pub secure: bool,
    /// `root_squash`
    pub root_squash: bool,
    /// `all_squash`
    pub all_squash: bool,
}

/// The flavors of a `sec=` list, the preferred one first. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flavors {
    first: Flavor,
    /// With its own options, if they are not those of the first.
    second: Option<(Flavor, Option<Treatment>)>,
}

impl Flavors {
    /// Only `sys`, which is what an export without `sec=` accepts.
    pub const SYS: Self = Self { first: Flavor::Sys, second: None };

    /// The flavors in the order in which a client should try them.
    pub fn iter(self) -> impl Iterator<Item = Flavor> {
        std::iter::once(self.first).chain(self.second.map(|(flavor, _)| flavor))
    }

    /// Whether requests with this flavor are served.
    pub fn permits(self, flavor: Flavor) -> bool {
        self.iter().any(|f| f == flavor)
    }

    /// The options of a flavor, if they are not those of the preferred one.
    pub fn treatment(self, flavor: Flavor) -> Option<Treatment> {
        self.second.filter(|(second, _)| *second == flavor)?.1
    }

    /// Flavors with the options of each; and those of the first.
    pub(crate) fn treated(list: &[(Flavor, Treatment)]) -> Option<(Self, Treatment)> {
        let ((first, own), second) = match list {
            [] => return None,
            [first] => (*first, None),
            [first, second, ..] => (*first, Some(*second)),
        };
        let second = second.map(|(flavor, other)| (flavor, (other != own).then_some(other)));
        Some((Self { first, second }, own))
    }

    /// The flavor that is not preferred.
    pub(crate) fn second(self) -> Option<Flavor> {
        self.second.map(|(flavor, _)| flavor)
    }

    /// Gives the flavor that is not preferred options of its own, if they are not those of the first.
    pub(crate) fn treat_second(&mut self, own: Treatment, other: Treatment) {
        if let Some((_, treatment)) = &mut self.second {
            *treatment = (other != own).then_some(other);
        }
    }

    /// Reads a list as it stands after `sec=`: each flavor once.
    pub(crate) fn parse(list: &str) -> Result<Vec<Flavor>, Problem> {
        let mut flavors = Vec::new();
        for word in list.split(':') {
            let flavor = flavor(word)?;
            if !flavors.contains(&flavor) {
                flavors.push(flavor);
            }
        }
        Ok(flavors)
    }
}

fn flavor(word: &str) -> Result<Flavor, Problem> {
    match word {
        "sys" | "unix" => Ok(Flavor::Sys),
        "none" | "null" => Ok(Flavor::None),
        "krb5" | "krb5i" | "krb5p" => Err(Problem::new(
            format!("`{word}` is not available: this build has no Kerberos"),
            "use `sec=sys`, and protect the network by other means",
        )),
        _ => Err(Problem::new(
            format!("unknown security flavor `{word}`"),
            match nearest(word, ["sys", "none"]) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "the flavors here are `sys` and `none`".into(),
            },
        )),
    }
}

impl fmt::Display for Flavors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.first.word())?;
        match self.second {
            Some((second, None)) => write!(f, ":{}", second.word()),
            Some((second, Some(own))) => write!(f, ",sec={}{own}", second.word()),
            None => Ok(()),
        }
    }
}

/// Words, each after a comma, in the order in which exportfs(8) shows them.
impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |is: bool, yes: &'static str, no: &'static str| if is { yes } else { no };
        write!(
            f,
            ",{},{},{},{}",
            word(self.ro, "ro", "rw"),
            word(self.secure, "secure", "insecure"),
            word(self.root_squash, "root_squash", "no_root_squash"),
            word(self.all_squash, "all_squash", "no_all_squash"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ExportOptions;

    #[test]
    fn the_first_flavor_is_the_preferred_one() {
        for (list, shown) in [
            ("sys", "sys"),
            ("unix", "sys"),
            ("none:sys", "none:sys"),
            ("sys:null:sys", "sys:none"),
        ] {
            let own = ExportOptions::default().treatment();
            let list: Vec<_> =
                Flavors::parse(list).unwrap().into_iter().map(|flavor| (flavor, own)).collect();
            assert_eq!(Flavors::treated(&list).unwrap().0.to_string(), shown);
        }
    }

    #[test]
    fn kerberos_is_refused_by_name() {
        let problem = Flavors::parse("krb5p:sys").unwrap_err();
        assert!(problem.message.contains("no Kerberos"), "{problem}");
        assert!(Flavors::parse("syss").unwrap_err().remedy.contains("`sys`"));
        assert!(Flavors::parse("").is_err());
    }
}
