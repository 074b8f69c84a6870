//! One copy on its way.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use hayase_proto::nfs4::{OffloadInfo, StableHow, Status, WriteResponse};
use hayase_rpc::Credential;
use hayase_state::{AsyncCopy, Change};
use hayase_vfs::{Access, Error, Wait, Wcc};

use super::piece::{Ends, Pace, copy_piece};
use crate::call::{Call, Target};
use crate::peer::{Carrier, Peer};
use crate::service::Server;
use crate::v4::callback::{CalledIn, Message};
use crate::v4::fault::Fault;

/// What is to be copied, and on whose behalf.
pub(crate) struct Plan {
    pub(crate) ends: Ends,
    /// Bytes in all.
    pub(crate) wanted: u64,
    /// The target's write verifier from before the first byte.
    pub(crate) verifier: u64,
    /// Who asked for it, and from where: what rights that gives may change.
    pub(crate) credential: Credential,
    pub(crate) address: SocketAddr,
    /// The exports by which `ends` were found.
    pub(crate) generation: u64,
    /// The COPY that it began with.
    pub(crate) called_in: Option<CalledIn>,
}

/// A copy between two turns.
pub(crate) struct Job {
    copy: Arc<AsyncCopy>,
    plan: Plan,
    pace: Pace,
}

/// How a turn went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// There is more to do.
    On,
    /// Somebody has to make way first.
    Delayed,
    /// It is all done, or there is no going on.
    Ended(Result<(), Status>),
}

impl Job {
    /// A copy of which nothing is done but what `copy` counts.
    pub(crate) fn new(copy: Arc<AsyncCopy>, plan: Plan) -> Self {
        Job { copy, plan, pace: Pace::new() }
    }

    pub(super) fn copy(&self) -> &Arc<AsyncCopy> {
        &self.copy
    }

    /// Copies one piece.
    pub(super) fn take_turn(&mut self, server: &Server) -> Went {
        if !self.copy.is_wanted() {
            return Went::Ended(Ok(()));
        }
        match self.step(server) {
            Ok(went) => went,
            Err(Status::Delay) => Went::Delayed,
            Err(status) => Went::Ended(Err(status)),
        }
    }

    fn step(&mut self, server: &Server) -> Result<Went, Status> {
        self.look_up_rights(server)?;
        let Ends { from, to, .. } = &self.plan.ends;
        let by = Some(self.copy.client());
        // The opens may be gone by now, and somebody else may have been lent the files.
        server.v4.before(Change::Read, &from.key(), by).map_err(|fault| status(&fault))?;
        server.v4.before(Change::Write, &to.key(), by).map_err(|fault| status(&fault))?;
        let done = self.copy.copied_bytes();
        let len = (self.plan.wanted - done).min(self.pace.bytes());
        let started = Instant::now();
        let copied = copy_piece(&self.plan.ends, done, len).map_err(in_status)?;
        self.pace.note(started.elapsed());
        self.copy.add(copied.count);
        let all = copied.count == 0 || done + copied.count >= self.plan.wanted;
        Ok(if all { Went::Ended(Ok(())) } else { Went::On })
    }

    /// After a change of the exports, the caller may be allowed less, or be somebody else.
    fn look_up_rights(&mut self, server: &Server) -> Result<(), Status> {
        let table = server.exports.load();
        if table.generation == self.plan.generation {
            return Ok(());
        }
        let peer = Peer::new(self.plan.address, Carrier::Tcp);
        let credential = self.plan.credential;
        let call = Call { server, peer: &peer, credential, wait: Wait::Allowed };
        let again = |target: &Target| {
            let target = call.target_in(&table, target.export().id, target.handle);
            target.map_err(|unusable| status(&unusable.into()))
        };
        let (from, to) = (again(&self.plan.ends.from)?, again(&self.plan.ends.to)?);
        if to.is_read_only() {
            return Err(Status::Rofs);
        }
        let ends = &self.plan.ends;
        // What was opened was opened by whom it was then.
        let still = |opened, old: &Target, new: &Target| {
            if old.cx().cred == new.cx().cred { opened } else { Access::NONE }
        };
        self.plan.ends = Ends {
            may_read: still(ends.may_read, &ends.from, &from),
            may_write: still(ends.may_write, &ends.to, &to),
            from,
            to,
            ..*ends
        };
        self.plan.generation = table.generation;
        Ok(())
    }

    /// Ends the copy, and tells its client if that wants to know.
    pub(super) fn end(self, server: &Server, result: Result<(), Status>) {
        let copied = self.copy.copied_bytes();
        let settled = match result {
            // What has been copied counts: who asks for the rest meets the error then.
            Err(status) if copied == 0 => Err(status),
            _ if self.copy.is_wanted() => self.settle(),
            _ => Ok(StableHow::Unstable),
        };
        if !server.v4.state.end_copy(&self.copy, settled.map(|_| ())) {
            return;
        }
        let info = match settled {
            Ok(committed) => OffloadInfo::Ok(WriteResponse {
                callback_id: None, // RFC 7862 §16.1.3
                count: copied,
                committed,
                writeverf: self.plan.verifier.to_be_bytes(),
            }),
            Err(status) => OffloadInfo::Fail(status, copied),
        };
        let (stateid, target) = (self.copy.stateid(), self.copy.target());
        let message = Message::Offload { stateid, target, info, called_in: self.plan.called_in };
        server.v4.tell(self.copy.client(), message);
    }

    /// Brings what was copied to stable storage, here rather than in a COMMIT that would keep a
    /// worker from other calls. Linux sends no COMMIT then, which for more than 4 GiB would name
    /// a part of them only.
    fn settle(&self) -> Result<StableHow, Status> {
        let Ends { to, to_offset, .. } = &self.plan.ends;
        to.vfs()
            .commit(&self.plan.ends.write_cx(), &to.handle, *to_offset, 0, &mut Wcc::default())
            .map_err(in_status)?;
        // Had something been lost meanwhile, the client must see a difference: its COMMIT shows it.
        let kept = to.vfs().write_verifier() == self.plan.verifier;
        Ok(if kept { StableHow::FileSync } else { StableHow::Unstable })
    }
}

fn in_status(error: Error) -> Status {
    status(&error.into())
}

fn status(fault: &Fault) -> Status {
    match fault {
        Fault::Status(status) | Fault::Told(status) => *status,
        // Only calls that must not wait, or are answered from memory, end so.
        Fault::Abort(_) | Fault::Replay(_) => Status::ServerFault,
    }
}
