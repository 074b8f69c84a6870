//! One call and everything that holds whatever it means.

use hayase_mem::{Blocking, Op};
use hayase_nfs::Answered;
use hayase_proto::nfs3::{
    Fattr3, GetAttrArgs, GetAttrRes, PROGRAM, PostOpAttr, Proc, Res3, Status, VERSION, WccAttr,
    WccData,
};
use hayase_vfs::{Error, Wait};
use hayase_xdr::{Encode, Opaque, from_bytes, to_vec};

use super::Run;
use super::values::{Means, Subject};
use crate::nfs3::{check_reply, result};
use crate::server::record;

/// What came of a call.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The result, from its status on.
    pub(super) body: Vec<u8>,
    pub(super) status: Option<Status>,
    /// Attributes of the call's subjects.
    pub(super) before: Vec<PostOpAttr>,
    pub(super) after: Vec<PostOpAttr>,
    /// A call of the superuser, with nothing in its way.
    pub(super) plain: bool,
}

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Plain,
    ByUser,
    WhereItMayNotWait,
    Failing,
    Twice,
}

impl Run<'_> {
    /// The attributes that a handle has now.
    pub(super) fn attr_of(&mut self, handle: &[u8]) -> PostOpAttr {
        let args = to_vec(&GetAttrArgs { object: Opaque(handle) });
        let record = record(self.next_xid(), [PROGRAM, VERSION, Proc::GetAttr as u32], 0, &args);
        let (answered, reply) = self.server.call(&record, Wait::Allowed);
        assert_eq!(answered, Answered::Reply);
        match from_bytes::<GetAttrRes>(&reply[24..]).expect("a result of GETATTR") {
            Res3::Ok(attr) => Some(attr),
            Res3::Fail(status, ()) => {
                assert!(matches!(status, Status::Stale | Status::BadHandle), "{status}");
                None
            }
        }
    }

    pub(super) fn next_xid(&mut self) -> u32 {
        self.last_xid += 1;
        self.last_xid
    }

    /// Calls a procedure in one of several ways.
    pub(super) fn perform(
        &mut self,
        proc: Proc,
        args: &impl Encode,
        subjects: &[&Subject],
    ) -> Outcome {
        let how = match self.choices.below(16) {
            ..=9 => How::Plain,
            10 => How::ByUser,
            11 | 12 => How::WhereItMayNotWait,
            13 => How::Failing,
            _ => How::Twice,
        };
        let attrs = |run: &mut Self| -> Vec<_> {
            subjects.iter().map(|subject| run.attr_of(&subject.handle)).collect()
        };
        let before = attrs(self);
        let uid = if how == How::ByUser { 5 } else { 0 };
        let xid = self.next_xid();
        let record = record(xid, [PROGRAM, VERSION, proc as u32], uid, &to_vec(args));
        let early = match how {
            How::WhereItMayNotWait => self.call_without_waiting(&record),
            _ => None,
        };
        if early.is_none() && how == How::WhereItMayNotWait {
            assert_eq!(before, attrs(self), "{proc} has done something and would block");
        }
        if how == How::Failing {
            self.plan_failure(proc);
        }
        let reply = early.unwrap_or_else(|| self.answered(&record));
        self.server.disks.iter().for_each(|disk| disk.forget_failures());
        check_reply(xid, &reply, |body| result(proc, body));
        let body = reply[24..].to_vec();
        let after = attrs(self);
        if how == How::Twice && is_remembered(proc) {
            assert!(self.answered(&record) == reply, "{proc}: another reply to the same call");
            assert_eq!(after, attrs(self), "{proc} ran twice");
        }
        let status = status_of(proc, &body);
        let read_only = self.read_only.contains(&true);
        let plain = !read_only && matches!(how, How::Plain | How::WhereItMayNotWait | How::Twice);
        let outcome = Outcome { body, status, before, after, plain };
        outcome.check_silence(subjects);
        if outcome.status.is_some() {
            outcome.check_unchanged(proc);
        }
        outcome
    }

    fn answered(&self, record: &[u8]) -> Vec<u8> {
        let (answered, reply) = self.server.call(record, Wait::Allowed);
        assert_eq!(answered, Answered::Reply);
        reply
    }

    fn call_without_waiting(&mut self, record: &[u8]) -> Option<Vec<u8>> {
        let blocking = Blocking::Every(1 + self.choices.below(4) as u32);
        self.server.disks.iter().for_each(|disk| disk.set_blocking(blocking));
        let (answered, reply) = self.server.call(record, Wait::Never);
        self.server.disks.iter().for_each(|disk| disk.set_blocking(Blocking::Nothing));
        match answered {
            Answered::Reply => Some(reply),
            Answered::WouldBlock => {
                assert!(reply.is_empty(), "a part of a reply is left");
                None
            }
            other => panic!("{other:?}"),
        }
    }

    fn plan_failure(&mut self, proc: Proc) {
        let error = self.choices.pick(&[
            Error::Io,
            Error::NoSpace,
            Error::Quota,
            Error::Delay,
            Error::Access,
            Error::NotSupported,
        ]);
        if let Some(op) = op(proc) {
            self.server.disks.iter().for_each(|disk| disk.fail_nth(Some(op), 1, error));
        }
    }
}

impl Outcome {
    /// The status is the one that the model foretells; without foretold errors it may also be
    /// one of these.
    pub(super) fn foretold(&self, foretold: Result<(), Status>, or: &[Status]) {
        match foretold {
            Err(error) if self.plain => assert_eq!(self.status, Some(error), "another error"),
            Err(error) => assert!(self.status.is_some(), "no error, but should be {error}"),
            Ok(()) if self.plain => {
                let allowed = self.status.is_none_or(|status| or.contains(&status));
                assert!(allowed, "an error for no reason: {:?}", self.status);
            }
            Ok(()) => {}
        }
    }

    /// Attributes in the reply are those of this subject after the call.
    pub(super) fn post_op(&self, attr: &PostOpAttr, subject: usize) {
        assert_eq!(*attr, self.after[subject], "attributes after the call");
    }

    /// The same where the call has read the subject after its attributes were taken.
    pub(super) fn post_op_but_atime(&self, attr: &PostOpAttr, subject: usize) {
        let without = |attr: &PostOpAttr| attr.map(without_atime);
        assert_eq!(without(attr), without(&self.after[subject]), "attributes after the call");
    }

    /// Weak cache consistency data is that of this subject.
    pub(super) fn wcc(&self, wcc: &WccData, subject: usize) {
        let before = self.before[subject].as_ref().map(WccAttr::from);
        assert_eq!(wcc.before, before, "attributes before the call");
        self.post_op(&wcc.after, subject);
    }

    /// Handles that open nothing have no attributes before or after.
    fn check_silence(&self, subjects: &[&Subject]) {
        for (at, subject) in subjects.iter().enumerate() {
            if let Means::Nothing(_) = subject.means {
                assert_eq!((self.before[at], self.after[at]), (None, None));
            }
        }
    }

    /// A call that failed has changed nothing.
    fn check_unchanged(&self, proc: Proc) {
        let without = |attrs: &[PostOpAttr]| -> Vec<_> {
            attrs.iter().map(|attr| attr.map(without_atime)).collect()
        };
        assert_eq!(without(&self.before), without(&self.after), "{proc} failed and changed a file");
    }
}

fn without_atime(attr: Fattr3) -> Fattr3 {
    Fattr3 { atime: attr.ctime, ..attr }
}

/// The status that a result begins with; none if it is a success.
fn status_of(proc: Proc, body: &[u8]) -> Option<Status> {
    if proc == Proc::Null {
        return None;
    }
    let word = u32::from_be_bytes([body[0], body[1], body[2], body[3]]);
    (word != 0).then(|| Status::try_from(word).expect("a status"))
}

/// Whether the reply to the same call sent again is the first reply.
fn is_remembered(proc: Proc) -> bool {
    matches!(
        proc,
        Proc::SetAttr
            | Proc::Create
            | Proc::Mkdir
            | Proc::Symlink
            | Proc::Mknod
            | Proc::Remove
            | Proc::Rmdir
            | Proc::Rename
            | Proc::Link
    )
}

/// What the file system does for a procedure, if it does anything that can fail.
fn op(proc: Proc) -> Option<Op> {
    Some(match proc {
        Proc::Null | Proc::GetAttr => return None,
        Proc::SetAttr => Op::SetAttr,
        Proc::Lookup => Op::Lookup,
        Proc::Access => Op::Access,
        Proc::Readlink => Op::ReadLink,
        Proc::Read => Op::Read,
        Proc::Write => Op::Write,
        Proc::Create => Op::Create,
        Proc::Mkdir | Proc::Symlink | Proc::Mknod => Op::MakeNode,
        Proc::Remove => Op::Remove,
        Proc::Rmdir => Op::RemoveDir,
        Proc::Rename => Op::Rename,
        Proc::Link => Op::Link,
        Proc::Readdir | Proc::Readdirplus => Op::ReadDir,
        Proc::FsStat => Op::FsStat,
        Proc::FsInfo => Op::FsInfo,
        Proc::PathConf => Op::PathConf,
        Proc::Commit => Op::Commit,
    })
}
