//! What the tests share: a served temporary directory, and short names for operations.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::unused_self)]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hayase_local::{LocalFs, Options};
use hayase_vfs::{
    Access, Attr, Cred, Cx, Durability, Error, Handle, Name, Node, Open, ReadData, Result, SetAttr,
    Stability, Vfs, Wait, Wcc,
};

pub const ALICE: u32 = 12_001;
pub const BOB: u32 = 12_002;

pub fn cred(uid: u32, gid: u32, groups: &[u32]) -> Cred {
    Cred { uid, gid, groups: groups.into() }
}

static PEOPLE: LazyLock<[Cred; 3]> =
    LazyLock::new(|| [Cred::root(), cred(ALICE, ALICE, &[]), cred(BOB, BOB, &[])]);

pub fn root() -> &'static Cred {
    &PEOPLE[0]
}

pub fn alice() -> &'static Cred {
    &PEOPLE[1]
}

pub fn bob() -> &'static Cred {
    &PEOPLE[2]
}

/// Whom the test runs as.
pub fn me() -> Cred {
    let gid = rustix::process::getegid().as_raw();
    cred(rustix::process::geteuid().as_raw(), gid, &[])
}

pub fn name(name: &str) -> Name<'_> {
    Name::new(name.as_bytes()).unwrap()
}

pub fn mode(mode: u32) -> SetAttr {
    SetAttr { mode: Some(mode), ..SetAttr::default() }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A directory that everybody may write to, removed at the end.
pub fn shared_dir() -> tempfile::TempDir {
    shared_dir_in(&std::env::temp_dir())
}

pub fn shared_dir_in(parent: &Path) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::Builder::new().prefix("hayase-local-").tempdir_in(parent).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    dir
}

/// A served directory.
pub struct Served {
    pub fs: LocalFs,
    pub options: Options,
    pub dir: tempfile::TempDir,
    pub root: Handle,
}

impl Served {
    pub fn new() -> Self {
        Served::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        Served::at(shared_dir(), options)
    }

    pub fn at(dir: tempfile::TempDir, options: Options) -> Self {
        let fs = LocalFs::open(dir.path(), options.clone()).unwrap();
        let root = fs.root();
        Served { fs, options, dir, root }
    }

    /// As after a restart of the server.
    pub fn restart(self) -> Self {
        let Served { fs, options, dir, root } = self;
        drop(fs);
        let again = Served::at(dir, options);
        assert_eq!(again.root, root, "the root's handle survives");
        again
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub fn cx<'a>(&self, cred: &'a Cred) -> Cx<'a> {
        Cx { cred, wait: Wait::Allowed, durability: Durability::Sync, opened: Access::NONE }
    }

    pub fn never<'a>(&self, cred: &'a Cred) -> Cx<'a> {
        Cx { cred, wait: Wait::Never, durability: Durability::Sync, opened: Access::NONE }
    }

    pub fn lookup(&self, who: &Cred, dir: &Handle, entry: &str) -> Result<Node> {
        self.fs.lookup(&self.cx(who), dir, name(entry))
    }

    pub fn walk(&self, path: &str) -> Result<Node> {
        let start = Node { handle: self.root, attr: self.attr(&self.root)? };
        path.split('/').try_fold(start, |at, entry| self.lookup(root(), &at.handle, entry))
    }

    pub fn attr(&self, of: &Handle) -> Result<Attr> {
        self.fs.attr(&self.cx(root()), of)
    }

    pub fn create(&self, who: &Cred, dir: &Handle, entry: &str, bits: u32) -> Result<Node> {
        let how = Open::Guarded(mode(bits));
        self.fs.create(&self.cx(who), dir, name(entry), &how, &mut Wcc::default())
    }

    pub fn mkdir(&self, who: &Cred, dir: &Handle, entry: &str, bits: u32) -> Result<Node> {
        let what = hayase_vfs::NewNode::Directory;
        self.fs.make_node(&self.cx(who), dir, name(entry), &what, &mode(bits), &mut Wcc::default())
    }

    pub fn write(&self, who: &Cred, of: &Handle, offset: u64, data: &[u8]) -> Result<u32> {
        self.write_as(who, of, offset, data, Stability::Unstable)
    }

    pub fn write_as(
        &self,
        who: &Cred,
        of: &Handle,
        offset: u64,
        data: &[u8],
        stability: Stability,
    ) -> Result<u32> {
        let cx = self.cx(who);
        let written = self.fs.write(&cx, of, offset, data, stability, &mut Wcc::default())?;
        assert!(written.stability >= stability);
        Ok(written.count)
    }

    pub fn commit(&self, of: &Handle) -> Result<()> {
        self.fs.commit(&self.cx(root()), of, 0, 0, &mut Wcc::default())
    }

    pub fn read(&self, who: &Cred, of: &Handle, offset: u64, count: u32) -> Result<Vec<u8>> {
        self.read_with(&self.cx(who), of, offset, count).map(|(data, _)| data)
    }

    pub fn read_with(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
    ) -> Result<(Vec<u8>, bool)> {
        let mut inline = b"head".to_vec();
        let read = self.fs.read(cx, of, offset, count, &mut inline)?;
        assert_eq!(&inline[..4], b"head");
        let data = match read.data {
            ReadData::Inline(len) => {
                assert_eq!(inline.len(), 4 + len);
                inline.split_off(4)
            }
            ReadData::Payload(hayase_buf::Payload::Buffer { buffer, len }) => {
                buffer[..len].to_vec()
            }
            ReadData::Payload(hayase_buf::Payload::Span(span)) => {
                let mut data = vec![0; span.len];
                let file = std::fs::File::from(span.file.try_clone().unwrap());
                std::os::unix::fs::FileExt::read_exact_at(&file, &mut data, span.offset).unwrap();
                data
            }
        };
        Ok((data, read.eof))
    }

    pub fn set(&self, who: &Cred, of: &Handle, set: &SetAttr) -> Result<()> {
        self.fs.set_attr(&self.cx(who), of, set, None, &mut Wcc::default())
    }

    pub fn remove(&self, who: &Cred, dir: &Handle, entry: &str) -> Result<()> {
        self.fs.remove(&self.cx(who), dir, name(entry), &mut Wcc::default())
    }

    pub fn rename(&self, who: &Cred, from: (&Handle, &str), to: (&Handle, &str)) -> Result<()> {
        let (from, to) = ((from.0, name(from.1)), (to.0, name(to.1)));
        let (mut before, mut after) = (Wcc::default(), Wcc::default());
        self.fs.rename(&self.cx(who), from, to, &mut before, &mut after)
    }

    /// All names, in pages of `page` entries.
    pub fn list(&self, who: &Cred, dir: &Handle, page: usize) -> Result<Vec<String>> {
        let (mut names, mut cookie) = (Vec::new(), 0);
        loop {
            let mut room = page;
            let read = self.fs.read_dir(&self.cx(who), dir, cookie, false, &mut |entry| {
                if room == 0 {
                    return false;
                }
                room -= 1;
                cookie = entry.cookie;
                names.push(String::from_utf8_lossy(entry.name).into_owned());
                true
            })?;
            if read.eof {
                return Ok(names);
            }
        }
    }
}

/// Runs a test of this binary again as an ordinary user, when we are root; the test finds
/// `HAYASE_TEST_CHILD` set. Answers whether this is the child (or already an ordinary user).
pub fn as_ordinary_user(test: &str) -> bool {
    use std::os::unix::process::CommandExt;
    if !is_root() {
        return true;
    }
    // Where an ordinary user can execute it.
    let dir = shared_dir();
    let binary = dir.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    let status = std::process::Command::new(&binary)
        .args(["--exact", test, "--nocapture"])
        .env("HAYASE_TEST_CHILD", "1")
        .env("TMPDIR", dir.path())
        .current_dir(dir.path())
        .uid(65_534)
        .gid(65_534)
        .status()
        .unwrap();
    assert!(status.success(), "the test failed as an ordinary user");
    false
}

pub fn is_stale<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Stale))
}
