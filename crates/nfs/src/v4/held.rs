//! Files that are lent to clients: who does something to them first gets them back, and who
//! asks about them asks their holder (RFC 8881 §10.4).

use hayase_proto::nfs4::{Attr as WireAttr, Bitmap, Status};
use hayase_state::{Attributes, Change, ClientId, FileKey};
use hayase_vfs::{Attr, Error, Name, Wait};

use super::compound::Compound;
use super::fault::Fault;
use super::setup::Shared;
use crate::call::{Call, Target};

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

impl Call<'_> {
    /// Has a file given back before a client that knows nothing of delegations uses it.
    pub(crate) fn before(&self, change: Change, file: &Target) -> Result<(), Error> {
        self.server.v4.before(change, &file.key(), None).map_err(|_| Error::Delay)
    }

    /// The same for the file that a name leads to, if it leads to one.
    pub(crate) fn before_names(&self, dir: &Target, name: Name<'_>) -> Result<(), Error> {
        if !self.server.v4.delegations {
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
        self.call.server.v4.before(change, file, self.sender())
    }

    /// The same for the file that a name leads to, if it leads to one.
    pub(crate) fn before_names(&self, dir: &Target, name: Name<'_>) -> Result<(), Fault> {
        if !self.call.server.v4.delegations {
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
