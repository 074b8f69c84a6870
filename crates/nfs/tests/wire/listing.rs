//! READDIR and READDIRPLUS (RFC 1813 §3.3.16, §3.3.17).

use crate::common::{Args, Client, Lab, Reply, args, proc, stat};
use std::collections::BTreeSet;

/// Bytes of a listing without entries: attributes, verifier, the end of the list, eof.
const EMPTY: u32 = 4 + 84 + 8 + 4 + 4;

/// One entry as it was read.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    fileid: u64,
    name: String,
    cookie: u64,
}

fn readdir(dir: &[u8], cookie: u64, count: u32) -> Args {
    args().opaque(dir).long(cookie).long(0).word(count)
}

fn readdirplus(dir: &[u8], cookie: u64, dircount: u32, maxcount: u32) -> Args {
    args().opaque(dir).long(cookie).long(0).words([dircount, maxcount])
}

/// The entries of a reply, whether it is the end, and how many bytes of `resok` it took.
fn entries(
    client: &Client<'_>,
    dir: &[u8],
    proc: u32,
    mut reply: Reply,
) -> (Vec<Entry>, bool, u32) {
    let len = reply.rest().len() as u32 - 4;
    reply.is([stat::OK]);
    // Attributes of before the listing: should the directory change meanwhile, the client
    // finds out with its next GETATTR.
    assert_eq!(reply.attr().wcc(), client.attr(dir).wcc());
    reply.is([0, 0]); // the verifier of cookies that are always good
    let mut all = Vec::new();
    while reply.bool() {
        let fileid = reply.long();
        let name = String::from_utf8(reply.opaque()).unwrap();
        let cookie = reply.long();
        if proc == proc::READDIRPLUS {
            let attr = reply.attr();
            let handle = reply.handle();
            assert_eq!(attr.fileid(), fileid);
            assert_eq!(client.find(dir, &name), Ok(handle));
        }
        all.push(Entry { fileid, name, cookie });
    }
    let eof = reply.bool();
    reply.end();
    (all, eof, len)
}

#[test]
fn a_listing_starts_with_the_dots() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let dir = client.dir(&srv, "dir");
    let file = client.file(&dir, "file");
    let ids = [&dir, &srv, &file].map(|object| client.attr(object).fileid());
    for (proc, list) in [
        (proc::READDIR, readdir(&dir, 0, 4096)),
        (proc::READDIRPLUS, readdirplus(&dir, 0, 4096, 4096)),
    ] {
        let (all, eof, _) = entries(&client, &dir, proc, client.nfs(proc, &list));
        let names: Vec<_> = all.iter().map(|entry| &entry.name[..]).collect();
        assert_eq!(names, [".", "..", "file"]);
        assert_eq!(all.iter().map(|entry| entry.fileid).collect::<Vec<_>>(), ids);
        assert!(all.iter().all(|entry| entry.cookie != 0));
        assert!(eof);
    }
}

#[test]
fn an_entry_of_readdir_plus_is_drawn_as_in_the_rfc() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file(&srv, "abcde");
    let before = client.attr(&srv);
    let mut reply = client.nfs(proc::READDIRPLUS, &readdirplus(&srv, 2, 4096, 4096));
    reply.is([stat::OK]);
    reply.is_attr(&before);
    reply.is([0, 0]);
    reply.is([1]); // an entry follows
    reply.is_long(client.attr(&file).fileid());
    reply.is_opaque("abcde");
    reply.is_long(3); // cookie
    reply.is_attr(&client.attr(&file));
    assert_eq!(reply.handle(), file);
    reply.is([0, 1]); // no more entries, eof
    reply.end();
}

#[test]
fn every_page_size_lists_everything_once() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let mut expected = BTreeSet::from([".".to_owned(), "..".to_owned()]);
    for number in 0..30 {
        let name = "x".repeat(1 + number * 7 % 40) + &number.to_string();
        client.file(&srv, &name);
        expected.insert(name);
    }
    for count in (EMPTY + 100..2000).step_by(37).chain([5000, u32::MAX]) {
        for proc in [proc::READDIR, proc::READDIRPLUS] {
            // A page of READDIRPLUS has to hold attributes and handle of the longest name, too.
            let count = if proc == proc::READDIR { count } else { count.saturating_add(200) };
            let (mut seen, mut cookie) = (BTreeSet::new(), 0);
            loop {
                let list = match proc {
                    proc::READDIR => readdir(&srv, cookie, count),
                    _ => readdirplus(&srv, cookie, 1, count),
                };
                let (page, eof, len) = entries(&client, &srv, proc, client.nfs(proc, &list));
                assert!(len <= count, "{len} bytes where {count} were allowed");
                for entry in &page {
                    assert!(seen.insert(entry.name.clone()), "{} comes twice", entry.name);
                    assert!(entry.cookie > cookie);
                    cookie = entry.cookie;
                }
                if eof {
                    break;
                }
                assert!(!page.is_empty(), "no progress");
            }
            assert_eq!(seen, expected, "{} by {count}", proc::NAMES[proc as usize]);
        }
    }
}

#[test]
fn what_cannot_hold_one_entry_is_too_small() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    client.file(&srv, &"x".repeat(255));
    let dot = 4 + 8 + 8 + 8; // follows, fileid, name, cookie
    let too_small = |proc, list: &Args| {
        let mut reply = client.nfs(proc, list);
        if reply.word() == stat::OK {
            return false;
        }
        let mut reply = client.nfs(proc, list);
        reply.is([stat::TOOSMALL]);
        reply.is_attr(&client.attr(&srv));
        reply.end();
        true
    };
    for count in 0..300 {
        assert_eq!(too_small(proc::READDIR, &readdir(&srv, 0, count)), count < EMPTY + dot);
        // Attributes, handle and their two words.
        let plus = EMPTY + dot + 4 + 84 + 4 + 4 + 32;
        let list = readdirplus(&srv, 0, count, count);
        assert_eq!(too_small(proc::READDIRPLUS, &list), count < plus, "{count}");
        // An entry of 255 bytes behind the dots.
        assert!(too_small(proc::READDIR, &readdir(&srv, 2, count)));
        // Behind the last entry nothing has to fit.
        assert_eq!(too_small(proc::READDIR, &readdir(&srv, 3, count)), count < EMPTY);
    }
}

#[test]
fn a_listing_goes_on_where_it_was_whatever_happened_since() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for name in ["a", "b", "c", "d"] {
        client.file(&srv, name);
    }
    let list = |cookie| {
        let reply = client.nfs(proc::READDIR, &readdir(&srv, cookie, 4096));
        entries(&client, &srv, proc::READDIR, reply).0
    };
    let all = list(0);
    let after_b = all[3].cookie;
    assert_eq!(all[3].name, "b");
    for name in ["a", "b", "c"] {
        assert_eq!(client.status(proc::REMOVE, &args().entry(&srv, name)), stat::OK);
    }
    client.file(&srv, "e");
    let rest: Vec<_> = list(after_b).into_iter().map(|entry| entry.name).collect();
    assert_eq!(rest, ["d", "e"], "gone: c; seen: a, b; new: e");
}

#[test]
fn cookies_that_were_never_given_are_bad() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    client.file(&srv, "file");
    for cookie in [4, 1000, 1 << 32, 1 << 63, u64::MAX] {
        for (proc, list) in [
            (proc::READDIR, readdir(&srv, cookie, 4096)),
            (proc::READDIRPLUS, readdirplus(&srv, cookie, 4096, 4096)),
        ] {
            let mut reply = client.nfs(proc, &list);
            reply.is([stat::BAD_COOKIE]);
            reply.is_attr(&client.attr(&srv));
            reply.end();
        }
    }
    // The last cookie is good, and nothing is behind it.
    let reply = client.nfs(proc::READDIR, &readdir(&srv, 3, 4096));
    assert_eq!(entries(&client, &srv, proc::READDIR, reply), (vec![], true, EMPTY));
}

#[test]
fn any_verifier_is_good() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let list = args().opaque(&srv).long(1).long(u64::MAX).word(4096);
    let (all, eof, _) = entries(&client, &srv, proc::READDIR, client.nfs(proc::READDIR, &list));
    assert_eq!((all.len(), eof), (1, true));
}

#[test]
fn only_directories_are_listed_and_only_for_those_who_may_read_them() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o711);
    let (owner, other) = (lab.user(5, 6), lab.user(7, 7));
    let srv = owner.srv();
    let file = owner.file(&srv, "file");
    let link = owner.symlink(&srv, "link", ".");
    for (object, client, expected) in
        [(&file, &owner, stat::NOTDIR), (&link, &owner, stat::NOTDIR), (&srv, &other, stat::ACCES)]
    {
        for (proc, list) in [
            (proc::READDIR, readdir(object, 0, 4096)),
            (proc::READDIRPLUS, readdirplus(object, 0, 4096, 4096)),
        ] {
            let mut reply = client.nfs(proc, &list);
            reply.is([expected]);
            reply.is_attr(&client.attr(object));
            reply.end();
        }
    }
}

#[test]
fn who_may_not_search_a_directory_gets_names_without_attributes() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o744);
    let (owner, other) = (lab.user(5, 6), lab.user(7, 7));
    let srv = owner.srv();
    owner.file(&srv, "file");
    let mut reply = other.nfs(proc::READDIRPLUS, &readdirplus(&srv, 2, 4096, 4096));
    reply.is([stat::OK]);
    reply.attr();
    reply.is([0, 0, 1]);
    reply.long();
    reply.is_opaque("file");
    reply.is_long(3);
    reply.is([0, 0, 0, 1]); // no attributes, no handle, no more entries, eof
    reply.end();
}

#[test]
fn a_listing_reads_the_directory_and_changes_it_no_further() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let before = client.attr(&srv);
    client.names(&srv);
    let after = client.attr(&srv);
    assert_eq!((before.mtime(), before.ctime()), (after.mtime(), after.ctime()));
}
