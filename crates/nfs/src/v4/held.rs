//! Files that are lent to clients: who does something to them first gets them back, and who
//! asks about them asks their holder (RFC 8881 §10.4).

use std::sync::{Arc, PoisonError};

use hayase_proto::nfs4::{Attr as WireAttr, Bitmap, Status};
use hayase_state::{Attributes, Change, ClientId, Delegation, FileKey, Offer, WhyNot};
use hayase_vfs::{Attr, Error, Handle, Name, Vfs, Wait, Watch};

use super::compound::Compound;
use super::fault::Fault;
use super::setup::{Delegations, Shared};
use crate::call::{Abort, Call, Target};
use crate::{ExportId, ExportTable};

/// What the holder of a write delegation knows better.
const HOLDERS: Bitmap = Bitmap::of(&[
    WireAttr::Change,
    WireAttr::Size,
    WireAttr::SpaceUsed,
    WireAttr::TimeMetadata,
    WireAttr::TimeModify,
]);

impl Shared {
    /// Has a file given back before it is changed; DELAY until it is.
    pub(crate) fn before(
        &self,
        change: Change,
        file: &FileKey,
        by: Option<ClientId>,
    ) -> Result<(), Fault> {
        self.act(|effects| self.state.change(self.now(), by, file, change, effects))
    }
}

impl Shared {
    /// Fails on a thread that must not wait if a change finds the file lent: a client whose lease is
    /// over may have to be forgotten, which is written to the disk.
    fn may_ask_back(&self, wait: Wait, change: Change, file: &FileKey) -> Result<(), Error> {
        let lent = wait == Wait::Never
            && change != Change::Read
            && self.state.has_delegations()
            && self.state.delegation_count(file) > 0;
        if lent { Err(Error::WouldBlock) } else { Ok(()) }
    }

    /// Which delegations there can be of a file with this change attribute.
    pub(crate) fn offer(&self, change: u64) -> Offer {
        if self.delegations == Delegations::Never { Offer::NONE } else { Offer::any(change) }
    }

    /// Has the file system look out for local programs that want a file which was lent. If it
    /// cannot, the delegation is taken back before the client hears of it.
    pub(crate) fn guard(&self, file: &Target, granted: Delegation) -> Result<Delegation, Fault> {
        let Delegation::Granted(grant) = granted else { return Ok(granted) };
        let against = if grant.write { Watch::Everybody } else { Watch::Writers };
        let watched = file.vfs().watch(&file.cx(), &file.handle, against);
        if watched.is_ok() || self.delegations == Delegations::Always {
            return Ok(granted);
        }
        self.act(|effects| {
            self.state.withdraw(&file.key(), &grant, effects);
            Ok(())
        })?;
        Ok(Delegation::Refused(WhyNot::Resource))
    }

    /// A delegation of a file has ended.
    pub(super) fn unguard(&self, file: &FileKey) {
        if self.state.delegation_count(file) == 0
            && let Some(export) = self.exports.load().by_id(ExportId(file.export))
        {
            export.vfs.unwatch(&file.handle);
        }
    }

    /// Has the file systems of these exports say when a local program wants a file.
    pub(crate) fn listen(self: &Arc<Self>, exports: &ExportTable) {
        let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        listening.retain(|vfs| vfs.strong_count() > 0);
        for export in exports.iter() {
            if listening.iter().any(|vfs| vfs.as_ptr().addr() == address(&export.vfs)) {
                continue;
            }
            listening.push(Arc::downgrade(&export.vfs));
            let (shared, vfs) = (Arc::downgrade(self), Arc::downgrade(&export.vfs));
            let listener = move |handle: &Handle| {
                if let (Some(shared), Some(vfs)) = (shared.upgrade(), vfs.upgrade()) {
                    shared.wanted_locally(&vfs, handle);
                }
            };
            export.vfs.set_conflict_listener(Box::new(listener));
        }
    }

    /// A local program wants a file.
    fn wanted_locally(&self, vfs: &Arc<dyn Vfs>, handle: &Handle) {
        let exports = self.exports.load();
        for export in exports.iter().filter(|export| Arc::ptr_eq(&export.vfs, vfs)) {
            let file = FileKey { export: export.id.0, handle: *handle };
            let mut effects = Vec::new();
            let lent = self.state.recall_for_outside(self.now(), &file, true, &mut effects);
            // What failed has been logged, and is tried again.
            let _ = self.perform(effects);
            if !lent {
                export.vfs.unwatch(handle);
            }
        }
    }
}

fn address(vfs: &Arc<dyn Vfs>) -> usize {
    Arc::as_ptr(vfs).addr()
}

impl Call<'_> {
    /// Has a file given back before a client that knows nothing of delegations uses it.
    pub(crate) fn before(&self, change: Change, file: &Target) -> Result<(), Error> {
        let (v4, key) = (&self.server.v4, file.key());
        v4.may_ask_back(self.wait, change, &key)?;
        v4.patiently(self.wait, &key, || v4.before(change, &key, None)).map_err(|fault| match fault
        {
            Fault::Abort(Abort::WouldBlock) => Error::WouldBlock,
            _ => Error::Delay,
        })
    }

    /// The same for the file that a name leads to, if it leads to one.
    pub(crate) fn before_names(&self, dir: &Target, name: Name<'_>) -> Result<(), Error> {
        if !self.server.v4.state.has_delegations() {
            return Ok(());
        }
        match dir.vfs().lookup(&dir.cx(), &dir.handle, name) {
            Ok(node) => self.before(Change::Names, &dir.clone().with_handle(node.handle)),
            Err(Error::WouldBlock) => Err(Error::WouldBlock),
            // What is wrong with it will be told by what comes next.
            Err(_) => Ok(()),
        }
    }
}

impl Compound<'_> {
    /// Has a file given back by others before this client changes it.
    pub(crate) fn before(&self, change: Change, file: &FileKey) -> Result<(), Fault> {
        let v4 = &self.call.server.v4;
        v4.may_ask_back(self.call.wait, change, file)?;
        v4.patiently(self.call.wait, file, || v4.before(change, file, self.sender()))
    }

    /// The same for the file that a name leads to, if it leads to one.
    pub(crate) fn before_names(&self, dir: &Target, name: Name<'_>) -> Result<(), Fault> {
        if !self.call.server.v4.state.has_delegations() {
            return Ok(());
        }
        match dir.vfs().lookup(&dir.cx(), &dir.handle, name) {
            Ok(node) => {
                let file = FileKey { export: dir.export().id.0, handle: node.handle };
                self.before(Change::Names, &file)
            }
            Err(Error::WouldBlock) => Err(Error::WouldBlock.into()),
            // What is wrong with it will be told by what comes next.
            Err(_) => Ok(()),
        }
    }

    /// Puts what the holder of a write delegation says in place of what the file system says.
    pub(crate) fn ask_holder(
        &self,
        file: &Target,
        wanted: &Bitmap,
        attr: &mut Attr,
    ) -> Result<(), Fault> {
        if (*wanted & HOLDERS).is_empty() {
            return Ok(());
        }
        let (v4, key) = (&self.call.server.v4, file.key());
        let Some(holder) = v4.state.write_holder(self.sender(), &key) else { return Ok(()) };
        if self.call.wait == Wait::Never {
            return Err(Error::WouldBlock.into());
        }
        let Some(there) = v4.ask(holder.client, key) else {
            // Who does not answer has to give it back.
            self.before(Change::Read, &key)?;
            return Err(Status::Delay.into());
        };
        let here = Attributes { change: attr.change, size: attr.size };
        if let Some(told) = v4.state.told_by_holder(&key, &holder.stateid, here, there) {
            attr.change = told.change;
            attr.size = told.size;
        }
        Ok(())
    }
}
