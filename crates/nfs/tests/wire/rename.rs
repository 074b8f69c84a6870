//! RENAME (RFC 1813 §3.3.14).

use crate::common::{Client, Lab, args, proc, stat};
use hayase_mem::{Limits, MemFs};

/// Renames and checks the whole reply: both directories before and after.
#[track_caller]
fn rename(client: &Client<'_>, from: (&[u8], &str), to: (&[u8], &str)) -> u32 {
    let before = [client.attr(from.0), client.attr(to.0)];
    let mut reply = client.nfs(proc::RENAME, &args().entry(from.0, from.1).entry(to.0, to.1));
    let status = reply.word();
    let after = [client.attr(from.0), client.attr(to.0)];
    reply.is_wcc(&before[0], &after[0]);
    reply.is_wcc(&before[1], &after[1]);
    reply.end();
    assert!(status == stat::OK || before == after, "a failure changes nothing");
    status
}

#[test]
fn what_may_replace_what() {
    use stat::{ISDIR, NOENT, NOTDIR, NOTEMPTY, OK};
    const KINDS: [&str; 5] = ["file", "link", "fifo", "empty", "full"];
    // Rows: what is renamed. Columns: what has the new name, the last: nothing.
    let table = [
        ("file", [OK, OK, OK, ISDIR, ISDIR, OK]),
        ("link", [OK, OK, OK, ISDIR, ISDIR, OK]),
        ("fifo", [OK, OK, OK, ISDIR, ISDIR, OK]),
        ("empty", [NOTDIR, NOTDIR, NOTDIR, OK, NOTEMPTY, OK]),
        ("full", [NOTDIR, NOTDIR, NOTDIR, OK, NOTEMPTY, OK]),
        ("nothing", [NOENT; 6]),
    ];
    for same_directory in [true, false] {
        for (what, row) in table {
            for (over, expected) in KINDS.into_iter().chain(["nothing"]).zip(row) {
                let lab = Lab::open();
                let client = lab.root();
                let srv = client.srv();
                let (from, to) = (client.dir(&srv, "from"), client.dir(&srv, "to"));
                let to = if same_directory { &from } else { &to };
                let old = make(&client, &from, what, "old");
                make(&client, to, over, "new");
                let status = rename(&client, (&from, "old"), (to, "new"));
                assert_eq!(status, expected, "{what} over {over}");
                if status == OK {
                    assert_eq!(client.find(to, "new"), Ok(old.unwrap()));
                    assert_eq!(client.find(&from, "old").unwrap_err(), NOENT);
                    assert_eq!(client.names(to), ["new"]);
                }
            }
        }
    }
}

fn make(client: &Client<'_>, dir: &[u8], kind: &str, name: &str) -> Option<Vec<u8>> {
    Some(match kind {
        "file" => client.file(dir, name),
        "link" => client.symlink(dir, name, "target"),
        "fifo" => client.fifo(dir, name),
        "empty" => client.dir(dir, name),
        "full" => {
            let made = client.dir(dir, name);
            client.file(&made, "inside");
            made
        }
        _ => return None,
    })
}

#[test]
fn what_is_replaced_is_gone() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let (old, new) = (client.file(&srv, "old"), client.file(&srv, "new"));
    assert_eq!(rename(&client, (&srv, "old"), (&srv, "new")), stat::OK);
    assert_eq!(client.status(proc::GETATTR, &args().opaque(new)), stat::STALE);
    assert_eq!(client.find(&srv, "new"), Ok(old));
}

#[test]
fn a_name_renamed_to_itself_or_to_another_of_its_file_stays() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file(&srv, "a");
    let before = client.attr(&srv);
    assert_eq!(rename(&client, (&srv, "a"), (&srv, "a")), stat::OK);
    assert_eq!(client.attr(&srv), before);
    assert_eq!(client.status(proc::LINK, &args().opaque(&file).entry(&srv, "b")), stat::OK);
    assert_eq!(rename(&client, (&srv, "a"), (&srv, "b")), stat::OK);
    assert_eq!(client.names(&srv), ["a", "b"]);
    assert_eq!(client.attr(&file).nlink(), 2);
}

#[test]
fn a_directory_does_not_move_into_itself() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let a = client.dir(&srv, "a");
    let b = client.dir(&a, "b");
    assert_eq!(rename(&client, (&srv, "a"), (&a, "x")), stat::INVAL);
    assert_eq!(rename(&client, (&srv, "a"), (&b, "x")), stat::INVAL);
    assert_eq!(rename(&client, (&a, "b"), (&srv, "a")), stat::NOTEMPTY);
    assert_eq!(rename(&client, (&a, "b"), (&srv, "c")), stat::OK);
    assert_eq!(client.find(&b, ".."), Ok(srv));
}

#[test]
fn links_of_directories_follow_the_moves() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let (from, to) = (client.dir(&srv, "from"), client.dir(&srv, "to"));
    client.dir(&from, "moved");
    client.dir(&to, "replaced");
    assert_eq!((client.attr(&from).nlink(), client.attr(&to).nlink()), (3, 3));
    assert_eq!(rename(&client, (&from, "moved"), (&to, "replaced")), stat::OK);
    assert_eq!((client.attr(&from).nlink(), client.attr(&to).nlink()), (2, 3));
    assert_eq!(rename(&client, (&to, "replaced"), (&from, "back")), stat::OK);
    assert_eq!((client.attr(&from).nlink(), client.attr(&to).nlink()), (3, 2));
}

#[test]
fn both_places_must_be_directories() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file(&srv, "file");
    assert_eq!(rename(&client, (&file, "x"), (&srv, "y")), stat::NOTDIR);
    assert_eq!(rename(&client, (&srv, "file"), (&file, "y")), stat::NOTDIR);
}

#[test]
fn exports_are_different_file_systems() {
    let lab = Lab::new("/one *(rw,insecure,no_root_squash)\n/two *(rw,insecure,no_root_squash)");
    let client = lab.root();
    let (one, two) = (client.root_of("/one"), client.root_of("/two"));
    client.file(&one, "a");
    assert_eq!(rename(&client, (&one, "a"), (&two, "b")), stat::XDEV);
}

#[test]
fn both_directories_must_be_writable() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o755);
    let (owner, other) = (lab.user(5, 6), lab.user(7, 7));
    let srv = owner.srv();
    let open = owner.dir(&srv, "open");
    owner.chmod(&open, 0o777);
    owner.file(&srv, "a");
    owner.file(&open, "b");
    assert_eq!(rename(&other, (&srv, "a"), (&open, "c")), stat::ACCES);
    assert_eq!(rename(&other, (&open, "b"), (&srv, "c")), stat::ACCES);
    assert_eq!(rename(&other, (&open, "b"), (&open, "c")), stat::OK);
    owner.chmod(&open, 0o1777);
    assert_eq!(rename(&other, (&open, "c"), (&open, "d")), stat::PERM);
}

#[test]
fn a_directory_has_a_limit_of_links() {
    let limits = Limits { links: 3, ..Limits::default() };
    let lab = Lab::over("/srv *(rw,insecure,no_root_squash)", || MemFs::with_limits(limits));
    let client = lab.root();
    let srv = client.srv();
    let dir = client.dir(&srv, "dir");
    client.dir(&dir, "sub");
    let other = client.find(&dir, "sub").unwrap();
    client.dir(&other, "deep");
    assert_eq!(rename(&client, (&other, "deep"), (&srv, "full")), stat::MLINK);
    assert_eq!(rename(&client, (&other, "deep"), (&dir, "full")), stat::MLINK);
}
