//! NFSv4: from a path to its handle, name by name from the server's root on.

use hayase_proto::nfs4::{Attr, Attrs, Bitmap, GetAttrArgs, GetFhArgs, LookupArgs};
use hayase_xdr::Opaque;

use super::client::Client;
use super::recovery::put;
use crate::wire::Failure;
use crate::{Error, FileHandle, Transfer};

/// What is asked for of the directory that is mounted.
const LIMITS: Bitmap = Bitmap::of(&[Attr::LeaseTime, Attr::MaxRead, Attr::MaxWrite]);

impl Client {
    /// The handle of a path.
    pub(super) fn walk(&mut self, path: &str) -> Result<FileHandle, Error> {
        let mut dir = FileHandle::ROOT;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let server = self.caller.server();
            let step = |why| {
                let why = Box::new(why);
                Error::Path { path: name.to_owned(), server, why }
            };
            dir = self.look_up(&dir, name).map_err(step)?;
        }
        Ok(dir)
    }

    fn look_up(&mut self, dir: &FileHandle, name: &str) -> Result<FileHandle, Error> {
        let operation = "LOOKUP";
        let answer = self.run(operation, |ops| {
            put(dir, ops);
            ops.push(&LookupArgs { objname: Opaque(name.as_bytes()) }).push(&GetFhArgs);
        })?;
        let mut results = answer.results();
        let found = results
            .on(dir)
            .and_then(|()| results.ok::<LookupArgs<'_>, _, _>())
            .and_then(|()| results.last::<GetFhArgs, _, _>())
            .and_then(|handle| FileHandle::try_from(handle).map_err(Failure::from));
        found.map_err(|failure| self.failed(operation, failure))
    }

    /// What one call can carry; also learns how long a lease is.
    pub(super) fn limits(&mut self, root: &FileHandle) -> Result<Transfer, Error> {
        let operation = "GETATTR";
        let answer = self.run(operation, |ops| {
            put(root, ops);
            ops.push(&GetAttrArgs { attr_request: LIMITS });
        })?;
        let mut results = answer.results();
        let told = results.on(root).and_then(|()| results.last::<GetAttrArgs, _, _>());
        let attrs = told.and_then(|fattr| Ok(Attrs::try_from(fattr)?));
        let attrs = attrs.map_err(|failure| self.failed(operation, failure))?;
        if let Some(seconds) = attrs.lease_time {
            self.lease = std::time::Duration::from_secs(seconds.max(1).into());
        }
        let limit = |attr: Option<u64>, channel: u32| {
            let told = attr.map_or(self.wish, |max| u32::try_from(max).unwrap_or(u32::MAX));
            told.min(self.wish).min(channel)
        };
        Ok(Transfer {
            read_max: limit(attrs.maxread, self.reply_max),
            write_max: limit(attrs.maxwrite, self.call_max),
        })
    }
}
