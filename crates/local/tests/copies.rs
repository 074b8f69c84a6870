//! Copies between served directories.
#![allow(missing_docs)]

mod common;

use common::*;
use hayase_vfs::{Cred, Error, Handle, Result, Stability, Vfs, Wcc};

fn copy(
    from: (&Served, &Handle, u64),
    to: (&Served, &Handle, u64),
    len: u64,
    who: &Cred,
) -> Result<u64> {
    let source = from.0.fs.source(&from.0.cx(who), from.1)?;
    let cx = to.0.cx(who);
    let (from, target, wcc) = ((&source, from.2), (to.1, to.2), &mut Wcc::default());
    let copied = to.0.fs.copy_from(&cx, from, target, len, Stability::Unstable, wcc)?;
    assert!(wcc.before.is_some() && wcc.after.is_some());
    Ok(copied.count)
}

#[test]
fn a_file_is_copied_to_another_file_system() {
    let data: Vec<u8> = (0..900_000_u32).map(|n| (n % 251) as u8).collect();
    let source = Served::at(shared_dir_in("/dev/shm".as_ref()), hayase_local::Options::default());
    let from = source.create(alice(), &source.root, "from", 0o600).unwrap().handle;
    source.write(alice(), &from, 0, &data).unwrap();
    for parent in ["/tmp", "/dev/shm"] {
        let target = Served::at(shared_dir_in(parent.as_ref()), hayase_local::Options::default());
        let to = target.create(alice(), &target.root, "to", 0o600).unwrap().handle;
        let count = copy((&source, &from, 5), (&target, &to, 9), 1 << 40, alice());
        assert_eq!(count, Ok(data.len() as u64 - 5), "to the source's end");
        let copied = std::fs::read(target.path("to")).unwrap();
        assert!(copied[..9] == [0; 9] && copied[9..] == data[5..]);
        assert_eq!(copy((&source, &from, 900_000), (&target, &to, 0), 9, alice()), Ok(0));
        // Each directory has its own say.
        if is_root() {
            let count = copy((&source, &from, 0), (&target, &to, 0), 9, bob());
            assert_eq!(count, Err(Error::Access));
            let theirs = source.create(bob(), &source.root, &parent[1..4], 0o600).unwrap().handle;
            source.write(bob(), &theirs, 0, b"bob's").unwrap();
            let count = copy((&source, &theirs, 0), (&target, &to, 0), 5, bob());
            assert_eq!(count, Err(Error::Access));
        }
    }
}

#[test]
fn one_file_served_twice_is_not_copied_onto_itself() {
    let outer = Served::new();
    let file = outer.create(root(), &outer.root, "f", 0o644).unwrap().handle;
    outer.write(root(), &file, 0, b"0123456789").unwrap();
    let again = hayase_local::LocalFs::open(outer.dir.path(), outer.options.clone()).unwrap();
    let cx = outer.cx(root());
    let other = again.lookup(&cx, &again.root(), name("f")).unwrap().handle;
    let source = outer.fs.source(&cx, &file).unwrap();
    let wcc = &mut Wcc::default();
    let mut into =
        |at, len| again.copy_from(&cx, (&source, 0), (&other, at), len, Stability::Unstable, wcc);
    assert_eq!(into(3, 5), Err(Error::Invalid));
    assert_eq!(into(5, 5).unwrap().count, 5);
    assert_eq!(std::fs::read(outer.path("f")).unwrap(), b"0123401234");
}
