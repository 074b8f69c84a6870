//! Getting back what a server has lost: the client, its session, its opens
//! (RFC 7530 §9.6, RFC 8881 §8.4, §2.10.13).

use std::sync::atomic::Ordering;

use hayase_proto::nfs4::{
    CloseArgs, CompoundWriter, DelegationType, OpenArgs, OpenClaim, OpenConfirmArgs, PutFhArgs,
    PutRootFhArgs, ReclaimCompleteArgs, Res4, StateId, Status as Status4, open_result,
};
use hayase_xdr::Opaque;

use super::client::Client;
use super::opens::Open;
use super::shared::{Shared, lock};
use crate::wire::{Terms, reclaim_args};
use crate::{Error, FileHandle, Status};

impl Shared {
    /// Gets back the state that a call of recovery `seen` was refused for, unless that has been done
    /// meanwhile.
    pub(crate) fn recover(&self, seen: u64) -> Result<(), Error> {
        let Some(client) = &self.client else { return Ok(()) };
        let mut client = lock(client);
        if self.epoch() == seen { self.recover_with(&mut client) } else { Ok(()) }
    }

    /// Renews the lease; recovers what is found lost.
    pub(super) fn renew(&self) -> Result<(), Error> {
        let Some(client) = &self.client else { return Ok(()) };
        let mut client = lock(client);
        match client.renew() {
            Err(error) if is_forgotten(&error) => self.recover_with(&mut client),
            other => other,
        }
    }

    pub(super) fn recover_with(&self, client: &mut Client) -> Result<(), Error> {
        match client.renew() {
            Err(error) if is_forgotten(&error) => self.introduce_again(client)?,
            other => other?,
        }
        let ids = self.opens().ids();
        let mut missed = Vec::new();
        for id in &ids {
            let claim = |_: &Open| Claim::Previous;
            if !self.open_again(client, *id, claim)? {
                missed.push(*id);
            }
        }
        client.reclaim_complete()?;
        // What could not be reclaimed is opened as anybody may: someone else may have changed it meanwhile.
        for id in missed {
            let by_handle = client.version.has_sessions();
            self.open_again(client, id, |_| if by_handle { Claim::Handle } else { Claim::Name })?;
        }
        self.epoch.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    fn introduce_again(&self, client: &mut Client) -> Result<(), Error> {
        if client.version.has_sessions() {
            match client.renew_session() {
                Err(error) if is_forgotten(&error) => {}
                other => return other,
            }
        }
        client.introduce(self.address())?;
        self.client_id.store(client.clientid, Ordering::Release);
        self.opens().forget_owners();
        Ok(())
    }

    /// Opens a file again. False if the server does not accept the claim to it; an open that it accepts in no
    /// way is marked as lost.
    fn open_again(
        &self,
        client: &mut Client,
        id: u64,
        claim: impl Fn(&Open) -> Claim,
    ) -> Result<bool, Error> {
        // Closed meanwhile?
        let Some(mut open) = self.opens().get(id).cloned() else { return Ok(true) };
        let claim = claim(&open);
        match client.open_again(&mut open, claim) {
            Ok(stateid) => open.stateid = Ok(stateid),
            Err(Error::Status { status, .. })
                if claim == Claim::Previous && !is_passing(status) =>
            {
                self.keep(id, open);
                return Ok(false);
            }
            Err(Error::Status { status, .. }) if !is_passing(status) => open.stateid = Err(status),
            Err(error) => return Err(error),
        }
        self.keep(id, open);
        Ok(true)
    }

    fn keep(&self, id: u64, open: Open) {
        if let Some(kept) = self.opens().get_mut(id) {
            *kept = open;
        }
    }
}

/// By what right a file is opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// It was open before the server restarted.
    Previous,
    /// None but that of its handle.
    Handle,
    /// None but that of its name.
    Name,
}

impl Client {
    fn open_again(&mut self, open: &mut Open, claim: Claim) -> Result<StateId, Error> {
        let clientid = if self.version.has_sessions() { 0 } else { self.clientid };
        let terms = Terms { owner: open.owner, clientid, ..Terms::default() };
        let at = if claim == Claim::Name { &open.dir } else { &open.handle };
        let by = match claim {
            Claim::Previous => OpenClaim::Previous(DelegationType::None),
            Claim::Handle => OpenClaim::Fh,
            Claim::Name => OpenClaim::Null(Opaque(open.name.as_bytes())),
        };
        let args = reclaim_args(self.version, open.access, &terms, by);
        let answer = self.run("OPEN", |ops| {
            put(at, ops);
            ops.push(&args);
        })?;
        let mut results = answer.results();
        let opened = match results.on(at).and_then(|()| results.last::<OpenArgs<'_>, _, _>()) {
            Ok(opened) => (opened.stateid, opened.rflags),
            Err(failure) => return Err(self.failed("OPEN", failure)),
        };
        let (stateid, flags) = opened;
        if self.version.has_sessions() {
            return Ok(StateId { seqid: 0, ..stateid });
        }
        open.owner.seqid = open.owner.seqid.wrapping_add(1);
        if flags & open_result::CONFIRM == 0 {
            return Ok(stateid);
        }
        let args = OpenConfirmArgs { open_stateid: stateid, seqid: open.owner.seqid };
        let answer = self.run("OPEN_CONFIRM", |ops| {
            put(&open.handle, ops);
            ops.push(&args);
        })?;
        let mut results = answer.results();
        let confirmed =
            results.on(&open.handle).and_then(|()| results.last::<OpenConfirmArgs, _, _>());
        open.owner.seqid = open.owner.seqid.wrapping_add(1);
        confirmed.map_err(|failure| self.failed("OPEN_CONFIRM", failure))
    }

    /// Closes a file.
    pub(super) fn close(&mut self, open: &Open) -> Result<(), Error> {
        let Ok(open_stateid) = open.stateid else { return Ok(()) };
        let args = CloseArgs { seqid: open.owner.seqid, open_stateid };
        self.run("CLOSE", |ops| {
            put(&open.handle, ops);
            ops.push(&args);
        })
        .map(drop)
    }

    /// Says that all is reclaimed that will be (RFC 8881 §18.51).
    pub(super) fn reclaim_complete(&mut self) -> Result<(), Error> {
        if !self.version.has_sessions() {
            return Ok(());
        }
        let answer = self.run("RECLAIM_COMPLETE", |ops| {
            ops.push(&ReclaimCompleteArgs { one_fs: false });
        })?;
        match answer.results().take::<ReclaimCompleteArgs>() {
            Ok(Res4::Ok(()) | Res4::Fail(Status4::CompleteAlready)) => Ok(()),
            Ok(Res4::Fail(status)) => Err(self.failed("RECLAIM_COMPLETE", status.into())),
            Err(error) => Err(self.failed("RECLAIM_COMPLETE", error.into())),
        }
    }
}

/// Makes `file` the current file.
pub(super) fn put(file: &FileHandle, ops: &mut CompoundWriter<'_>) {
    match file.as_bytes() {
        [] => ops.push(&PutRootFhArgs),
        handle => ops.push(&PutFhArgs { object: Opaque(handle) }),
    };
}

/// Whether the server does not know the client or its session any more.
pub(super) fn is_forgotten(error: &Error) -> bool {
    let Some(Ok(status)) = error.status().map(|status| Status4::try_from(status.number())) else {
        return false;
    };
    matches!(
        status,
        Status4::StaleClientId
            | Status4::BadSession
            | Status4::DeadSession
            | Status4::SeqMisordered
            | Status4::Expired
            | Status4::CbPathDown
    )
}

/// Whether a refusal says nothing for good.
fn is_passing(status: Status) -> bool {
    let status = Status4::try_from(status.number());
    matches!(status, Ok(Status4::Delay | Status4::Grace)) || status.is_ok_and(is_of_the_client)
}

/// Whether it is about the client as a whole and not about one of its opens.
fn is_of_the_client(status: Status4) -> bool {
    matches!(status, Status4::StaleClientId | Status4::BadSession | Status4::DeadSession)
}
