//! Every error that RFC 1813 lists for a procedure: a call that is answered with it, or
//! why no back end can make us answer it.

use crate::common::{Args, Client, KEEP, Lab, args, ftype, mode, proc, size, stat};
use hayase_mem::{Limits, MemFs, Op, PAGE_BYTES};
use hayase_vfs::Error;

/// The lists under ERRORS in RFC 1813 §3.3.1 to §3.3.21. Every procedure can also end in
/// `NFS3ERR_JUKEBOX` (§2.6).
#[rustfmt::skip]
const RFC: [(u32, &[u32]); 21] = {
    use stat::*;
    [
        (proc::GETATTR, &[IO, STALE, BADHANDLE, SERVERFAULT]),
        (proc::SETATTR, &[PERM, IO, ACCES, INVAL, NOSPC, ROFS, DQUOT, NOT_SYNC, STALE, BADHANDLE,
            SERVERFAULT]),
        (proc::LOOKUP, &[IO, NOENT, ACCES, NOTDIR, NAMETOOLONG, STALE, BADHANDLE, SERVERFAULT]),
        (proc::ACCESS, &[IO, STALE, BADHANDLE, SERVERFAULT]),
        (proc::READLINK, &[IO, INVAL, ACCES, STALE, BADHANDLE, NOTSUPP, SERVERFAULT]),
        (proc::READ, &[IO, NXIO, ACCES, INVAL, STALE, BADHANDLE, SERVERFAULT]),
        (proc::WRITE, &[IO, ACCES, FBIG, DQUOT, NOSPC, ROFS, INVAL, STALE, BADHANDLE, SERVERFAULT]),
        (proc::CREATE, &[IO, ACCES, EXIST, NOTDIR, NOSPC, ROFS, NAMETOOLONG, DQUOT, STALE,
            BADHANDLE, NOTSUPP, SERVERFAULT]),
        (proc::MKDIR, &[IO, ACCES, EXIST, NOTDIR, NOSPC, ROFS, NAMETOOLONG, DQUOT, STALE,
            BADHANDLE, NOTSUPP, SERVERFAULT]),
        (proc::SYMLINK, &[IO, ACCES, EXIST, NOTDIR, NOSPC, ROFS, NAMETOOLONG, DQUOT, STALE,
            BADHANDLE, NOTSUPP, SERVERFAULT]),
        (proc::MKNOD, &[IO, ACCES, EXIST, NOTDIR, NOSPC, ROFS, NAMETOOLONG, DQUOT, STALE,
            BADHANDLE, NOTSUPP, SERVERFAULT, BADTYPE]),
        (proc::REMOVE, &[NOENT, IO, ACCES, NOTDIR, NAMETOOLONG, ROFS, STALE, BADHANDLE,
            SERVERFAULT]),
        (proc::RMDIR, &[NOENT, IO, ACCES, INVAL, EXIST, NOTDIR, NAMETOOLONG, ROFS, NOTEMPTY, STALE,
            BADHANDLE, NOTSUPP, SERVERFAULT]),
        (proc::RENAME, &[NOENT, IO, ACCES, EXIST, XDEV, NOTDIR, ISDIR, INVAL, NOSPC, ROFS, MLINK,
            NAMETOOLONG, NOTEMPTY, DQUOT, STALE, BADHANDLE, NOTSUPP, SERVERFAULT]),
        (proc::LINK, &[IO, ACCES, EXIST, XDEV, NOTDIR, INVAL, NOSPC, ROFS, MLINK, NAMETOOLONG,
            DQUOT, STALE, BADHANDLE, NOTSUPP, SERVERFAULT]),
        (proc::READDIR, &[IO, ACCES, NOTDIR, BAD_COOKIE, TOOSMALL, STALE, BADHANDLE, SERVERFAULT]),
        (proc::READDIRPLUS, &[IO, ACCES, NOTDIR, BAD_COOKIE, TOOSMALL, STALE, BADHANDLE, NOTSUPP,
            SERVERFAULT]),
        (proc::FSSTAT, &[IO, STALE, BADHANDLE, SERVERFAULT]),
        (proc::FSINFO, &[STALE, BADHANDLE, SERVERFAULT]),
        (proc::PATHCONF, &[STALE, BADHANDLE, SERVERFAULT]),
        (proc::COMMIT, &[IO, STALE, BADHANDLE, SERVERFAULT]),
    ]
};

/// Where the calls below find what they need: `file`, `dir` with `inside` in it, `link`.
struct Scene<'l> {
    lab: &'l Lab,
    root: Client<'l>,
    user: Client<'l>,
    srv: Vec<u8>,
    file: Vec<u8>,
    dir: Vec<u8>,
}

/// How a status is brought about.
enum Way {
    /// The back end fails with this error.
    Disk(Error),
    /// By this call of the superuser.
    Call(Args),
    /// By this call of a user to whom nothing belongs.
    User(Args),
    /// It cannot be.
    Never(&'static str),
}

/// What the back end does for a procedure.
fn op(proc: u32) -> Op {
    match proc {
        proc::GETATTR => Op::Attr,
        proc::SETATTR => Op::SetAttr,
        proc::LOOKUP => Op::Lookup,
        proc::ACCESS => Op::Access,
        proc::READLINK => Op::ReadLink,
        proc::READ => Op::Read,
        proc::WRITE => Op::Write,
        proc::CREATE => Op::Create,
        proc::MKDIR | proc::SYMLINK | proc::MKNOD => Op::MakeNode,
        proc::REMOVE => Op::Remove,
        proc::RMDIR => Op::RemoveDir,
        proc::RENAME => Op::Rename,
        proc::LINK => Op::Link,
        proc::READDIR | proc::READDIRPLUS => Op::ReadDir,
        proc::FSSTAT => Op::FsStat,
        proc::FSINFO => Op::FsInfo,
        proc::PATHCONF => Op::PathConf,
        _ => Op::Commit,
    }
}

/// A call that succeeds, on this object and these names.
fn call(proc: u32, object: &[u8], name: &str, other: (&[u8], &str)) -> Args {
    let entry = || args().entry(object, name);
    let object = || args().opaque(object);
    match proc {
        proc::SETATTR => object().words(mode(0o600)).word(0),
        proc::LOOKUP | proc::REMOVE | proc::RMDIR => entry(),
        proc::ACCESS => object().word(0x3f),
        proc::READ | proc::COMMIT => object().long(0).word(1),
        proc::WRITE => object().long(0).words([1, 2]).opaque("x"),
        proc::CREATE => entry().word(1).words(KEEP),
        proc::MKDIR => entry().words(KEEP),
        proc::SYMLINK => entry().words(KEEP).opaque("target"),
        proc::MKNOD => entry().word(ftype::FIFO).words(KEEP),
        proc::RENAME => entry().entry(other.0, other.1),
        proc::LINK => object().entry(other.0, other.1),
        proc::READDIR => object().words([0, 0, 0, 0, 1000]),
        proc::READDIRPLUS => object().words([0, 0, 0, 0, 1000, 1000]),
        _ => object(), // GETATTR, READLINK, FSSTAT, FSINFO, PATHCONF
    }
}

impl Scene<'_> {
    /// The object and the name on which a procedure succeeds.
    fn usual(&self, proc: u32) -> (Vec<u8>, &'static str) {
        match proc {
            proc::READLINK => (self.root.find(&self.srv, "link").unwrap(), ""),
            proc::SETATTR | proc::READ | proc::WRITE | proc::COMMIT | proc::LINK => {
                (self.file.clone(), "")
            }
            proc::LOOKUP | proc::REMOVE | proc::RENAME => (self.srv.clone(), "file"),
            proc::RMDIR => (self.srv.clone(), "empty"),
            _ => (self.srv.clone(), "new"),
        }
    }

    fn on(&self, proc: u32, object: &[u8]) -> Args {
        call(proc, object, self.usual(proc).1, (&self.srv, "target"))
    }

    fn named(&self, proc: u32, name: &str) -> Args {
        match proc {
            proc::LINK => call(proc, &self.file, "", (&self.srv, name)),
            _ => call(proc, &self.srv, name, (&self.srv, "target")),
        }
    }

    fn ordinary(&self, proc: u32) -> Args {
        self.on(proc, &self.usual(proc).0)
    }

    /// The way to a status, by the rules that are the same for many procedures, or by its own.
    fn way(&self, proc: u32, status: u32) -> Way {
        use Way::{Call, Disk, Never, User};
        let to = |object: &[u8], name: &str| call(proc, &self.srv, "file", (object, name));
        match (status, proc) {
            (stat::SERVERFAULT, _) => Never("every failure of a back end has a status of its own"),
            (stat::IO, _) => Disk(Error::Io),
            (stat::NXIO, _) => Disk(Error::NoDevice),
            (stat::DQUOT, _) => Disk(Error::Quota),
            (stat::STALE, _) => Call(self.on(proc, &self.srv[..self.srv.len() - 1])),
            (stat::BADHANDLE, _) => Call(self.on(proc, b"x")),
            (stat::NOTSUPP, proc::RMDIR | proc::RENAME | proc::READDIRPLUS) => {
                Never("every file system has directories that can be changed and listed")
            }
            (stat::NOTSUPP, _) => Disk(Error::NotSupported),
            (stat::NAMETOOLONG, _) => Call(self.named(proc, &"x".repeat(256))),
            (stat::ROFS, _) => Disk(Error::ReadOnly),
            (stat::EXIST, proc::RMDIR) => Call(self.named(proc, "..")),
            (stat::EXIST, proc::RENAME) => {
                Never("a directory that is not empty is answered with NOTEMPTY, as Linux does")
            }
            (stat::EXIST, _) | (stat::NOTDIR, proc::RMDIR) => Call(self.named(proc, "file")),
            (stat::NOENT, _) => Call(self.named(proc, "nothing")),
            (stat::NOTDIR, proc::LINK) => Call(args().opaque(&self.file).entry(&self.file, "x")),
            (stat::NOTDIR, _) => Call(self.on(proc, &self.file)),
            (stat::ACCES, proc::READ | proc::WRITE) => User(self.on(proc, &self.file)),
            (stat::ACCES, proc::SETATTR) => User(args().opaque(&self.file).words(size(0)).word(0)),
            (stat::ACCES, proc::READLINK) => Disk(Error::Access),
            (stat::ACCES, proc::READDIR | proc::READDIRPLUS) => User(self.on(proc, &self.dir)),
            (stat::ACCES, proc::LOOKUP) => User(call(proc, &self.dir, "inside", (&self.srv, ""))),
            (stat::ACCES | stat::PERM, _) => User(self.ordinary(proc)),
            (stat::INVAL, proc::SETATTR) => {
                Call(args().opaque(&self.file).words(KEEP).words([1, 0, 1_000_000_000]))
            }
            (stat::INVAL, proc::RMDIR) => Call(self.named(proc, ".")),
            (stat::INVAL, proc::RENAME) => Call(call(proc, &self.srv, "dir", (&self.dir, "x"))),
            (stat::INVAL, _) => Call(self.on(proc, &self.dir)),
            (stat::NOT_SYNC, _) => Call(args().opaque(&self.file).words(mode(0)).words([1, 5, 5])),
            (stat::FBIG, _) => {
                Call(args().opaque(&self.file).long(1 << 63).words([1, 0]).opaque("x"))
            }
            (stat::NOSPC, proc::WRITE) => {
                let data = [1; 2 * PAGE_BYTES];
                let write = args().opaque(&self.file).long(1 << 20);
                self.root.put(&self.file, 0, &data); // as much as there is
                Call(write.words([data.len() as u32, 0]).opaque(data))
            }
            (stat::NOSPC, proc::CREATE | proc::MKDIR | proc::SYMLINK | proc::MKNOD) => {
                // Make files until there is no inode left.
                let more = |number| {
                    let entry = args().entry(&self.dir, format!("full{number}"));
                    self.root.status(proc::MKNOD, &entry.word(ftype::FIFO).words(KEEP))
                };
                assert_eq!((0..20).map(more).find(|status| *status != stat::OK), Some(stat::NOSPC));
                Call(self.ordinary(proc))
            }
            (stat::NOSPC, _) => Disk(Error::NoSpace),
            (stat::BADTYPE, _) => Call(args().entry(&self.srv, "x").word(ftype::REG)),
            (stat::ISDIR, _) => Call(to(&self.srv, "dir")),
            (stat::NOTEMPTY, proc::RMDIR) => Call(self.named(proc, "dir")),
            (stat::NOTEMPTY, _) => Call(call(proc, &self.srv, "empty", (&self.srv, "dir"))),
            (stat::MLINK, proc::LINK) => {
                let again = |name: &str| call(proc, &self.file, "", (&self.srv, name));
                for name in ["second", "third", "fourth"] {
                    assert_eq!(self.root.status(proc, &again(name)), stat::OK);
                }
                Call(again("fifth"))
            }
            (stat::MLINK, _) => {
                self.root.dir(&self.dir, "sub");
                Call(call(proc, &self.srv, "empty", (&self.dir, "full")))
            }
            (stat::XDEV, proc::RENAME) => Call(to(&self.root.root_of("/other"), "x")),
            (stat::XDEV, _) => {
                Call(args().opaque(&self.file).entry(self.root.root_of("/other"), "x"))
            }
            (stat::BAD_COOKIE, proc::READDIR) => {
                Call(args().opaque(&self.srv).long(1 << 40).words([0, 0, 1000]))
            }
            (stat::BAD_COOKIE, _) => {
                Call(args().opaque(&self.srv).long(1 << 40).words([0, 0, 1000, 1000]))
            }
            (stat::TOOSMALL, proc::READDIR) => {
                Call(args().opaque(&self.srv).words([0, 0, 0, 0, 100]))
            }
            (stat::TOOSMALL, _) => Call(args().opaque(&self.srv).words([0, 0, 0, 0, 100, 100])),
            _ => panic!("{}: no way to {status}", proc::NAMES[proc as usize]),
        }
    }
}

/// A lab with little room and few links, and the scene in it.
fn with_scene<T>(act: impl FnOnce(&Scene<'_>) -> T) -> T {
    const OPEN: &str = "*(rw,insecure,no_root_squash)";
    let limits = Limits { bytes: 2 * PAGE_BYTES as u64, inodes: 12, links: 4, ..Limits::default() };
    let lab = Lab::over(&format!("/srv {OPEN}\n/other {OPEN}"), || MemFs::with_limits(limits));
    let (root, user) = (lab.root(), lab.user(7, 7));
    let srv = root.srv();
    let (file, dir) = (root.file(&srv, "file"), root.dir(&srv, "dir"));
    root.chmod(&file, 0o600);
    root.chmod(&dir, 0o700);
    root.symlink(&srv, "link", "file");
    root.fifo(&dir, "inside");
    root.dir(&dir, "first");
    // One directory more would exceed the links of /srv.
    root.dir(&srv, "empty");
    act(&Scene { lab: &lab, root, user, srv, file, dir })
}

#[test]
fn every_error_of_the_rfc_has_a_call_that_is_answered_with_it() {
    for (proc, statuses) in RFC {
        for &status in statuses {
            let name = proc::NAMES[proc as usize];
            let answered = with_scene(|scene| match scene.way(proc, status) {
                Way::Call(arguments) => scene.root.status(proc, &arguments),
                Way::User(arguments) => scene.user.status(proc, &arguments),
                Way::Disk(error) => {
                    scene.lab.disk().fail_nth(Some(op(proc)), 1, error);
                    let answered = scene.root.status(proc, &scene.ordinary(proc));
                    assert_eq!(scene.lab.disk().planned_failures(), 0, "{name}: nothing failed");
                    answered
                }
                Way::Never(why) => {
                    assert!(!why.is_empty());
                    status
                }
            });
            assert_eq!(answered, status, "{name}");
        }
    }
}

#[test]
fn the_usual_calls_succeed() {
    for (proc, _) in RFC {
        // MKDIR in /srv would exceed its links.
        let expected = if proc == proc::MKDIR { stat::MLINK } else { stat::OK };
        let answered = with_scene(|scene| scene.root.status(proc, &scene.ordinary(proc)));
        assert_eq!(answered, expected, "{}", proc::NAMES[proc as usize]);
    }
}

/// Statuses that are answered although the list of the procedure lacks them: the RFC has no
/// better word for what happened, and Linux answers the same.
fn beyond_the_list(proc: u32) -> &'static [(u32, Error)] {
    const ANY: &[(u32, Error)] = &[(stat::JUKEBOX, Error::Delay), (stat::PERM, Error::NotOwner)];
    const REMOVE: &[(u32, Error)] =
        &[(stat::JUKEBOX, Error::Delay), (stat::ISDIR, Error::IsDirectory)];
    if proc == proc::REMOVE { REMOVE } else { ANY }
}

#[test]
fn a_failing_disk_leaves_no_attributes_out() {
    for (proc, _) in RFC {
        for &(status, error) in beyond_the_list(proc) {
            with_scene(|scene| {
                scene.lab.disk().fail_nth(Some(op(proc)), 1, error);
                // `status` looks at the whole reply.
                let answered = scene.root.status(proc, &scene.ordinary(proc));
                assert_eq!(answered, status, "{}", proc::NAMES[proc as usize]);
            });
        }
    }
}

#[test]
fn attributes_that_cannot_be_had_are_left_out_and_the_reply_stays_whole() {
    use crate::common::read_body;
    for (proc, _) in RFC {
        for nth in 1..4 {
            with_scene(|scene| {
                let arguments = scene.ordinary(proc);
                scene.lab.disk().fail_nth(None, nth, Error::Io);
                let mut reply = scene.root.nfs(proc, &arguments);
                read_body(proc, &mut reply);
                reply.end();
            });
        }
    }
}
