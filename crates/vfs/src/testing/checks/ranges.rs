//! Holes, space, copies and clones (RFC 7862).

use crate::testing::client::refused;
use crate::testing::{Capability, Client, Scene};
use crate::{Advice, Error, Handle, NewNode, Result, Seek, Sought, Stability, Wait};

pub(crate) const NEEDS: &[Capability] = &[];

const MIB: u64 = 1 << 20;

/// Says that something is left out where it cannot be done.
fn supported<T>(result: Result<T>, what: &str) -> Option<T> {
    match result {
        Err(Error::NotSupported) => {
            println!("left out: there is no {what} here");
            None
        }
        other => Some(other.unwrap()),
    }
}

/// A file of 4 MiB with data in its first, third and last 64 KiB.
fn sparse(user: &Client<'_>, dir: &Handle, name: &str) -> Handle {
    let file = user.create(dir, name).unwrap();
    for offset in [0, 2 * MIB, 4 * MIB - 65_536] {
        user.put(&file, offset, vec![b'x'; 65_536]);
    }
    file
}

pub(crate) fn holes_and_data_are_found(s: &Scene<'_>) {
    let user = &s.user;
    let file = sparse(user, &s.root, "file");
    let Some(_) = supported(user.seek(&file, 0, Seek::Data), "seek") else { return };
    let data = user.contents(&file);
    let mut at = 0;
    // Whatever is called a hole is zero, and no data is left out.
    while at < 4 * MIB {
        let start = user.seek(&file, at, Seek::Data).unwrap().offset;
        assert!(data[at as usize..start as usize].iter().all(|byte| *byte == 0));
        let end = user.seek(&file, start, Seek::Hole).unwrap();
        assert!(end.offset > start, "neither data nor a hole");
        assert_eq!(end.eof, end.offset == 4 * MIB);
        at = end.offset;
    }
    let inside = user.seek(&file, 2 * MIB + 5, Seek::Data).unwrap();
    assert_eq!(inside, Sought { offset: 2 * MIB + 5, eof: false });
    // The virtual hole at the end.
    let last = user.seek(&file, 4 * MIB - 1, Seek::Hole).unwrap();
    assert_eq!(last, Sought { offset: 4 * MIB, eof: true });
    user.set(&file, &crate::testing::client::size(8 * MIB)).unwrap();
    let none = user.seek(&file, 6 * MIB, Seek::Data).unwrap();
    // A file system without holes calls all of it data.
    assert!(none == Sought { offset: 8 * MIB, eof: true } || none.offset == 6 * MIB);
}

pub(crate) fn nothing_is_found_behind_the_end(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let Some(_) = supported(user.seek(&file, 0, Seek::Data), "seek") else { return };
    let empty = user.create(&s.root, "empty").unwrap();
    for what in [Seek::Data, Seek::Hole] {
        for offset in [4, 5, 1 << 40, u64::MAX] {
            refused(user.seek(&file, offset, what), &[Error::NoDevice]);
        }
        refused(user.seek(&empty, 0, what), &[Error::NoDevice]);
        refused(user.seek(&s.root, 0, what), &[Error::IsDirectory]);
    }
}

pub(crate) fn allocating_extends_with_zeros(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let Some(()) = supported(user.allocate(&file, 0, 2), "allocation") else { return };
    assert_eq!(user.contents(&file), b"data");
    user.allocate(&file, 2, 6).unwrap();
    assert_eq!(user.contents(&file), b"data\0\0\0\0");
    user.allocate(&file, MIB, MIB).unwrap();
    let attr = user.stat(&file);
    assert_eq!(attr.size, 2 * MIB);
    assert!(attr.used >= MIB, "storage for all of it");
    assert!(user.contents(&file)[4..].iter().all(|byte| *byte == 0));
    user.put(&file, MIB + 5, "more");
    assert_eq!(user.read(&file, MIB + 4, 6).unwrap().0, b"\0more\0");
    refused(user.allocate(&file, 0, 0), &[Error::Invalid]);
    refused(user.allocate(&file, u64::MAX, 2), &[Error::TooBig]);
    refused(user.allocate(&file, i64::MAX as u64, 2), &[Error::TooBig]);
    refused(user.allocate(&s.root, 0, 1), &[Error::IsDirectory]);
}

pub(crate) fn deallocating_leaves_zeros(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    user.put(&file, 0, vec![b'x'; 200_000]);
    let Some(()) = supported(user.deallocate(&file, 10_001, 100_000), "deallocation") else {
        return;
    };
    let mut expected = vec![b'x'; 200_000];
    expected[10_001..110_001].fill(0);
    assert!(user.contents(&file) == expected);
    if let Ok(hole) = user.seek(&file, 0, Seek::Hole) {
        assert!(hole.offset < 200_000, "a hole is seen as one");
    }
    // The file keeps its size, wherever the hole ends.
    user.deallocate(&file, 150_000, 1 << 40).unwrap();
    user.deallocate(&file, 1 << 40, 10).unwrap();
    user.deallocate(&file, 190_000, u64::MAX).unwrap();
    user.deallocate(&file, u64::MAX - 5, u64::MAX).unwrap();
    expected[150_000..].fill(0);
    assert!(user.contents(&file) == expected);
    refused(user.deallocate(&file, 0, 0), &[Error::Invalid]);
}

pub(crate) fn copies_are_whole(s: &Scene<'_>) {
    let user = &s.user;
    let data: Vec<u8> = (0..300_000_u32).map(|n| (n % 253) as u8).collect();
    let from = user.file(&s.root, "from", &data);
    for stability in [Stability::Unstable, Stability::DataSync, Stability::FileSync] {
        let to = user.file(&s.root, format!("{stability:?}"), "0123456789");
        let count = user.copy((&from, 0), (&to, 0), 300_000, stability).unwrap();
        assert_eq!(count, 300_000);
        assert!(user.contents(&to) == data);
    }
    let to = user.file(&s.root, "to", "0123456789");
    assert_eq!(user.copy((&from, 100), (&to, 5), 3, Stability::Unstable).unwrap(), 3);
    assert_eq!(user.contents(&to), [b"01234", &data[100..103], b"89"].concat());
    // Behind the target's end, and as far as the source goes.
    let count = user.copy((&from, 299_990), (&to, 20), u64::MAX - 20, Stability::Unstable);
    assert_eq!(count.unwrap(), 10);
    let all = user.contents(&to);
    assert_eq!(all[10..20], [0; 10]);
    assert_eq!(all[20..], data[299_990..]);
    assert_eq!(user.copy((&from, 300_000), (&to, 0), 10, Stability::FileSync).unwrap(), 0);
    assert_eq!(user.copy((&from, 1 << 50), (&to, 0), 10, Stability::FileSync).unwrap(), 0);
}

pub(crate) fn copies_within_a_file_do_not_overlap(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "0123456789");
    assert_eq!(user.copy((&file, 0), (&file, 5), 5, Stability::Unstable).unwrap(), 5);
    assert_eq!(user.contents(&file), b"0123401234");
    assert_eq!(user.copy((&file, 6), (&file, 0), 3, Stability::Unstable).unwrap(), 3);
    assert_eq!(user.contents(&file), b"1233401234");
    for (from, to, len) in [(0, 1, 5), (1, 0, 5), (3, 3, 1)] {
        let copied = user.copy((&file, from), (&file, to), len, Stability::Unstable);
        refused(copied, &[Error::Invalid]);
    }
    let copied = user.copy((&file, 0), (&s.root, 0), 1, Stability::Unstable);
    refused(copied, &[Error::IsDirectory]);
    refused(user.copy((&s.root, 0), (&file, 0), 1, Stability::Unstable), &[Error::IsDirectory]);
    let far = i64::MAX as u64 - 2;
    refused(user.copy((&file, 0), (&file, far), 5, Stability::Unstable), &[Error::TooBig]);
}

pub(crate) fn clones_are_independent(s: &Scene<'_>) {
    let user = &s.user;
    let from = user.file(&s.root, "from", vec![b'x'; 300_001]);
    let to = user.create(&s.root, "to").unwrap();
    let Some(block) = user.features(&from).clone_bytes.map(u64::from) else {
        println!("left out: there are no clones here");
        return refused(user.clone_range((&from, 0), (&to, 0), 0), &[Error::NotSupported]);
    };
    user.clone_range((&from, 0), (&to, 0), 0).unwrap();
    assert!(user.contents(&to) == vec![b'x'; 300_001]);
    user.put(&from, 0, "changed");
    user.put(&to, 10, "otherwise");
    assert_eq!(user.read(&from, 0, 20).unwrap().0, b"changedxxxxxxxxxxxxx");
    assert_eq!(user.read(&to, 0, 20).unwrap().0, b"xxxxxxxxxxotherwisex");
    user.clone_range((&from, 0), (&to, 2 * block), block).unwrap();
    assert_eq!(user.read(&to, 2 * block, 8).unwrap().0, b"changedx");
    assert_eq!(user.stat(&to).size, 300_001);
    // Up to the source's end it may be less than a block.
    let last = 300_001 / block * block;
    user.clone_range((&from, last), (&to, 2 * MIB), 0).unwrap();
    assert_eq!(user.stat(&to).size, 2 * MIB + 300_001 - last);
    for (source, target, len) in
        [(1, 0, block), (0, 1, block), (0, 0, block - 1), (0, 0, 300_002), (1 << 40, 0, 1)]
    {
        let cloned = user.clone_range((&from, source), (&to, target), len);
        refused(cloned, &[Error::Invalid]);
    }
    refused(user.clone_range((&to, 0), (&to, 0), block), &[Error::Invalid]);
}

pub(crate) fn hints_do_no_harm(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    for advice in [
        Advice::Normal,
        Advice::Sequential,
        Advice::Random,
        Advice::WillNeed,
        Advice::DontNeed,
        Advice::NoReuse,
    ] {
        for (offset, len) in [(0, 0), (0, 4), (2, 1 << 40), (u64::MAX, u64::MAX)] {
            s.fs.advise(&user.cx(Wait::Allowed), &file, offset, len, advice).unwrap();
        }
    }
    assert_eq!(user.contents(&file), b"data");
}

pub(crate) fn permissions_are_those_of_reads_and_writes(s: &Scene<'_>) {
    if s.user.cred.uid != 0 {
        return;
    }
    let user = &s.user;
    let (secret, open) = (user.file(&s.root, "secret", "data"), user.create(&s.root, "open"));
    let open = open.unwrap();
    user.chmod(&secret, 0o600).unwrap();
    user.chmod(&open, 0o666).unwrap();
    let other = s.client(1001, 1001, &[]);
    let denied = &[Error::Access, Error::NotSupported];
    refused(other.seek(&secret, 0, Seek::Data), denied);
    refused(other.allocate(&secret, 0, 10), denied);
    refused(other.deallocate(&secret, 0, 10), denied);
    refused(other.copy((&secret, 0), (&open, 0), 4, Stability::Unstable), denied);
    refused(other.copy((&open, 0), (&secret, 0), 4, Stability::Unstable), denied);
    refused(other.clone_range((&secret, 0), (&open, 0), 0), denied);
    refused(other.clone_range((&open, 0), (&secret, 0), 0), denied);
    // Who owns a file has opened it before.
    let own = other.file(&make_dir(s), "own", "data");
    other.chmod(&own, 0).unwrap();
    assert_eq!(other.copy((&own, 0), (&own, 4), 4, Stability::Unstable).unwrap(), 4);
    let read_only = other.make(&make_dir(s), "pipe", &NewNode::Fifo, 0o666).unwrap().handle;
    refused(other.seek(&read_only, 0, Seek::Data), &[Error::Invalid, Error::WrongType]);
}

/// A directory in which anybody may make files.
fn make_dir(s: &Scene<'_>) -> Handle {
    let dir = match s.user.mkdir(&s.root, "dir") {
        Err(Error::Exists) => s.user.lookup(&s.root, "dir").unwrap().handle,
        made => made.unwrap(),
    };
    s.user.chmod(&dir, 0o777).unwrap();
    dir
}
