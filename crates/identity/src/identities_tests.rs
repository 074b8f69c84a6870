//! Answers, their age, and name services that hang.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use super::*;

/// A directory of alice (1000) and staff (50). It counts what it is asked, fails while it is told
/// to, and does not answer about a user `slow` until it is let go.
#[derive(Default)]
struct Site {
    asked: AtomicUsize,
    fails: Mutex<bool>,
    let_go: (Mutex<bool>, Condvar),
}

impl Site {
    fn count(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn answer<T>(&self, answer: Option<T>) -> io::Result<Option<T>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if *self.fails.lock().unwrap() { Err(io::Error::other("down")) } else { Ok(answer) }
    }
}

struct Asked(Arc<Site>);

impl Directory for Asked {
    fn user_id(&self, name: &str) -> io::Result<Option<u32>> {
        if name == "slow" {
            let (lock, changed) = &self.0.let_go;
            let guard = lock.lock().unwrap();
            drop(changed.wait_while(guard, |let_go| !*let_go).unwrap());
            return self.0.answer(Some(2000));
        }
        self.0.answer((name == "alice").then_some(1000))
    }

    fn group_id(&self, name: &str) -> io::Result<Option<u32>> {
        self.0.answer((name == "staff").then_some(50))
    }

    fn user_name(&self, uid: u32) -> io::Result<Option<String>> {
        self.0.answer((uid == 1000).then(|| "alice".to_owned()))
    }

    fn group_name(&self, gid: u32) -> io::Result<Option<String>> {
        self.0.answer((gid == 50).then(|| "staff".to_owned()))
    }

    fn groups(&self, uid: u32) -> io::Result<Option<Vec<u32>>> {
        self.0.answer((uid == 1000).then(|| (100..140).collect()))
    }
}

const NAMES: Settings = Settings { send_names: true, manage_gids: true };

fn identities(settings: Settings, limits: Limits) -> (Arc<Site>, Identities) {
    let site = Arc::new(Site::default());
    let asked = Box::new(Asked(Arc::clone(&site)));
    let identities = Identities::new(settings, asked, Mapping::of_domain("lab"), limits).unwrap();
    (site, identities)
}

/// Waits as long as it takes, however slow the machine is.
fn patient() -> Limits {
    Limits { patience: Duration::from_secs(60), ..Limits::default() }
}

#[test]
fn who_must_not_wait_gets_what_is_known() {
    let (site, ids) = identities(NAMES, patient());
    assert_eq!(ids.user_id("alice@lab", Wait::Never), Err(Unmapped::WouldBlock));
    assert_eq!(ids.user_name(1000, Wait::Never), Err(WouldBlock));
    assert_eq!(ids.groups(1000, Wait::Never), Err(Unmapped::WouldBlock));
    assert_eq!(site.count(), 0);
    for wait in [Wait::Allowed, Wait::Never] {
        assert_eq!(ids.user_id("alice@lab", wait), Ok(1000));
        assert_eq!(ids.group_id("staff@LAB", wait), Ok(50));
        assert_eq!(ids.user_name(1000, wait).unwrap().as_deref(), Some("alice@lab"));
        assert_eq!(ids.group_name(50, wait).unwrap().as_deref(), Some("staff@lab"));
        assert_eq!(ids.groups(1000, wait).unwrap().len(), 40);
    }
    assert_eq!(site.count(), 5);
}

#[test]
fn that_there_is_nobody_is_remembered_too() {
    let (site, ids) = identities(NAMES, patient());
    for wait in [Wait::Allowed, Wait::Never] {
        assert_eq!(ids.user_id("bob@lab", wait), Err(Unmapped::Nobody));
        assert_eq!(ids.user_name(7, wait), Ok(None));
        assert_eq!(ids.groups(7, wait), Ok(Arc::default()));
    }
    assert_eq!(site.count(), 3);
    // Other domains are not asked about.
    assert_eq!(ids.user_id("alice@other", Wait::Allowed), Err(Unmapped::Nobody));
    // What is no name at all does not even need a thread that may wait.
    for name in ["alice", "", &"a".repeat(600)] {
        assert_eq!(ids.user_id(name, Wait::Never), Err(Unmapped::Nobody));
    }
    assert_eq!(site.count(), 3);
}

#[test]
fn answers_grow_old_and_can_be_forgotten() {
    let limits = Limits { unknown: Duration::ZERO, ..patient() };
    let (site, ids) = identities(NAMES, limits);
    for count in 1..4 {
        assert_eq!(ids.user_id("bob@lab", Wait::Allowed), Err(Unmapped::Nobody));
        assert_eq!(site.count(), count);
    }
    assert_eq!(ids.user_id("alice@lab", Wait::Allowed), Ok(1000));
    ids.forget();
    assert_eq!(ids.user_id("alice@lab", Wait::Never), Err(Unmapped::WouldBlock));
}

#[test]
fn one_slow_answer_holds_nobody_else() {
    let limits = Limits { patience: Duration::from_millis(50), ..Limits::default() };
    let (site, ids) = identities(NAMES, limits);
    // Not in time; the second one does not even wait.
    for _ in 0..2 {
        assert_eq!(ids.user_id("slow@lab", Wait::Allowed), Err(Unmapped::Later));
    }
    // Others may take a moment on a busy machine, but not for ever.
    while ids.user_id("alice@lab", Wait::Allowed) != Ok(1000) {
        std::thread::yield_now();
    }
    *site.let_go.0.lock().unwrap() = true;
    site.let_go.1.notify_all();
    while ids.user_id("slow@lab", Wait::Allowed) != Ok(2000) {
        std::thread::yield_now();
    }
    // It was asked once.
    assert_eq!(site.count(), 2);
}

#[test]
fn those_who_wait_are_counted() {
    let limits = Limits { waiting: 0, ..patient() };
    let (site, ids) = identities(NAMES, limits);
    assert_eq!(ids.user_id("slow@lab", Wait::Allowed), Err(Unmapped::Later));
    *site.let_go.0.lock().unwrap() = true;
    site.let_go.1.notify_all();
}

#[test]
fn a_name_service_that_fails_leaves_what_it_said() {
    let limits = Limits { known: Duration::ZERO, failed: Duration::ZERO, ..patient() };
    let (site, ids) = identities(NAMES, limits);
    assert_eq!(ids.groups(1000, Wait::Allowed).unwrap().len(), 40);
    *site.fails.lock().unwrap() = true;
    assert_eq!(ids.groups(1000, Wait::Allowed).unwrap().len(), 40);
    assert_eq!(ids.groups(1001, Wait::Allowed), Err(Unmapped::Later));
    assert_eq!(ids.user_id("alice@lab", Wait::Allowed), Err(Unmapped::Later));
    assert_eq!(ids.user_name(1000, Wait::Allowed), Ok(None));
    *site.fails.lock().unwrap() = false;
    assert_eq!(ids.user_id("alice@lab", Wait::Allowed), Ok(1000));
}

#[test]
fn numbers_need_no_directory() {
    let (site, ids) = identities(Settings::default(), patient());
    assert_eq!(ids.user_name(1000, Wait::Never), Ok(None));
    assert_eq!(site.count(), 0);
    let none = Identities::default();
    assert_eq!(none.user_id("alice@lab", Wait::Never), Err(Unmapped::Nobody));
    assert!(!none.manages_gids());
}
