//! Listings of directories that change meanwhile: what stays is seen exactly once.

use std::collections::{BTreeMap, BTreeSet};

use crate::testing::client::Listed;
use crate::testing::{Capability, Scene};
use crate::{Durability, Handle, Wait, Wcc};

pub(crate) const NEEDS: &[Capability] = &[];

const FILES: usize = 400;

/// Lists a directory of [`FILES`] files in pages of `most` and changes it after each page.
/// Answers how often each name was seen.
fn disturbed(
    s: &Scene<'_>,
    most: usize,
    mut change: impl FnMut(&Handle, &[Listed]),
) -> (Handle, BTreeMap<Vec<u8>, usize>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, format!("by {most}")).unwrap();
    for n in 0..FILES {
        user.create(&dir, format!("{n}")).unwrap();
    }
    let (mut seen, mut cookie) = (BTreeMap::new(), 0);
    loop {
        let (page, eof) = user.page(&dir, cookie, most, false).unwrap();
        for entry in &page {
            *seen.entry(entry.name.clone()).or_default() += 1;
        }
        if eof {
            return (dir, seen);
        }
        cookie = page.last().unwrap().cookie;
        change(&dir, &page);
        assert!(seen.len() < 10 * FILES, "the listing does not end");
    }
}

/// What was there from the beginning and still is was seen once, and nothing twice.
#[track_caller]
fn complete(s: &Scene<'_>, dir: &Handle, seen: &BTreeMap<Vec<u8>, usize>) {
    let twice: Vec<_> = seen.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "seen more than once: {twice:?}");
    let there: BTreeSet<Vec<u8>> = s.user.names(dir).unwrap().into_iter().collect();
    for n in 0..FILES {
        let name = format!("{n}").into_bytes();
        assert!(!there.contains(&name) || seen.contains_key(&name), "{n} was not seen");
    }
}

fn is_dot(entry: &Listed) -> bool {
    entry.name.starts_with(b".")
}

/// As `rm -r` does.
pub(crate) fn while_what_was_listed_goes(s: &Scene<'_>) {
    for most in [1, 3, 64] {
        let (dir, seen) = disturbed(s, most, |dir, page| {
            for entry in page.iter().filter(|entry| !is_dot(entry)) {
                s.user.remove(dir, &entry.name).unwrap();
            }
        });
        complete(s, &dir, &seen);
        assert_eq!(seen.len(), FILES + 2, "all were there when their turn came");
    }
}

pub(crate) fn while_some_of_what_is_to_come_goes(s: &Scene<'_>) {
    for most in [1, 3, 64] {
        let mut next = 0;
        let (dir, seen) = disturbed(s, most, |dir, _| {
            for _ in 0..most {
                // Every third, wherever the listing is.
                let _ = s.user.remove(dir, format!("{}", next % FILES));
                next += 3;
            }
        });
        complete(s, &dir, &seen);
    }
}

pub(crate) fn while_others_come(s: &Scene<'_>) {
    for most in [2, 64] {
        let mut made = 0;
        let (dir, seen) = disturbed(s, most, |dir, _| {
            if made < 2 * FILES {
                for _ in 0..most.min(20) {
                    s.user.create(dir, format!("new {made}")).unwrap();
                    made += 1;
                }
            }
        });
        complete(s, &dir, &seen);
    }
}

pub(crate) fn while_others_are_renamed(s: &Scene<'_>) {
    let mut round = 0;
    let (dir, seen) = disturbed(s, 7, |dir, page| {
        for entry in page.iter().filter(|entry| entry.name.ends_with(b"3")) {
            round += 1;
            s.user.rename((dir, &entry.name), (dir, format!("renamed {round}"))).unwrap();
        }
    });
    // Those renamed may come again under the new name; each name but once.
    complete(s, &dir, &seen);
}

pub(crate) fn while_all_of_it_goes(s: &Scene<'_>) {
    let (_, seen) = disturbed(s, 5, |dir, _| {
        for name in s.user.names(dir).unwrap() {
            s.user.remove(dir, name).unwrap();
        }
    });
    assert!(seen.len() <= 5, "entries that are gone");
}

pub(crate) fn while_others_work_in_it(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    for n in 0..FILES {
        user.create(&dir, format!("{n}")).unwrap();
    }
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let cx = crate::Cx {
                cred: &user.cred,
                wait: Wait::Allowed,
                durability: Durability::Async,
                opened: crate::Access::NONE,
            };
            let how = crate::Open::Guarded(crate::testing::client::mode(0o644));
            let mut n = 0_u32;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let name = format!("passing {}", n % 50);
                let name = crate::Name::new(name.as_bytes()).unwrap();
                s.fs.create(&cx, &dir, name, &how, &mut Wcc::default()).unwrap();
                s.fs.remove(&cx, &dir, name, &mut Wcc::default()).unwrap();
                n += 1;
            }
        });
        // A failed assertion must not leave the other thread running for ever.
        let listings: Vec<_> = [1, 5, 64].map(|most| user.list_by(&dir, most)).into();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        for listing in listings {
            let mut seen = BTreeMap::new();
            for entry in listing.unwrap() {
                *seen.entry(entry.name).or_default() += 1;
            }
            seen.retain(|name: &Vec<u8>, _| !name.starts_with(b"passing"));
            complete(s, &dir, &seen);
        }
    });
}
