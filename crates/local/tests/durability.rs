//! What is promised to be on the disk is there when the power goes.
//!
//! A file system in an image is copied, as its disk would be found after a power
//! cut, and the copy is mounted: the journal is replayed, and the change must be there.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;

use common::*;
use hayase_local::Options;
use hayase_vfs::{
    Acl, Handle, NewNode, Open, Perm, PosixAcl, SetAttr, SetTime, SetXattr, Stability, Time, Vfs,
    Wcc, XattrName,
};
use rustix::fs::getxattr;
use rustix::io::Errno;

/// Runs a command; answers whether it succeeded.
fn run(command: &str, args: &[&str]) -> bool {
    Command::new(command).args(args).output().is_ok_and(|output| output.status.success())
}

/// A mounted image, unmounted when dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(image: &Path, at: &Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let (image, point) = (image.to_str().unwrap(), at.to_str().unwrap());
        let options = format!("loop,{options}");
        run("mount", &["-o", &options, image, point]).then(|| Mounted(at.to_path_buf()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        assert!(run("umount", &[self.0.to_str().unwrap()]));
    }
}

struct Disk {
    dir: tempfile::TempDir,
    options: &'static str,
}

impl Disk {
    fn image(&self) -> PathBuf {
        self.dir.path().join("image")
    }

    /// Looks at the disk as it would be found if the power went now.
    fn after_power_cut(&self, what: &str, look: impl Fn(&Path) -> bool) {
        let copy = self.dir.path().join("copy");
        let (from, to) = (self.image(), copy.to_str().unwrap().to_string());
        assert!(run("cp", &["--sparse=always", from.to_str().unwrap(), &to]));
        let point = self.dir.path().join("after");
        let mounted = Mounted::new(&copy, &point, self.options).unwrap();
        assert!(look(&point), "lost: {what}");
        drop(mounted);
    }
}

#[test]
fn changes_are_on_the_disk_when_they_are_answered() {
    if !is_root() {
        return;
    }
    for (kind, size, options) in [("ext4", 64u64 << 20, "rw"), ("xfs", 320 << 20, "rw,nouuid")] {
        let disk = Disk { dir: tempfile::tempdir().unwrap(), options };
        std::fs::File::create(disk.image()).unwrap().set_len(size).unwrap();
        let mkfs = format!("mkfs.{kind}");
        let point = disk.dir.path().join("before");
        let mounted = run(&mkfs, &["-q", disk.image().to_str().unwrap()])
            .then(|| Mounted::new(&disk.image(), &point, options))
            .flatten();
        let Some(_mounted) = mounted else {
            println!("left out {kind}: cannot make or mount one here");
            continue;
        };
        let served = Served::at(shared_dir_in(&point), Options::default());
        let base = PathBuf::from(served.dir.path().file_name().unwrap());
        // Nothing of the preparations counts.
        rustix::fs::syncfs(std::fs::File::open(&point).unwrap()).unwrap();
        changes(&disk, &served, &base);
    }
}

fn changes(disk: &Disk, served: &Served, base: &Path) {
    let cx = served.cx(root());
    let top = served.root;
    let found = |after: &Path, name: &str| after.join(base).join(name).symlink_metadata();
    let dir = served.mkdir(root(), &top, "dir", 0o755).unwrap().handle;
    disk.after_power_cut("mkdir", |after| found(after, "dir").is_ok());
    let file = served.create(root(), &dir, "file", 0o640).unwrap().handle;
    disk.after_power_cut("create", |after| {
        found(after, "dir/file").is_ok_and(|file| file.mode() & 0o7777 == 0o640)
    });
    // The data itself is not synced, and need not be.
    served.write(root(), &file, 0, &vec![1; 100_000]).unwrap();
    served.set(root(), &file, &mode(0o4711)).unwrap();
    disk.after_power_cut("chmod", |after| {
        found(after, "dir/file").is_ok_and(|file| file.mode() & 0o7777 == 0o4711)
    });
    served.commit(&file).unwrap();
    disk.after_power_cut("commit", |after| {
        std::fs::read(after.join(base).join("dir/file")).unwrap() == vec![1; 100_000]
    });
    let how = Open::Exclusive(0x1234_5678_9abc_def0);
    served.fs.create(&cx, &dir, name("exclusive"), &how, &mut Wcc::default()).unwrap();
    disk.after_power_cut("exclusive create", |after| {
        found(after, "dir/exclusive").is_ok_and(|file| file.mtime() == 0x1abc_def0)
    });
    let make = |entry: &str, what| {
        let set = SetAttr::default();
        served.fs.make_node(&cx, &dir, name(entry), &what, &set, &mut Wcc::default()).unwrap()
    };
    let link = make("link", NewNode::Symlink(b"target")).handle;
    disk.after_power_cut("symlink", |after| found(after, "dir/link").is_ok());
    let set = SetAttr {
        uid: Some(ALICE),
        mtime: SetTime::To(Time { secs: 77, nanos: 5 }),
        ..SetAttr::default()
    };
    served.set(root(), &link, &set).unwrap();
    disk.after_power_cut("chown of a link", |after| {
        found(after, "dir/link").is_ok_and(|link| (link.uid(), link.mtime()) == (ALICE, 77))
    });
    let pipe = make("pipe", NewNode::Fifo).handle;
    served.set(root(), &pipe, &mode(0o666)).unwrap();
    disk.after_power_cut("pipe", |after| {
        found(after, "dir/pipe")
            .is_ok_and(|pipe| pipe.file_type().is_fifo() && pipe.mode() & 0o777 == 0o666)
    });
    served.set(root(), &file, &SetAttr { size: Some(10), ..SetAttr::default() }).unwrap();
    disk.after_power_cut("truncate", |after| {
        std::fs::read(after.join(base).join("dir/file")).unwrap() == [1; 10]
    });
    served.write_as(root(), &file, 5, b"synced", Stability::FileSync).unwrap();
    served.write_as(root(), &file, 11, b"data", Stability::DataSync).unwrap();
    disk.after_power_cut("synced write", |after| {
        std::fs::read(after.join(base).join("dir/file")).unwrap()
            == b"\x01\x01\x01\x01\x01synceddata"
    });
    together(disk, served, base, &dir);
    beyond(disk, served, base, &file);
    served.rename(root(), (&dir, "file"), (&top, "renamed")).unwrap();
    disk.after_power_cut("rename", |after| {
        found(after, "renamed").is_ok() && found(after, "dir/file").is_err()
    });
    served.fs.link(&cx, &file, &dir, name("hard"), &mut Wcc::default()).unwrap();
    disk.after_power_cut("link", |after| found(after, "dir/hard").is_ok_and(|f| f.nlink() == 2));
    served.remove(root(), &top, "renamed").unwrap();
    disk.after_power_cut("remove", |after| {
        found(after, "renamed").is_err() && found(after, "dir/hard").is_ok_and(|f| f.nlink() == 1)
    });
    let empty = served.mkdir(root(), &dir, "empty", 0o755).unwrap().handle;
    served.set(root(), &empty, &mode(0o700)).unwrap();
    disk.after_power_cut("chmod of a directory", |after| {
        found(after, "dir/empty").is_ok_and(|dir| dir.mode() & 0o777 == 0o700)
    });
    served.fs.remove_dir(&cx, &dir, name("empty"), &mut Wcc::default()).unwrap();
    disk.after_power_cut("rmdir", |after| found(after, "dir/empty").is_err());
}

/// Many clients that write at once, of whom some share a sync.
fn together(disk: &Disk, served: &Served, base: &Path, dir: &Handle) {
    const CLIENTS: u64 = 16;
    let file = served.create(root(), dir, "together", 0o644).unwrap().handle;
    let start = Barrier::new(CLIENTS as usize);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (start, file) = (&start, &file);
            scope.spawn(move || {
                start.wait();
                let data = vec![client as u8 + 1; 4096];
                let how = [Stability::DataSync, Stability::FileSync][client as usize % 2];
                served.write_as(root(), file, client * 4096, &data, how).unwrap();
            });
        }
    });
    disk.after_power_cut("writes that were synced together", |after| {
        let found = std::fs::read(after.join(base).join("dir/together")).unwrap();
        let wanted: Vec<u8> = (1..=CLIENTS as u8).flat_map(|byte| [byte; 4096]).collect();
        found == wanted
    });
    served.remove(root(), dir, "together").unwrap();
}

/// What NFSv4 has and NFSv3 has not. The file ends as it began.
fn beyond(disk: &Disk, served: &Served, base: &Path, file: &Handle) {
    let cx = served.cx(root());
    let fs = &served.fs;
    let wcc = &mut Wcc::default();
    let path = |after: &Path| after.join(base).join("dir/file");
    let key = XattrName::new(b"key").unwrap();
    fs.set_xattr(&cx, file, key, b"value", SetXattr::Create, wcc).unwrap();
    disk.after_power_cut("setxattr", |after| {
        let mut value = [0; 9];
        getxattr(path(after), "user.key", &mut value) == Ok(5) && value.starts_with(b"value")
    });
    fs.remove_xattr(&cx, file, key, wcc).unwrap();
    disk.after_power_cut("removexattr", |after| {
        getxattr(path(after), "user.key", &mut [0; 9]) == Err(Errno::NODATA)
    });
    let mode = served.attr(file).unwrap().mode;
    let users = vec![(ALICE, Perm::READ)];
    let access = PosixAcl::new(mode, users, vec![], Some(Perm::WRITE)).unwrap();
    fs.set_acl(&cx, file, &Acl { access: Some(access), default: None }, wcc).unwrap();
    disk.after_power_cut("setfacl", |after| {
        std::fs::metadata(path(after)).is_ok_and(|file| file.mode() & 0o070 == 0o020)
    });
    let minimal = Acl { access: Some(PosixAcl::of_mode(mode)), default: None };
    fs.set_acl(&cx, file, &minimal, wcc).unwrap();
    let size = served.attr(file).unwrap().size;
    fs.allocate(&cx, file, 0, 200_000, wcc).unwrap();
    disk.after_power_cut("allocate", |after| {
        std::fs::metadata(path(after))
            .is_ok_and(|file| file.len() == 200_000 && file.blocks() * 512 >= 200_000)
    });
    served.write_as(root(), file, 100_000, &vec![7; 100_000], Stability::FileSync).unwrap();
    fs.deallocate(&cx, file, 0, 150_000, wcc).unwrap();
    disk.after_power_cut("deallocate", |after| {
        std::fs::read(path(after)).unwrap() == [vec![0; 150_000], vec![7; 50_000]].concat()
    });
    let copied =
        fs.copy_range(&cx, (file, 150_000), (file, 10), 99, Stability::DataSync, wcc).unwrap();
    disk.after_power_cut("copy", |after| {
        std::fs::read(path(after)).unwrap()[10..10 + copied.count as usize] == [7; 99]
    });
    if let Some(block) = fs.features(&cx, file).unwrap().clone_bytes.map(u64::from) {
        fs.clone_range(&cx, (file, 40 * block), (file, 0), block, wcc).unwrap();
        disk.after_power_cut("clone", |after| std::fs::read(path(after)).unwrap()[9] == 7);
    }
    served.set(root(), file, &SetAttr { size: Some(0), ..SetAttr::default() }).unwrap();
    let data = vec![b'x'; size as usize];
    served.write_as(root(), file, 0, &data, Stability::FileSync).unwrap();
}
