//! `OPEN_CONFIRM` (RFC 7530 §16.18) and `OPEN_DOWNGRADE` (RFC 8881 §18.18).

use hayase_proto::nfs4::{StateId, Status};

use super::share::Share;
use crate::stateid::{Minor, check_seqid, next_seqid};
use crate::{ClientId, FileKey, Now, State};

impl State {
    /// `OPEN_CONFIRM`, of NFSv4.0 only: the owner's opens are good from now on.
    pub fn open_confirm(
        &self,
        now: Now,
        stateid: &StateId,
        file: &FileKey,
    ) -> Result<StateId, Status> {
        let number = self.number(None, stateid)?;
        let mut shard = self.files.shard(file);
        let Some(open) = shard.file(file).and_then(|file| file.opens.get_mut(number)) else {
            drop(shard);
            return Err(self.missing(None, number));
        };
        let owner = open.sequence.as_ref().ok_or(Status::BadStateId)?;
        if owner.is_confirmed() {
            return Err(Status::BadStateId);
        }
        check_seqid(stateid.seqid, open.seqid, Minor::Zero)?;
        owner.confirm();
        open.seqid = next_seqid(open.seqid);
        open.client.renew(now);
        Ok(self.files.names.stateid(number, open.seqid))
    }

    /// `OPEN_DOWNGRADE`: leaves an open only some of its modes. Locks stay as they are, also
    /// those for writing: the server does not enforce them on I/O.
    pub fn open_downgrade(
        &self,
        now: Now,
        client: Option<ClientId>,
        stateid: &StateId,
        file: &FileKey,
        share: Share,
    ) -> Result<StateId, Status> {
        let number = self.number(client, stateid)?;
        let mut shard = self.files.shard(file);
        let Some(open) = shard.open(file, number, client, stateid.seqid) else {
            drop(shard);
            return Err(self.missing(client, number));
        };
        let open = open?;
        open.client.renew(now);
        let mut opened = open.opened;
        opened.downgrade(share, open.client.minor_version())?;
        open.seqid = next_seqid(open.seqid);
        let seqid = open.seqid;
        if let Some(file) = shard.file(file) {
            file.set_share(number, share, opened);
        }
        Ok(self.files.names.stateid(number, seqid))
    }
}
