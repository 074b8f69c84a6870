//! GETATTR, SETATTR, VERIFY, NVERIFY.

use hayase_vfs::{Quota, QuotaOf};

use crate::common::{Lab, Reply, args};
use crate::ops::{attrs, op, ops, run, run_as, stat, status};

/// Mode, links, owner, group, device, space, times (RFC 8881 §5.7), as Linux asks.
const LINUX: [u32; 2] = [0x0010_011a, 0x00b0_a23a];
const MODE: u32 = 1 << (33 - 32);

fn lab() -> Lab {
    let lab = Lab::open();
    let root = lab.root();
    root.file_of(&root.srv(), "file", b"hello");
    root.symlink(&root.srv(), "link", "file");
    lab
}

#[test]
fn linux_gets_what_it_asks() {
    let lab = lab();
    let v3 = lab.root().attr(&lab.root().find(&lab.root().srv(), "file").unwrap());
    let mut reply = attrs(&lab, "/srv/file", &LINUX);
    reply.is([1]); // type
    reply.long(); // change
    reply.is_long(5); // size
    reply.long(); // fsid
    reply.long();
    reply.is_long(v3.fileid());
    reply.is([0o644, 1]);
    reply.is_opaque("0");
    reply.is_opaque("0");
    reply.is([0, 0]);
    reply.long(); // space_used
    for _ in 0..3 {
        reply.long();
        reply.word();
    }
    reply.is_long(v3.fileid()); // mounted_on_fileid
    reply.end();
}

/// All attributes that are supported can be read, and no other comes.
#[test]
fn every_supported_attribute_can_be_read() {
    let lab = lab();
    for path in ["/", "/srv", "/srv/file"] {
        let mut results = run(&lab, &ops().at(path).getattr(&[1, 0])).at(path);
        let reply = results.ok(op::GETATTR);
        reply.is([1, 1]);
        let mut supported = Reply::new(reply.opaque());
        let mut words: Vec<_> = (0..supported.word()).map(|_| supported.word()).collect();
        supported.end();
        words[1] &= !(1 << (48 - 32) | 1 << (54 - 32)); // can only be set
        attrs(&lab, path, &words);
    }
}

#[test]
fn unsupported_attributes_are_left_out_and_set_only_ones_refused() {
    let lab = lab();
    let mut results =
        run(&lab, &ops().at("/srv").getattr(&[2 | 1 << 14, 0, 0, 0, 0, 7])).at("/srv");
    results.ok(op::GETATTR).is([1, 2, 4, 2]);
    assert_eq!(status(&lab, &ops().at("/srv").getattr(&[0, 1 << 16])), stat::INVAL);
}

fn set(mask: &[u32], values: &crate::common::Args) -> crate::common::Args {
    args().words([0; 4]).word(mask.len() as u32).words(mask.iter().copied()).opaque(values.bytes())
}

#[test]
fn a_mode_is_set_and_told() {
    let lab = lab();
    let set = set(&[0, MODE], &args().word(0o600));
    let mut results = run(&lab, &ops().at("/srv/file").op(op::SETATTR, &set)).at("/srv/file");
    results.ok(op::SETATTR).is([2, 0, MODE]);
    results.end();
    attrs(&lab, "/srv/file", &[0, MODE]).is([0o600]);
}

/// What SETATTR answers always says what was set (RFC 8881 §18.30.2).
#[test]
fn a_refused_setattr_says_that_nothing_was_set() {
    let lab = lab();
    let cases = [
        (set(&[0, MODE], &args().word(0o10000)), stat::INVAL),
        (set(&[0, MODE], &args()), stat::BADXDR),
        (set(&[0, MODE], &args().words([1, 2])), stat::BADXDR),
        (set(&[1 << 3], &args().long(1)), stat::INVAL),
        (set(&[1 << 14], &args().word(1)), stat::ATTRNOTSUPP),
        (set(&[0, 1 << 4], &args().opaque("nobody@nowhere")), stat::BADOWNER),
        (set(&[0, 1 << 16], &args().word(1).long(0).word(1_000_000_000)), stat::INVAL),
    ];
    for (args, expected) in cases {
        let mut results = run(&lab, &ops().at("/srv/file").op(op::SETATTR, &args)).at("/srv/file");
        results.is(op::SETATTR, expected).is([0]);
        results.end();
    }
}

/// Where something is counted, the tighter of the owner's and the group's limits is told.
#[test]
fn quotas_are_told_where_there_are_some() {
    const QUOTAS: u32 = 0b111 << (38 - 32);
    let lab = lab();
    let supported = |lab: &Lab| {
        let mut supported = Reply::new(attrs(lab, "/srv", &[1]).rest().to_vec());
        supported.word();
        supported.word();
        supported.word() & QUOTAS
    };
    let mut results = run(&lab, &ops().at("/srv/file").getattr(&[0, QUOTAS])).at("/srv/file");
    results.ok(op::GETATTR).is([0, 0]);
    assert_eq!(supported(&lab), 0);
    let quota = |used_bytes, soft_bytes, hard_bytes| Quota {
        used_bytes,
        soft_bytes,
        hard_bytes,
        ..Quota::default()
    };
    lab.disk().set_quota(QuotaOf::User(0), quota(1000, Some(5000), Some(9000)));
    lab.disk().set_quota(QuotaOf::Group(0), quota(2000, None, Some(4000)));
    let mut told = attrs(&lab, "/srv/file", &[0, QUOTAS]);
    for expected in [2000, 2000, 2000] {
        told.is_long(expected);
    }
    told.end();
    assert_eq!(supported(&lab), QUOTAS);
}

#[test]
fn verify_and_nverify_are_each_others_opposite() {
    let lab = lab();
    let same = args().words([2, 0, MODE]).opaque(args().word(0o644).bytes());
    let other = args().words([2, 0, MODE]).opaque(args().word(0o755).bytes());
    let on =
        |number, args: &crate::common::Args| status(&lab, &ops().at("/srv/file").op(number, args));
    assert_eq!(on(op::VERIFY, &same), stat::OK);
    assert_eq!(on(op::NVERIFY, &same), stat::SAME);
    assert_eq!(on(op::VERIFY, &other), stat::NOT_SAME);
    assert_eq!(on(op::NVERIFY, &other), stat::OK);
    for number in [op::VERIFY, op::NVERIFY] {
        let rdattr_error = args().words([1, 1 << 11]).opaque(args().word(0).bytes());
        assert_eq!(on(number, &rdattr_error), stat::INVAL);
        let archive = args().words([1, 1 << 14]).opaque(args().word(0).bytes());
        assert_eq!(on(number, &archive), stat::ATTRNOTSUPP);
        // An attribute that only some file systems have, such as a quota, and this one has not.
        let quota = args().words([2, 0, 1 << (38 - 32)]).opaque(args().long(0).bytes());
        assert_eq!(on(number, &quota), stat::ATTRNOTSUPP);
        let short = args().words([2, 0, MODE]).opaque([]);
        assert_eq!(on(number, &short), stat::BADXDR);
    }
}

#[test]
fn wrong_types_are_told_in_the_words_of_the_minor_version() {
    let lab = lab();
    assert_eq!(status(&lab, &ops().at("/srv/file").bare(op::READLINK)), stat::INVAL);
    let mut results = run(&lab, &ops().at("/srv/link").bare(op::READLINK)).at("/srv/link");
    results.ok(op::READLINK).is_opaque("file");
    assert_eq!(status(&lab, &ops().at("/srv/file").lookup("x")), stat::NOTDIR);
    assert_eq!(status(&lab, &ops().at("/srv/link").lookup("x")), stat::SYMLINK);
    assert_eq!(status(&lab, &ops().at("/srv/link").bare(op::LOOKUPP)), stat::SYMLINK);
}

#[test]
fn a_user_is_bound_by_permissions() {
    let lab = lab();
    lab.root().chmod(&lab.root().srv(), 0o700);
    let results = run_as(&lab.user(1000, 1000), 0, &ops().at("/srv/file"));
    assert_eq!(results.status, stat::ACCESS);
}
