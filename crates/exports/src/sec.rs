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

/// The flavors of a `sec=` list, the preferred one first. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flavors {
    first: Flavor,
    second: Option<Flavor>,
}

impl Flavors {
    /// Only `sys`, which is what an export without `sec=` accepts.
    pub const SYS: Self = Self { first: Flavor::Sys, second: None };

    /// The flavors in the order in which a client should try them.
    pub fn iter(self) -> impl Iterator<Item = Flavor> {
        std::iter::once(self.first).chain(self.second)
    }

    /// Whether requests with this flavor are served.
    pub fn permits(self, flavor: Flavor) -> bool {
        self.iter().any(|f| f == flavor)
    }

    /// Reads a list as it stands after `sec=`.
    pub(crate) fn parse(list: &str) -> Result<Self, Problem> {
        let mut flavors: Option<Self> = None;
        for word in list.split(':') {
            let flavor = flavor(word)?;
            match &mut flavors {
                None => {
                    flavors = Some(Self { first: flavor, second: None });
                }
                Some(known) if known.permits(flavor) => {}
                Some(known) => known.second = Some(flavor),
            }
        }
        flavors.ok_or_else(|| Problem::new("`sec=` names no flavor", "write `sec=sys`"))
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
            Some(second) => write!(f, ":{}", second.word()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_flavor_is_the_preferred_one() {
        for (list, shown) in [
            ("sys", "sys"),
            ("unix", "sys"),
            ("none:sys", "none:sys"),
            ("sys:null:sys", "sys:none"),
        ] {
            assert_eq!(Flavors::parse(list).unwrap().to_string(), shown, "{list}");
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
