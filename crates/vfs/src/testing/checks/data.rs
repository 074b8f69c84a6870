//! Reading and writing.

use std::thread;

use crate::testing::client::refused;
use crate::testing::{Capability, Scene};
use crate::{Durability, Error, Stability, Wait, Wcc};

pub(crate) const NEEDS: &[Capability] = &[];

pub(crate) fn reads_end_at_the_end(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "0123456789");
    for (offset, count, data, eof) in [
        (0, 10, &b"0123456789"[..], true),
        (0, 9, b"012345678", false),
        (0, 1 << 20, b"0123456789", true),
        (3, 4, b"3456", false),
        (9, 1, b"9", true),
        (9, 2, b"9", true),
        (10, 1, b"", true),
        (11, 1, b"", true),
        (1 << 40, 5, b"", true),
        (i64::MAX as u64, 5, b"", true),
        (1 << 63, 5, b"", true),
        (u64::MAX, u32::MAX, b"", true),
    ] {
        let read = user.read(&file, offset, count).unwrap();
        assert_eq!(read, (data.to_vec(), eof), "{count} bytes at {offset}");
    }
}

pub(crate) fn reading_nothing_reads_nothing(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "0123");
    let empty = user.create(&s.root, "empty").unwrap();
    assert_eq!(user.read(&file, 0, 0).unwrap(), (vec![], false));
    assert_eq!(user.read(&file, 4, 0).unwrap(), (vec![], true));
    assert_eq!(user.read(&empty, 0, 0).unwrap(), (vec![], true));
    assert_eq!(user.read(&empty, 0, 100).unwrap(), (vec![], true));
}

pub(crate) fn holes_are_zeros(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    user.put(&file, 100_000, "end");
    assert_eq!(user.stat(&file).size, 100_003);
    let mut expected = vec![0; 100_003];
    expected[100_000..].copy_from_slice(b"end");
    assert_eq!(user.contents(&file), expected);
    user.put(&file, 50_000, "middle");
    expected[50_000..50_006].copy_from_slice(b"middle");
    assert_eq!(user.contents(&file), expected);
}

pub(crate) fn offsets_have_64_bits(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    for offset in [(1 << 32) - 2, (1 << 31) - 2, 5 << 32] {
        user.put(&file, offset, "across");
        assert_eq!(user.read(&file, offset, 6).unwrap().0, b"across");
        assert_eq!(user.read(&file, offset - 2, 4).unwrap().0, b"\0\0ac");
    }
    assert_eq!(user.stat(&file).size, (5 << 32) + 6);
    assert_eq!(user.read(&file, 0, 4).unwrap().0, [0; 4]);
}

pub(crate) fn writes_go_where_they_belong(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let mut expected = Vec::new();
    for (n, (offset, len)) in
        [(0, 10), (10, 5), (4090, 12), (3, 4), (8191, 2), (0, 70_000), (69_999, 3), (4096, 4096)]
            .into_iter()
            .enumerate()
    {
        let data: Vec<u8> = (0..len).map(|at| (n * 31 + at * 7 + 1) as u8).collect();
        user.put(&file, offset as u64, &data);
        if expected.len() < offset + len {
            expected.resize(offset + len, 0);
        }
        expected[offset..offset + len].copy_from_slice(&data);
        assert!(user.contents(&file) == expected, "after {len} bytes at {offset}");
    }
}

pub(crate) fn long_transfers_arrive_whole(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let data: Vec<u8> = (0..(1 << 20) + 13_u32).map(|at| (at ^ at >> 9) as u8).collect();
    user.put(&file, 5, &data);
    assert!(user.contents(&file)[5..] == data);
    let (part, eof) = user.read(&file, 5 + 4097, 1 << 19).unwrap();
    assert!(!eof && part == data[4097..4097 + (1 << 19)]);
    let (rest, eof) = user.read(&file, 500_005, 2 << 20).unwrap();
    assert!(eof && rest == data[500_000..]);
}

pub(crate) fn writing_nothing_changes_nothing(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let before = user.stat(&file);
    for offset in [0, 4, 1000] {
        assert_eq!(user.write(&file, offset, "").unwrap().count, 0);
    }
    let after = user.stat(&file);
    assert_eq!((after.size, after.mtime, after.change), (4, before.mtime, before.change));
}

pub(crate) fn a_file_is_not_its_predecessor(s: &Scene<'_>) {
    let user = &s.user;
    let old = user.file(&s.root, "file", "secret");
    user.remove(&s.root, "file").unwrap();
    refused(user.read(&old, 0, 10), &[Error::Stale]);
    let new = user.create(&s.root, "file").unwrap();
    user.put(&new, 4, "!");
    assert_eq!(user.contents(&new), b"\0\0\0\0!");
}

pub(crate) fn writers_side_by_side_do_not_mix(s: &Scene<'_>) {
    const EACH: usize = 3000; // not a page: neighbours share pages
    let file = s.user.create(&s.root, "file").unwrap();
    thread::scope(|scope| {
        for writer in 0..8u8 {
            let (fs, cred) = (s.fs, s.user.cred.clone());
            scope.spawn(move || {
                let cx = crate::Cx {
                    cred: &cred,
                    wait: Wait::Allowed,
                    durability: Durability::Async,
                    opened: crate::Access::NONE,
                };
                for step in 0..4 {
                    let offset = ((step * 8 + usize::from(writer)) * EACH) as u64;
                    let data = [writer + 1; EACH];
                    let wcc = &mut Wcc::default();
                    fs.write(&cx, &file, offset, &data, Stability::Unstable, wcc).unwrap();
                }
            });
        }
    });
    let data = s.user.contents(&file);
    assert_eq!(data.len(), 32 * EACH);
    for (n, chunk) in data.chunks(EACH).enumerate() {
        assert!(chunk.iter().all(|byte| usize::from(*byte) == n % 8 + 1), "chunk {n}");
    }
}
