//! Owners and groups by name (RFC 8881 §5.9).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hayase_identity::{Directory, Identities, Limits, Mapping, Settings};
use hayase_mem::MemFs;
use hayase_nfs::{Answered, Setup};
use hayase_vfs::Wait;

use crate::common::{Args, Client, Lab, Reply, args, proc, program};
use crate::ops::{attrs, op, ops, run, run_as, stat};

const OWNERS: u32 = 1 << (36 - 32) | 1 << (37 - 32);
const ACL: u32 = 1 << 12;

/// alice is 1000, staff is 50.
struct Site;

impl Directory for Site {
    fn user_id(&self, name: &str) -> io::Result<Option<u32>> {
        Ok((name == "alice").then_some(1000))
    }

    fn group_id(&self, name: &str) -> io::Result<Option<u32>> {
        Ok((name == "staff").then_some(50))
    }

    fn user_name(&self, uid: u32) -> io::Result<Option<String>> {
        Ok((uid == 1000).then(|| "alice".to_owned()))
    }

    fn group_name(&self, gid: u32) -> io::Result<Option<String>> {
        Ok((gid == 50).then(|| "staff".to_owned()))
    }

    /// alice is in forty groups.
    fn groups(&self, uid: u32) -> io::Result<Option<Vec<u32>>> {
        Ok((uid == 1000).then(|| (100..140).collect()))
    }
}

fn lab(send_names: bool) -> Lab {
    lab_with(Settings { send_names, ..Settings::default() })
}

fn lab_with(settings: Settings) -> Lab {
    let limits = Limits { patience: Duration::from_secs(60), ..Limits::default() };
    let mapping = Mapping::of_domain("lab");
    let identities = Identities::new(settings, Box::new(Site), mapping, limits).unwrap();
    let setup = Setup { identities: Arc::new(identities), ..Setup::default() };
    let lab = Lab::set_up("/srv *(rw,insecure,no_root_squash)", MemFs::new, setup);
    lab.root().file(&lab.root().srv(), "file");
    lab
}

fn set(mask: [u32; 2], values: &Args) -> Args {
    args().words([0, 0, 0, 0, 2]).words(mask).opaque(values.bytes())
}

fn set_owners(lab: &Lab, owner: &str, group: &str) -> u32 {
    let set = set([0, OWNERS], &args().opaque(owner).opaque(group));
    run(lab, &ops().at("/srv/file").op(op::SETATTR, &set)).status
}

fn owners(lab: &Lab) -> [Vec<u8>; 2] {
    let mut reply = attrs(lab, "/srv/file", &[0, OWNERS]);
    let owners = [reply.opaque(), reply.opaque()];
    reply.end();
    owners
}

#[test]
fn names_and_numbers_are_understood_whatever_is_told() {
    for (names, told) in [(false, ["1000", "50"]), (true, ["alice@lab", "staff@lab"])] {
        let lab = lab(names);
        for (owner, group) in [("alice@lab", "staff@lab"), ("1000", "50"), ("alice@LAB", "50")] {
            assert_eq!(set_owners(&lab, "0", "0"), stat::OK);
            assert_eq!(set_owners(&lab, owner, group), stat::OK, "{owner} {group}");
            assert_eq!(owners(&lab), told.map(|name| name.as_bytes().to_vec()));
        }
        // Who has no name has a number.
        assert_eq!(set_owners(&lab, "7", "8"), stat::OK);
        assert_eq!(owners(&lab), [b"7", b"8"]);
    }
}

#[test]
fn names_that_nobody_bears_here_are_refused() {
    let lab = lab(true);
    for (owner, group) in [
        ("bob@lab", "50"),
        ("1000", "wheel@lab"),
        ("alice@elsewhere", "50"),
        ("alice", "50"),
        ("staff@lab", "50"),
    ] {
        assert_eq!(set_owners(&lab, owner, group), stat::BADOWNER, "{owner} {group}");
    }
    assert_eq!(owners(&lab), [b"0", b"0"]);
}

#[test]
fn access_control_lists_have_the_same_names() {
    const READ: u32 = 1;
    const GROUP: u32 = 0x40;
    let lab = lab(true);
    let ace = |list: Args, flag, mask, who: &str| list.words([0, flag, mask]).opaque(who);
    let list = args().word(5);
    let list = ace(list, 0, READ, "OWNER@");
    let list = ace(list, 0, READ, "alice@lab");
    let list = ace(list, GROUP, READ, "GROUP@");
    let list = ace(list, GROUP, READ, "staff@lab");
    let list = ace(list, 0, READ, "EVERYONE@");
    let change =
        |list: &Args| run(&lab, &ops().at("/srv/file").op(op::SETATTR, &set([ACL, 0], list)));
    assert_eq!(change(&list).status, stat::OK);
    let mut told = attrs(&lab, "/srv/file", &[ACL]);
    let whos: Vec<_> = (0..told.word())
        .map(|_| {
            told.take(12);
            String::from_utf8(told.opaque()).unwrap()
        })
        .collect();
    for who in ["alice@lab", "staff@lab"] {
        assert!(whos.iter().any(|told| told == who), "{whos:?}");
    }
    let stranger = ace(args().word(1), 0, READ, "bob@lab");
    assert_eq!(change(&stranger).status, stat::BADOWNER);
}

/// A thread that must not wait asks nobody; the same call is run again by one that may.
#[test]
fn names_are_looked_up_where_waiting_is_allowed() {
    let lab = lab(true);
    assert_eq!(set_owners(&lab, "1000", "50"), stat::OK);
    let root = lab.root();
    let args = ops().at("/srv/file").getattr(&[0, OWNERS]).args("tag", 0);
    let ask = |wait| {
        let record = root.record(lab.next_xid(), [program::NFS, 4, 1], &args);
        root.offer(&record, wait)
    };
    assert_eq!(ask(Wait::Never).0, Answered::WouldBlock);
    assert_eq!(ask(Wait::Allowed).0, Answered::Reply);
    let (answered, reply) = ask(Wait::Never);
    assert_eq!(answered, Answered::Reply);
    assert!(Reply::new(reply).rest().windows(9).any(|bytes| bytes == b"alice@lab"));
}

/// What `AUTH_SYS` has room for are sixteen groups; the fortieth counts all the same, and those that a
/// client states do not.
#[test]
fn groups_are_looked_up_if_that_is_wanted() {
    let lab = lab_with(Settings { manage_gids: true, ..Settings::default() });
    let root = lab.root();
    let srv = root.srv();
    for (name, gid) in [("last", "139"), ("stated", "7")] {
        root.file_of(&srv, name, b"ours");
        let path = format!("/srv/{name}");
        let owner = set([0, OWNERS], &args().opaque("0").opaque(gid));
        assert_eq!(run(&lab, &ops().at(&path).op(op::SETATTR, &owner)).status, stat::OK);
        root.chmod(&root.find(&srv, name).unwrap(), 0o640);
    }
    let alice = Client::new(&lab, "192.0.2.1:700").with_user(1000, 1000, &[7]);
    let bob = Client::new(&lab, "192.0.2.1:700").with_user(1001, 1001, &[7, 139]);
    for (who, name, may) in
        [(&alice, "last", true), (&alice, "stated", false), (&bob, "last", false)]
    {
        let read = args().opaque(root.find(&srv, name).unwrap()).word(1);
        // ACCESS of version 3, then of version 4.
        let mut reply = who.nfs(proc::ACCESS, &read);
        reply.is([stat::OK]);
        reply.attr();
        assert_eq!(reply.word() == 1, may, "{name}");
        let path = format!("/srv/{name}");
        let mut results =
            run_as(who, 0, &ops().at(&path).op(op::ACCESS, &args().word(1))).at(&path);
        let access = results.ok(op::ACCESS);
        assert_eq!([access.word(), access.word()] == [1, 1], may, "{name}");
    }
    // Nobody is looked up on a thread that must not wait.
    let carol = Client::new(&lab, "192.0.2.1:700").with_user(1002, 1002, &[]);
    let getattr =
        carol.record(lab.next_xid(), [program::NFS, 3, proc::GETATTR], &args().opaque(&srv));
    assert_eq!(carol.offer(&getattr, Wait::Never).0, Answered::WouldBlock);
    assert_eq!(carol.offer(&getattr, Wait::Allowed).0, Answered::Reply);
    assert_eq!(carol.offer(&getattr, Wait::Never).0, Answered::Reply);
}
