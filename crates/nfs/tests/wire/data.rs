//! READ, WRITE, COMMIT (RFC 1813 §3.3.6, §3.3.7, §3.3.21).

use crate::common::{Args, KEEP, Lab, Reply, args, mode, proc, stat};
use hayase_mem::{Limits, MemFs, Op, PAGE_BYTES};
use hayase_vfs::{Error, Vfs};

const UNSTABLE: u32 = 0;
const DATA_SYNC: u32 = 1;
const FILE_SYNC: u32 = 2;

/// READ of these bytes.
fn at(file: &[u8], offset: u64, count: u32) -> Args {
    args().opaque(file).long(offset).word(count)
}

/// WRITE of this data.
fn put(file: &[u8], offset: u64, stable: u32, data: &[u8]) -> Args {
    args().opaque(file).long(offset).words([data.len() as u32, stable]).opaque(data)
}

#[test]
fn read_answers_attributes_count_eof_data() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file_of(&client.srv(), "file", b"hello world");
    let read = |offset, count, eof: u32, data: &[u8]| {
        let mut reply = client.nfs(proc::READ, &at(&file, offset, count));
        reply.is([stat::OK]);
        reply.is_attr(&client.attr(&file));
        reply.is([data.len() as u32, eof]);
        reply.is_opaque(data);
        reply.end();
    };
    read(0, 5, 0, b"hello");
    read(6, 4, 0, b"worl");
    read(6, 5, 1, b"world");
    read(6, 1000, 1, b"world");
    read(0, 11, 1, b"hello world");
    read(0, u32::MAX, 1, b"hello world");
    // No bytes: the end counts all the same.
    read(0, 0, 0, b"");
    read(11, 0, 1, b"");
    // At and behind the end.
    read(11, 10, 1, b"");
    read(12, 10, 1, b"");
    for offset in [1 << 32, (1 << 63) - 1, 1 << 63, u64::MAX] {
        read(offset, 10, 1, b"");
        read(offset, u32::MAX, 1, b"");
        read(offset, 0, 1, b"");
    }
}

#[test]
fn reading_touches_the_access_time_only() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file_of(&client.srv(), "file", b"data");
    let before = client.attr(&file);
    client.data(&file);
    let after = client.attr(&file);
    assert!(before.atime() < after.atime());
    assert_eq!((before.mtime(), before.ctime()), (after.mtime(), after.ctime()));
}

#[test]
fn large_reads_are_whole_and_padded() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let bytes: Vec<u8> = (0..10_001_u32).map(|at| (at * 7 % 251) as u8).collect();
    client.put(&file, 0, &bytes);
    for count in [4095, 4096, 4097, 4098, 4099, 5000, 10_001] {
        let mut reply = client.nfs(proc::READ, &at(&file, 0, count));
        reply.is([stat::OK]);
        reply.attr();
        reply.is([count, u32::from(count == 10_001)]);
        assert!(reply.opaque() == bytes[..count as usize], "{count} bytes");
        reply.end();
    }
}

#[test]
fn one_call_carries_at_most_what_fsinfo_says() {
    const MOST: u32 = 1 << 20;
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let data = vec![7; MOST as usize + 100];
    let mut reply = client.nfs(proc::WRITE, &put(&file, 0, UNSTABLE, &data));
    reply.is([stat::OK, 1]);
    reply.take(24);
    reply.attr();
    reply.is([MOST, UNSTABLE]);
    assert_eq!(client.attr(&file).size(), u64::from(MOST));
    client.put(&file, u64::from(MOST), &[8; 100]);
    let mut reply = client.nfs(proc::READ, &at(&file, 0, u32::MAX));
    reply.is([stat::OK]);
    reply.attr();
    reply.is([MOST, 0, MOST]);
}

#[test]
fn holes_are_read_as_zeros() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    client.put(&file, 20_000, b"x");
    let data = client.data(&file);
    assert_eq!(data.len(), 20_001);
    assert!(data[..20_000].iter().all(|byte| *byte == 0));
    assert_eq!(data[20_000], b'x');
    assert_eq!(client.attr(&file).used(), PAGE_BYTES as u64);
}

#[test]
fn read_and_write_of_what_is_no_regular_file_are_invalid() {
    // Answered ISDIR for directories, which RFC 1813 §3.3.6 calls the mistake of NFSv2 servers.
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for object in [client.dir(&srv, "d"), client.symlink(&srv, "l", "t"), client.fifo(&srv, "p")] {
        let attr = client.attr(&object);
        let mut reply = client.nfs(proc::READ, &at(&object, 0, 10));
        reply.is([stat::INVAL]);
        reply.is_attr(&attr);
        reply.end();
        let mut reply = client.nfs(proc::WRITE, &put(&object, 0, FILE_SYNC, b"data"));
        reply.is([stat::INVAL]);
        reply.is_wcc(&attr, &attr);
        reply.end();
        let mut reply = client.nfs(proc::COMMIT, &at(&object, 0, 0));
        reply.is([stat::INVAL]);
        reply.is_wcc(&attr, &attr);
        reply.end();
    }
}

#[test]
fn write_answers_wcc_count_stability_and_verifier() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let verifier = lab.disk().write_verifier();
    let mut expected = Vec::new();
    for (stable, data) in [(UNSTABLE, b"first"), (DATA_SYNC, b"other"), (FILE_SYNC, b"third")] {
        let before = client.attr(&file);
        let mut reply = client.nfs(proc::WRITE, &put(&file, expected.len() as u64, stable, data));
        let after = client.attr(&file);
        reply.is([stat::OK]);
        reply.is_wcc(&before, &after);
        reply.is([5]);
        assert!(reply.word() >= stable, "less stable than asked for");
        reply.is_long(verifier);
        reply.end();
        expected.extend(data);
        assert_eq!(after.size(), expected.len() as u64);
        assert!(before.mtime() < after.mtime());
    }
    assert_eq!(client.data(&file), expected);
}

#[test]
fn writes_overwrite_append_and_leave_gaps() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file_of(&client.srv(), "file", b"aaaa");
    client.put(&file, 2, b"bbbb");
    assert_eq!(client.data(&file), b"aabbbb");
    client.put(&file, 8, b"c");
    assert_eq!(client.data(&file), b"aabbbb\0\0c");
}

#[test]
fn a_write_of_nothing_changes_nothing() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file_of(&client.srv(), "file", b"data");
    let before = client.attr(&file);
    for offset in [0, 4, 1000, u64::MAX] {
        let mut reply = client.nfs(proc::WRITE, &put(&file, offset, FILE_SYNC, b""));
        reply.is([stat::OK]);
        reply.is_wcc(&before, &before);
        reply.is([0, FILE_SYNC]);
        reply.is_long(lab.disk().write_verifier());
        reply.end();
    }
}

#[test]
fn a_count_that_is_not_the_length_of_the_data_is_invalid() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file_of(&client.srv(), "file", b"data");
    let before = client.attr(&file);
    for count in [0, 3, 5, u32::MAX] {
        let write = args().opaque(&file).long(0).words([count, FILE_SYNC]).opaque("text");
        let mut reply = client.nfs(proc::WRITE, &write);
        reply.is([stat::INVAL]);
        reply.is_wcc(&before, &before);
        reply.end();
    }
    assert_eq!(client.data(&file), b"data");
}

#[test]
fn writes_at_the_end_of_all_offsets() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let last = (1 << 63) - 2;
    client.put(&file, last, b"z");
    assert_eq!(client.attr(&file).size(), last + 1);
    // One byte fits, the other does not: a short write.
    let mut reply = client.nfs(proc::WRITE, &put(&file, last, FILE_SYNC, b"xy"));
    reply.is([stat::OK, 1]);
    reply.take(24);
    reply.attr();
    reply.is([1]);
    for offset in [last + 1, last + 2, u64::MAX - 1, u64::MAX] {
        let before = client.attr(&file);
        let mut reply = client.nfs(proc::WRITE, &put(&file, offset, FILE_SYNC, b"xy"));
        reply.is([stat::FBIG]);
        reply.is_wcc(&before, &before);
        reply.end();
    }
    let mut reply = client.nfs(proc::READ, &at(&file, last, 10));
    reply.is([stat::OK]);
    reply.attr();
    reply.is([1, 1]);
    reply.is_opaque("x");
}

#[test]
fn a_full_disk_writes_what_fits_and_then_says_so() {
    let limits = Limits { bytes: 2 * PAGE_BYTES as u64, ..Limits::default() };
    let lab = Lab::over("/srv *(rw,insecure,no_root_squash)", || MemFs::with_limits(limits));
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let mut reply = client.nfs(proc::WRITE, &put(&file, 0, FILE_SYNC, &[1; 3 * PAGE_BYTES]));
    reply.is([stat::OK, 1]);
    reply.take(24);
    reply.attr();
    reply.is([2 * PAGE_BYTES as u32]);
    let full = client.status(proc::WRITE, &put(&file, 2 * PAGE_BYTES as u64, FILE_SYNC, b"x"));
    assert_eq!(full, stat::NOSPC);
    assert_eq!(client.status(proc::WRITE, &put(&file, 0, FILE_SYNC, b"x")), stat::OK);
}

#[test]
fn permissions_are_those_of_the_mode_but_owners_may() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o755);
    let (owner, other) = (lab.user(5, 6), lab.user(7, 7));
    let file = owner.file_of(&owner.srv(), "file", b"data");
    let try_both = |client: &crate::common::Client<'_>| {
        [(proc::READ, at(&file, 0, 4)), (proc::WRITE, put(&file, 0, 0, b"d"))]
            .map(|(proc, args)| client.status(proc, &args))
    };
    assert_eq!(try_both(&other), [stat::OK, stat::ACCES]);
    owner.chmod(&file, 0o600);
    assert_eq!(try_both(&other), [stat::ACCES, stat::ACCES]);
    // A client checks the mode at open only; whoever has the file open goes on (RFC 1813 §4.4).
    owner.chmod(&file, 0);
    assert_eq!(try_both(&owner), [stat::OK, stat::OK]);
    // Who may execute a file may read it: that is how programs are paged in.
    owner.chmod(&file, 0o711);
    assert_eq!(try_both(&other), [stat::OK, stat::ACCES]);
    assert_eq!(try_both(&lab.root()), [stat::OK, stat::OK]);
}

/// The verifier at the end of a reply.
fn verifier(mut reply: Reply) -> u64 {
    let rest = reply.rest().len();
    reply.take(rest - 8);
    reply.long()
}

#[test]
fn commit_answers_wcc_and_the_verifier_of_the_writes() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let written = verifier(client.nfs(proc::WRITE, &put(&file, 0, UNSTABLE, b"data")));
    for (offset, count) in [(0, 4), (0, 0), (2, 1), (100, 100), (u64::MAX, u32::MAX)] {
        let before = client.attr(&file);
        let mut reply = client.nfs(proc::COMMIT, &at(&file, offset, count));
        reply.is([stat::OK]);
        reply.is_wcc(&before, &client.attr(&file));
        reply.is_long(written);
        reply.end();
    }
    lab.disk().crash();
    assert_eq!(client.data(&file), b"data");
}

#[test]
fn whoever_loses_unstable_data_says_so_by_another_verifier() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let before = verifier(client.nfs(proc::WRITE, &put(&file, 0, UNSTABLE, b"data")));
    lab.disk().crash();
    assert_eq!(client.data(&file), b"");
    let after = verifier(client.nfs(proc::COMMIT, &at(&file, 0, 0)));
    assert_ne!(before, after);
    // A sync that fails may have lost data of anyone.
    lab.disk().fail_nth(Some(Op::Commit), 1, Error::Io);
    assert_eq!(client.status(proc::COMMIT, &at(&file, 0, 0)), stat::IO);
    let now = verifier(client.nfs(proc::COMMIT, &at(&file, 0, 0)));
    assert_ne!(after, now);
    // An orderly restart loses nothing, but cannot know that of the clients.
    lab.disk().restart();
    assert_ne!(now, verifier(client.nfs(proc::COMMIT, &at(&file, 0, 0))));
}

#[test]
fn stable_writes_survive_a_crash() {
    for stable in [DATA_SYNC, FILE_SYNC] {
        let lab = Lab::open();
        let client = lab.root();
        let file = client.file(&client.srv(), "file");
        assert_eq!(client.status(proc::WRITE, &put(&file, 0, stable, b"data")), stat::OK);
        lab.disk().crash();
        assert_eq!(client.data(&file), b"data");
    }
}

#[test]
fn a_strangers_write_takes_away_set_id_bits() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o777);
    let owner = lab.user(5, 6);
    let create = args().entry(owner.srv(), "file").word(0).words(mode(0o6777));
    assert_eq!(owner.status(proc::CREATE, &create), stat::OK);
    let file = owner.find(&owner.srv(), "file").unwrap();
    assert_eq!(owner.attr(&file).mode(), 0o6777);
    lab.user(7, 7).put(&file, 0, b"x");
    assert_eq!(owner.attr(&file).mode(), 0o777);
}

#[test]
fn setting_nothing_is_not_a_write() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let before = client.attr(&file);
    assert_eq!(client.status(proc::SETATTR, &args().opaque(&file).words(KEEP).word(0)), stat::OK);
    assert_eq!(client.attr(&file), before);
}
