//! The tests, by theme.

use std::time::Duration;

use anyhow::Result;

use crate::scene::Scene;
use crate::version::Version;

/// The longest a test may take when it does not ask for more.
const LIMIT: Duration = Duration::from_secs(300);

/// A test.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Theme and name, `mount.negotiate`.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Programs that it runs in the guest beyond what every system has.
    pub needs: &'static [&'static str],
    /// The longest it may take.
    pub limit: Duration,
    /// Mount with this version where the test says version 3.
    pub version: Option<Version>,
    /// Whether it belongs to the quick run.
    pub quick: bool,
    /// The test itself.
    pub run: fn(&mut Scene) -> Result<()>,
}

impl Case {
    /// A test that needs nothing special.
    const fn new(
        name: &'static str,
        about: &'static str,
        run: fn(&mut Scene) -> Result<()>,
    ) -> Self {
        Self { name, about, needs: &[], limit: LIMIT, version: None, quick: true, run }
    }

    const fn needs(mut self, programs: &'static [&'static str]) -> Self {
        self.needs = programs;
        self
    }

    const fn limit_secs(mut self, secs: u64) -> Self {
        self.limit = Duration::from_secs(secs);
        self
    }

    /// Theme and name, and the version if it is not the test's own.
    pub fn full_name(&self) -> String {
        self.version
            .map_or_else(|| self.name.to_owned(), |version| format!("{}/{version}", self.name))
    }
}

/// Fails the test, naming what is compared, when two values differ.
macro_rules! same {
    ($got:expr, $wanted:expr, $($what:tt)+) => {
        match (&$got, &$wanted) {
            (got, wanted) => {
                anyhow::ensure!(
                    got == wanted,
                    "{}: {got:?}, {wanted:?} was expected",
                    format!($($what)+)
                );
            }
        }
    };
}

mod access;
mod apps;
mod bench;
mod connections;
mod directory;
mod exports;
mod fio;
mod locks;
mod mount;
mod moved;
mod people;
mod postgres;
mod restart;
mod special;
mod tree;
mod two;
mod v4;

/// All tests, quick ones first within a theme.
pub fn all() -> Vec<Case> {
    let mut all = [
        mount::CASES,
        access::CASES,
        exports::CASES,
        special::CASES,
        directory::CASES,
        tree::CASES,
        fio::CASES,
        apps::CASES,
        postgres::CASES,
        bench::CASES,
        two::CASES,
        locks::CASES,
        connections::CASES,
        restart::CASES,
        moved::CASES,
        &v4::cases(),
    ]
    .concat();
    all.extend(v4::variants(&all));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_have_a_theme() {
        let mut seen = HashSet::new();
        for case in all() {
            assert!(seen.insert(case.full_name()), "{} twice", case.full_name());
            assert!(case.name.split_once('.').is_some(), "{}", case.name);
        }
    }
}
