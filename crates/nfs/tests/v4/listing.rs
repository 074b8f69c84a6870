//! READDIR.

use crate::common::{Lab, Reply, args};
use crate::ops::{op, ops, run, stat, status};

const RDATTR_ERROR: u32 = 1 << 11;
const FILEID: u32 = 1 << 20;

fn lab(files: usize) -> Lab {
    let lab = Lab::open();
    let root = lab.root();
    for number in 0..files {
        root.file(&root.srv(), &format!("file{number:03}"));
    }
    lab
}

/// One READDIR: names and cookies, and whether the directory ends.
#[track_caller]
fn list(lab: &Lab, cookie: u64, max: u32) -> (Vec<(String, u64)>, bool) {
    let list = args().long(cookie).long(0).words([0, max, 1, RDATTR_ERROR | FILEID]);
    let mut results = run(lab, &ops().at("/srv").op(op::READDIR, &list)).at("/srv");
    let reply = results.ok(op::READDIR);
    let before = reply.rest().len();
    reply.is_long(0);
    let mut entries = Vec::new();
    while reply.bool() {
        let cookie = reply.long();
        assert!(cookie > 2, "a reserved cookie");
        entries.push((String::from_utf8(reply.opaque()).unwrap(), cookie));
        reply.is([1, RDATTR_ERROR | FILEID]);
        let mut values = Reply::new(reply.opaque());
        values.is([stat::OK]);
        assert_ne!(values.long(), 0);
        values.end();
    }
    let eof = reply.bool();
    assert!(before - reply.rest().len() <= max as usize, "longer than asked");
    results.end();
    (entries, eof)
}

#[test]
fn a_directory_is_listed_in_parts_of_any_size() {
    let lab = lab(40);
    for max in [80, 200, 1000, 100_000] {
        let (mut names, mut cookie) = (Vec::new(), 0);
        loop {
            let (part, eof) = list(&lab, cookie, max);
            if let Some((_, last)) = part.last() {
                cookie = *last;
            }
            names.extend(part.into_iter().map(|(name, _)| name));
            if eof {
                break;
            }
        }
        names.sort();
        let expected: Vec<_> = (0..40).map(|number| format!("file{number:03}")).collect();
        assert_eq!(names, expected, "in parts of {max}");
    }
}

#[test]
fn what_cannot_be_listed_is_told() {
    let lab = lab(3);
    let try_list = |path: &str, cookie: u64, verf: u64, max: u32, mask: u32| {
        let list = args().long(cookie).long(verf).words([0, max, 1, mask]);
        status(&lab, &ops().at(path).op(op::READDIR, &list))
    };
    assert_eq!(try_list("/srv", 0, 0, 40, 0), stat::TOOSMALL);
    assert_eq!(try_list("/srv", 0, 0, 15, 0), stat::TOOSMALL);
    assert_eq!(try_list("/srv", 1, 0, 4096, 0), stat::BAD_COOKIE);
    assert_eq!(try_list("/srv", 3, 1, 4096, 0), stat::NOT_SAME);
    assert_eq!(try_list("/srv/file001", 0, 0, 4096, 0), stat::NOTDIR);
}
