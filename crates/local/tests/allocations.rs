//! What is asked most often of a directory takes no memory once its files are in use.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Served, name, root};
use hayase_vfs::{Access, Stability, Vfs, Wcc};

const COUNT: usize = 32;

/// How often memory is taken, after everything was done once.
fn allocations(mut act: impl FnMut()) -> u64 {
    act();
    allocation_counter::measure(|| (0..COUNT).for_each(|_| act())).count_total
}

#[test]
fn looking_and_reading_take_no_memory() {
    let served = Served::new();
    let file = served.create(root(), &served.root, "file", 0o644).unwrap().handle;
    let (fs, cx, wcc) = (&served.fs, served.cx(root()), &mut Wcc::default());
    fs.write(&cx, &file, 0, &[7; 8192], Stability::FileSync, wcc).unwrap();
    assert_eq!(allocations(|| _ = fs.attr(&cx, &file).unwrap()), 0, "attr");
    assert_eq!(allocations(|| _ = fs.access(&cx, &file, Access::ALL).unwrap()), 0, "access");
    let look = || _ = fs.lookup(&cx, &served.root, name("file")).unwrap();
    assert_eq!(allocations(look), 0, "lookup");
    let mut inline = Vec::new();
    let read = || {
        inline.clear();
        fs.read(&cx, &file, 4096, 4096, &mut inline).unwrap();
    };
    assert_eq!(allocations(read), 0, "read");
    assert_eq!(inline, [7; 4096]);
}

/// The measure measures.
#[test]
fn a_new_file_is_seen_to_take_memory() {
    let served = Served::new();
    let mut number = 0;
    let create = || {
        number += 1;
        served.create(root(), &served.root, &format!("{number}"), 0o644).unwrap();
    };
    assert!(allocations(create) > COUNT as u64);
}
