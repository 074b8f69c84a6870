//! LOCKU.

use hayase_proto::nfs4::{LockType, LockUArgs, PutFhArgs, Res4, StateId};
use hayase_xdr::Opaque;

use super::Run;
use super::client::Counts;

impl Run<'_> {
    pub(super) fn unlock(&mut self, who: usize) {
        let all = self.model.locks_of(who);
        if all.is_empty() {
            return self.lock(who);
        }
        let (file, at) = self.choices.pick(&all);
        let locks = self.model.files[file].locks[at].clone();
        let range = self.some_range();
        let (offset, length) = range.on_wire();
        let (lock_stateid, fault) = self.some_seqid(who, locks.stateid);
        let seqid = self.clients[who].next_seqid(Counts::Lock(locks.owner));
        let handle = self.model.files[file].handle.clone();
        let answer = self.send(who, fault.is_none(), |writer| {
            let locktype = LockType::Write;
            writer.push(&PutFhArgs { object: Opaque(&handle) }).push(&LockUArgs {
                locktype,
                seqid,
                lock_stateid,
                offset,
                length,
            });
        });
        let Some(answer) = answer else { return };
        self.count(who, Counts::Lock(locks.owner), seqid, answer.status());
        assert_eq!(answer.status(), fault.map_or(Ok(()), Err), "LOCKU of client {who}");
        if let Some(Res4::Ok(new)) = answer.result::<LockUArgs>() {
            assert_eq!(new, StateId { seqid: locks.stateid.seqid + 1, ..locks.stateid });
            let locks = &mut self.model.files[file].locks[at];
            locks.stateid = new;
            locks.bytes[range.first..range.first + range.count].fill(None);
        }
    }
}
