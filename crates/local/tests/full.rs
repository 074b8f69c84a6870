//! A disk that is full, or fails: whoever has written learns of it.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::*;
use hayase_local::Options;
use hayase_vfs::{Error, Stability, Vfs};

const MIB: usize = 1 << 20;

/// Something mounted, unmounted when dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(what: &[&str], at: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&at).unwrap();
        run("mount", &[what, &[at.to_str().unwrap()]].concat()).then_some(Mounted(at))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        assert!(run("umount", &[self.0.to_str().unwrap()]));
    }
}

/// Runs a command; answers whether it succeeded.
fn run(command: &str, args: &[&str]) -> bool {
    Command::new(command).args(args).output().is_ok_and(|output| output.status.success())
}

/// An ext4 of 64 MiB in a file, and what that lies on.
struct Disk {
    // In this order they are unmounted.
    mounted: Mounted,
    _below: Mounted,
    _dir: tempfile::TempDir,
}

/// The file can grow to `bytes` only.
fn disk(bytes: usize) -> Option<Disk> {
    if !is_root() {
        println!("left out: needs root, to mount a disk of its own");
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let size = format!("size={bytes}");
    let below = Mounted::new(&["-t", "tmpfs", "-o", &size, "tmpfs"], dir.path().join("below"))?;
    let image = below.0.join("image");
    std::fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let image = image.to_str().unwrap();
    let made = run("mkfs.ext4", &["-q", "-E", "lazy_itable_init=1,lazy_journal_init=1", image])
        .then(|| Mounted::new(&["-o", "loop", image], dir.path().join("mounted")))
        .flatten();
    if made.is_none() {
        println!("left out: no ext4 can be made or mounted here");
    }
    Some(Disk { mounted: made?, _below: below, _dir: dir })
}

fn serve(on: &Path) -> Served {
    Served::at(shared_dir_in(on), Options::default())
}

#[test]
fn a_full_disk_is_told_by_write_and_what_was_written_before_is_kept() {
    let Some(disk) = disk(128 * MIB) else { return };
    let served = serve(&disk.mounted.0);
    let file = served.create(root(), &served.root, "file", 0o644).unwrap().handle;
    let verifier = served.fs.write_verifier();
    let data: Vec<u8> = (0..MIB).map(|at| at as u8).collect();
    for stability in [Stability::Unstable, Stability::FileSync] {
        let mut written = 0;
        let failure = loop {
            match served.write_as(root(), &file, written, &data, stability) {
                // The rest of a short write meets the error.
                Ok(count) => written += u64::from(count),
                Err(error) => break error,
            }
            assert!(written < 64 << 20, "it is larger than its disk");
        };
        assert_eq!(failure, Error::NoSpace, "{stability:?}");
        assert!(written > 16 << 20);
        served.commit(&file).unwrap();
        let read = served.read(root(), &file, 0, MIB as u32).unwrap();
        assert!(read == data, "{stability:?}");
    }
    assert_eq!(served.fs.write_verifier(), verifier, "nothing was lost");
}

#[test]
fn data_that_the_disk_does_not_take_is_told_by_commit_and_changes_the_verifier() {
    let Some(disk) = disk(16 * MIB) else { return };
    let served = serve(&disk.mounted.0);
    let file = served.create(root(), &served.root, "file", 0o644).unwrap().handle;
    let verifier = served.fs.write_verifier();
    let data = vec![7; MIB];
    // As far as the file system knows there is room.
    for at in 0..32 {
        let count = served.write(root(), &file, at * MIB as u64, &data).unwrap();
        assert_eq!(count as usize, MIB);
    }
    // Older kernels know of one error of disks only.
    let failure = served.commit(&file);
    assert!(matches!(failure, Err(Error::NoSpace | Error::Io)), "{failure:?}");
    assert_ne!(served.fs.write_verifier(), verifier);
}
