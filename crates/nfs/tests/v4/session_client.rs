//! A client of NFSv4.1 with one session and one slot.

use std::cell::Cell;

use crate::common::{Args, Client, Lab, Reply, args, program};
use crate::ops::{Ops, Results, op, ops};

/// A session on a connection.
pub struct Session<'l> {
    pub client: Client<'l>,
    pub id: Vec<u8>,
    minor: u32,
    last: Cell<u32>,
}

/// `channel_attrs4` (RFC 8881 §18.36.1).
fn channel(response: u32, cached: u32) -> Args {
    args().words([0, 1 << 20, response, cached, 16, 4, 0])
}

/// The arguments of `EXCHANGE_ID`.
pub fn exchange_id(name: &str) -> Args {
    args().long(1).opaque(name).words([0, 0, 0])
}

impl<'l> Session<'l> {
    /// A session of root's.
    #[track_caller]
    pub fn new(lab: &'l Lab, name: &str, minor: u32) -> Self {
        Session::sized(lab.root(), name, minor, 1 << 20, 4096)
    }

    /// One with these bounds on replies, and on replies that are kept.
    #[track_caller]
    pub fn sized(client: Client<'l>, name: &str, minor: u32, response: u32, cached: u32) -> Self {
        let alone =
            |ops: &Ops| Results::of(client.call([program::NFS, 4, 1], &ops.args("tag", minor)));
        let mut results = alone(&ops().op(op::EXCHANGE_ID, &exchange_id(name)));
        let reply = results.ok(op::EXCHANGE_ID);
        let (clientid, sequence) = (reply.long(), reply.word());
        let create = args().long(clientid).words([sequence, 0x2]);
        let create = create.raw(channel(response, cached).bytes()).raw(channel(4096, 0).bytes());
        let create = create.words([0x4000_0000, 1, 0]);
        let mut results = alone(&ops().op(op::CREATE_SESSION, &create));
        let id = results.ok(op::CREATE_SESSION).take(16).to_vec();
        let session = Session { client, id, minor, last: Cell::new(0) };
        let mut results = session.run(&ops().op(op::RECLAIM_COMPLETE, &args().word(0)));
        results.ok(op::RECLAIM_COMPLETE);
        results.end();
        session
    }

    /// Another user of the same client.
    pub fn of_user(self, uid: u32) -> Self {
        Session { client: self.client.with_user(uid, uid, &[]), ..self }
    }

    /// SEQUENCE with this sequence id, and the operations.
    pub fn sequenced(&self, sequence: u32, cache: bool, ops: &Ops) -> Args {
        let head = args().raw(&self.id).words([sequence, 0, 0, u32::from(cache)]);
        ops.after(op::SEQUENCE, &head).args("tag", self.minor)
    }

    /// Runs operations, and reads over the result of SEQUENCE.
    #[track_caller]
    pub fn run(&self, ops: &Ops) -> Results {
        let mut results = self.try_run(ops);
        results.ok(op::SEQUENCE).take(36);
        results
    }

    /// Runs operations in the next request.
    #[track_caller]
    pub fn try_run(&self, ops: &Ops) -> Results {
        self.last.set(self.last.get() + 1);
        self.again(ops, false)
    }

    /// Runs operations in the same request as last.
    #[track_caller]
    pub fn again(&self, ops: &Ops, cache: bool) -> Results {
        let args = self.sequenced(self.last.get(), cache, ops);
        Results::of(self.client.call([program::NFS, 4, 1], &args))
    }

    /// Counts a request that was sent otherwise.
    pub fn skip(&self) {
        self.last.set(self.last.get() + 1);
    }

    /// The sequence id of the next request.
    pub fn next(&self) -> u32 {
        self.last.get() + 1
    }

    /// The status of the last result.
    #[track_caller]
    pub fn status(&self, ops: &Ops) -> u32 {
        self.run(ops).status
    }

    /// Opens a file of `/srv`: its stateid, and the rest of the result.
    #[track_caller]
    pub fn open(&self, name: &str, access: u32, create: bool) -> (Vec<u8>, Reply) {
        let mut results = self.run(&ops().at("/srv").op(op::OPEN, &open(name, access, 0, create)));
        results = results.at("/srv");
        let reply = results.ok(op::OPEN);
        let stateid = reply.take(16).to_vec();
        (stateid, reply.clone())
    }
}

/// The arguments of OPEN for a name.
pub fn open(name: &str, access: u32, deny: u32, create: bool) -> Args {
    let how = if create { args().words([1, 0, 0, 0]) } else { args().word(0) };
    let head = args().words([0, access, deny, 0, 0]).opaque("owner");
    head.raw(how.bytes()).word(0).opaque(name)
}
