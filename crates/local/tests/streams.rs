//! Large transfers by the page cache and past it: the same data, and only what fits stays.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs::File;
use std::io::IoSliceMut;
use std::sync::Barrier;

use common::*;
use hayase_buf::Buffer;
use hayase_local::{Io, Options};
use hayase_vfs::{Handle, Vfs};
use rustix::fs::{Advice, fadvise};
use rustix::io::{ReadWriteFlags, preadv2};

const MIB: usize = 1 << 20;
/// Whole blocks, and something behind the last one.
const BLOCKS: usize = 8;
const TAIL: usize = 5000;

fn served(io: Io, cache_bytes: u64) -> Served {
    Served::with(Options { io, cache_bytes: Some(cache_bytes), ..Options::default() })
}

/// Page-aligned, as data comes from the transport.
fn block(number: usize) -> Buffer {
    let mut buffer = Buffer::unpooled(MIB);
    for (at, byte) in buffer.iter_mut().enumerate() {
        *byte = (number * 31 + at / 7) as u8;
    }
    buffer
}

/// All blocks at once, so that each is in company.
fn at_once(run: impl Fn(usize) + Sync) {
    let start = Barrier::new(BLOCKS);
    std::thread::scope(|scope| {
        for number in 0..BLOCKS {
            let (start, run) = (&start, &run);
            scope.spawn(move || {
                start.wait();
                run(number);
            });
        }
    });
}

fn write_all(served: &Served, file: &Handle) {
    at_once(|number| {
        let at = (number * MIB) as u64;
        assert_eq!(served.write(root(), file, at, &block(number)).unwrap() as usize, MIB);
    });
    let tail = &block(BLOCKS)[..TAIL];
    served.write(root(), file, (BLOCKS * MIB) as u64, tail).unwrap();
    served.commit(file).unwrap();
}

fn check_blocks(served: &Served, file: &Handle) {
    at_once(|number| {
        let at = (number * MIB) as u64;
        let read = served.read(root(), file, at, MIB as u32).unwrap();
        assert!(read == block(number)[..], "block {number}");
    });
}

fn check_ends(served: &Served, file: &Handle) {
    // Across the end, and not on a boundary of blocks.
    let at = ((BLOCKS - 1) * MIB + 12_288) as u64;
    let read = served.read(root(), file, at, MIB as u32).unwrap();
    let all = [&block(BLOCKS - 1)[12_288..], &block(BLOCKS)[..TAIL]].concat();
    assert!(read == all[..MIB.min(all.len())]);
    let read = served.read(root(), file, 77, 200_000).unwrap();
    assert!(read == block(0)[77..200_077]);
}

fn evict(file: &File) {
    file.sync_all().unwrap();
    fadvise(file, 0, None, Advice::DontNeed).unwrap();
}

/// How many of the blocks are in the page cache.
fn cached(file: &File) -> usize {
    let mut byte = [0];
    let is_cached = |number: &usize| {
        let buffers = &mut [IoSliceMut::new(&mut byte)];
        let at = (number * MIB + MIB / 2) as u64;
        preadv2(file, buffers, at, ReadWriteFlags::NOWAIT) == Ok(1)
    };
    (0..BLOCKS).filter(is_cached).count()
}

/// Whether the files of this test lie on something that has a disk below.
fn has_disk(served: &Served) -> bool {
    let magic = rustix::fs::statfs(served.dir.path()).unwrap().f_type;
    // tmpfs and overlayfs; what overlayfs does is up to what lies below it.
    ![0x0102_1994, 0x794c_7630].contains(&magic)
}

#[test]
fn every_way_moves_the_same_data() {
    for (io, cache_bytes, left) in [
        (Io::Direct, 1 << 40, Some(0)),
        (Io::Cached, 0, Some(BLOCKS)),
        (Io::Auto, 1 << 40, Some(BLOCKS)),
        // Who is under way alone uses the page cache, and who that is depends.
        (Io::Auto, 4 << 20, None),
    ] {
        let served = served(io, cache_bytes);
        let file = served.create(root(), &served.root, "f", 0o644).unwrap().handle;
        write_all(&served, &file);
        let local = File::open(served.path("f")).unwrap();
        let check_left = || {
            if let (Some(left), true) = (left, has_disk(&served)) {
                assert_eq!(cached(&local), left, "{io:?}");
            }
        };
        check_left();
        evict(&local);
        check_blocks(&served, &file);
        check_left();
        check_ends(&served, &file);
        // Local programs see the same.
        let whole = std::fs::read(served.path("f")).unwrap();
        assert_eq!(whole.len(), BLOCKS * MIB + TAIL);
        assert!((0..BLOCKS).all(|number| whole[number * MIB..][..MIB] == block(number)[..]));
    }
}

/// A client that reads and one that writes the same file, one past the page cache and one by it.
#[test]
fn both_ways_see_each_others_data() {
    let served = served(Io::Direct, 0);
    let file = served.create(root(), &served.root, "f", 0o644).unwrap().handle;
    write_all(&served, &file);
    for round in 0..4_u8 {
        // Small writes use the page cache, and leave it dirty.
        let small = [round; 100];
        served.write(root(), &file, 5_000, &small).unwrap();
        let read = served.read(root(), &file, 0, MIB as u32).unwrap();
        assert_eq!(read[5_000..5_100], small);
        // Large ones do not, and what is cached must not be found any more.
        served.write(root(), &file, 0, &block(usize::from(round))).unwrap();
        let read = served.read(root(), &file, 5_000, 100).unwrap();
        assert!(read == block(usize::from(round))[5_000..5_100]);
    }
    served.fs.sync().unwrap();
}

/// The descriptor past the page cache was opened by the server itself in the middle of the first
/// WRITE, which then took no set-id bits away.
#[test]
fn the_first_write_past_the_page_cache_is_its_callers_too() {
    let served = served(Io::Direct, 0);
    // Only root acts as its callers; for others the kernel does the same whoever calls.
    let who = if is_root() { alice().clone() } else { me() };
    let file = served.create(&who, &served.root, "f", 0o644).unwrap().handle;
    served.set(&who, &file, &mode(0o4755)).unwrap();
    served.write(&who, &file, 0, &block(0)).unwrap();
    assert_eq!(served.attr(&file).unwrap().mode, 0o755);
}
