//! Compounds from words, results to words.

use crate::common::{Args, Client, Lab, Reply, args, program};

/// Statuses (RFC 7530 §13.1, RFC 8881 §15.1).
pub mod stat {
    pub const OK: u32 = 0;
    pub const NOENT: u32 = 2;
    pub const IO: u32 = 5;
    pub const NXIO: u32 = 6;
    pub const ACCESS: u32 = 13;
    pub const EXIST: u32 = 17;
    pub const XDEV: u32 = 18;
    pub const NOTDIR: u32 = 20;
    pub const ISDIR: u32 = 21;
    pub const INVAL: u32 = 22;
    pub const NOSPC: u32 = 28;
    pub const ROFS: u32 = 30;
    pub const NAMETOOLONG: u32 = 63;
    pub const NOTEMPTY: u32 = 66;
    pub const STALE: u32 = 70;
    pub const BADHANDLE: u32 = 10001;
    pub const BAD_COOKIE: u32 = 10003;
    pub const TOOSMALL: u32 = 10005;
    pub const BADTYPE: u32 = 10007;
    pub const DELAY: u32 = 10008;
    pub const SAME: u32 = 10009;
    pub const DENIED: u32 = 10010;
    pub const SHARE_DENIED: u32 = 10015;
    pub const RESOURCE: u32 = 10018;
    pub const MOVED: u32 = 10019;
    pub const NOFILEHANDLE: u32 = 10020;
    pub const MINOR_VERS_MISMATCH: u32 = 10021;
    pub const BAD_STATEID: u32 = 10025;
    pub const BAD_SEQID: u32 = 10026;
    pub const NOT_SAME: u32 = 10027;
    pub const SYMLINK: u32 = 10029;
    pub const RESTOREFH: u32 = 10030;
    pub const ATTRNOTSUPP: u32 = 10032;
    pub const WRONG_LFS: u32 = 10092;
    pub const BADLABEL: u32 = 10093;
    pub const OPENMODE: u32 = 10038;
    pub const BADXDR: u32 = 10036;
    pub const BADOWNER: u32 = 10039;
    pub const BADCHAR: u32 = 10040;
    pub const BADNAME: u32 = 10041;
    pub const OP_ILLEGAL: u32 = 10044;
    pub const BADSESSION: u32 = 10052;
    pub const SEQUENCE_POS: u32 = 10064;
    pub const REP_TOO_BIG: u32 = 10066;
    pub const REP_TOO_BIG_TO_CACHE: u32 = 10067;
    pub const RETRY_UNCACHED_REP: u32 = 10068;
    pub const TOO_MANY_OPS: u32 = 10070;
    pub const OP_NOT_IN_SESSION: u32 = 10071;
    pub const SEQ_FALSE_RETRY: u32 = 10076;
    pub const NOT_ONLY_OP: u32 = 10081;
    pub const WRONG_TYPE: u32 = 10083;
    pub const UNION_NOTSUPP: u32 = 10090;
    pub const OFFLOAD_DENIED: u32 = 10091;
    pub const NOXATTR: u32 = 10095;
    pub const NOTSUPP: u32 = 10004;
}

/// Numbers of operations (RFC 8881 §16.2.1).
pub mod op {
    pub const ACCESS: u32 = 3;
    pub const CLOSE: u32 = 4;
    pub const CREATE: u32 = 6;
    pub const DELEGRETURN: u32 = 8;
    pub const GETATTR: u32 = 9;
    pub const GETFH: u32 = 10;
    pub const LINK: u32 = 11;
    pub const LOCK: u32 = 12;
    pub const LOCKU: u32 = 14;
    pub const LOOKUP: u32 = 15;
    pub const LOOKUPP: u32 = 16;
    pub const NVERIFY: u32 = 17;
    pub const OPEN: u32 = 18;
    pub const OPEN_CONFIRM: u32 = 20;
    pub const PUTFH: u32 = 22;
    pub const PUTROOTFH: u32 = 24;
    pub const READ: u32 = 25;
    pub const READDIR: u32 = 26;
    pub const READLINK: u32 = 27;
    pub const REMOVE: u32 = 28;
    pub const RENAME: u32 = 29;
    pub const RESTOREFH: u32 = 31;
    pub const SAVEFH: u32 = 32;
    pub const SECINFO: u32 = 33;
    pub const SETATTR: u32 = 34;
    pub const SETCLIENTID: u32 = 35;
    pub const SETCLIENTID_CONFIRM: u32 = 36;
    pub const VERIFY: u32 = 37;
    pub const WRITE: u32 = 38;
    pub const EXCHANGE_ID: u32 = 42;
    pub const BIND_CONN_TO_SESSION: u32 = 41;
    pub const CREATE_SESSION: u32 = 43;
    pub const DESTROY_SESSION: u32 = 44;
    pub const SEQUENCE: u32 = 53;
    pub const RECLAIM_COMPLETE: u32 = 58;
    pub const ALLOCATE: u32 = 59;
    pub const COPY: u32 = 60;
    pub const COPY_NOTIFY: u32 = 61;
    pub const DEALLOCATE: u32 = 62;
    pub const OFFLOAD_CANCEL: u32 = 66;
    pub const OFFLOAD_STATUS: u32 = 67;
    pub const READ_PLUS: u32 = 68;
    pub const SEEK: u32 = 69;
    pub const CLONE: u32 = 71;
    pub const GETXATTR: u32 = 72;
    pub const SETXATTR: u32 = 73;
    pub const LISTXATTRS: u32 = 74;
    pub const REMOVEXATTR: u32 = 75;
    pub const ILLEGAL: u32 = 10044;
}

/// Operations of a compound being written.
#[derive(Clone, Default)]
pub struct Ops {
    count: u32,
    args: Args,
}

/// No operation yet.
pub fn ops() -> Ops {
    Ops::default()
}

impl Ops {
    pub fn op(mut self, number: u32, args: &Args) -> Self {
        self.count += 1;
        self.args = self.args.word(number).raw(args.bytes());
        self
    }

    pub fn bare(self, number: u32) -> Self {
        self.op(number, &args())
    }

    pub fn root(self) -> Self {
        self.bare(op::PUTROOTFH)
    }

    /// These operations behind another one.
    pub fn after(&self, number: u32, first: &Args) -> Self {
        let args = args().word(number).raw(first.bytes()).raw(self.args.bytes());
        Ops { count: self.count + 1, args }
    }

    /// From the root along a path.
    pub fn at(self, path: &str) -> Self {
        let names = path.split('/').filter(|name| !name.is_empty());
        names.fold(self.root(), Ops::lookup)
    }

    pub fn lookup(self, name: impl AsRef<[u8]>) -> Self {
        self.op(op::LOOKUP, &args().opaque(name))
    }

    pub fn put(self, handle: &[u8]) -> Self {
        self.op(op::PUTFH, &args().opaque(handle))
    }

    pub fn getattr(self, words: &[u32]) -> Self {
        self.op(op::GETATTR, &args().word(words.len() as u32).words(words.iter().copied()))
    }

    /// The arguments of a COMPOUND.
    pub fn args(&self, tag: &str, minor: u32) -> Args {
        args().opaque(tag).words([minor, self.count]).raw(self.args.bytes())
    }
}

/// The results of a compound, being read.
pub struct Results {
    pub status: u32,
    left: u32,
    reply: Reply,
}

impl Results {
    /// The next result is of this operation and has this status.
    #[track_caller]
    pub fn is(&mut self, op: u32, status: u32) -> &mut Reply {
        assert_ne!(self.left, 0, "there are no more results");
        self.left -= 1;
        self.reply.is([op, status]);
        &mut self.reply
    }

    /// The next result is of this operation, which succeeded.
    #[track_caller]
    pub fn ok(&mut self, op: u32) -> &mut Reply {
        self.is(op, stat::OK)
    }

    /// Reads over the results of a path.
    #[track_caller]
    pub fn at(mut self, path: &str) -> Self {
        self.ok(op::PUTROOTFH);
        for _ in path.split('/').filter(|name| !name.is_empty()) {
            self.ok(op::LOOKUP);
        }
        self
    }

    #[track_caller]
    pub fn end(self) {
        assert_eq!(self.left, 0, "results are left");
        self.reply.end();
    }
}

impl Results {
    /// The results in the reply to a compound.
    pub fn of(mut reply: Reply) -> Self {
        let status = reply.word();
        reply.is_opaque("tag");
        let left = reply.word();
        Results { status, left, reply }
    }
}

/// Runs a compound of NFSv4.0 as root.
#[track_caller]
pub fn run(lab: &Lab, ops: &Ops) -> Results {
    run_as(&lab.root(), 0, ops)
}

/// Runs a compound.
#[track_caller]
pub fn run_as(client: &Client<'_>, minor: u32, ops: &Ops) -> Results {
    Results::of(client.call([program::NFS, 4, 1], &ops.args("tag", minor)))
}

/// The status that a compound of NFSv4.0 ends with.
#[track_caller]
pub fn status(lab: &Lab, ops: &Ops) -> u32 {
    run(lab, ops).status
}

/// The handle of a path.
#[track_caller]
pub fn handle(lab: &Lab, path: &str) -> Vec<u8> {
    let mut results = run(lab, &ops().at(path).bare(op::GETFH)).at(path);
    let handle = results.ok(op::GETFH).opaque();
    results.end();
    handle
}

/// The values of attributes of a path.
#[track_caller]
pub fn attrs(lab: &Lab, path: &str, wanted: &[u32]) -> Reply {
    let mut results = run(lab, &ops().at(path).getattr(wanted)).at(path);
    let reply = results.ok(op::GETATTR);
    let given: Vec<_> = (0..reply.word()).map(|_| reply.word()).collect();
    assert_eq!(given, wanted, "attributes are missing");
    Reply::new(reply.opaque())
}
