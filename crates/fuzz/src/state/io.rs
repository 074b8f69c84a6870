//! READ and WRITE, with and without state.

use hayase_proto::nfs4::{PutFhArgs, ReadArgs, Res4, StableHow, StateId, Status, WriteArgs};
use hayase_xdr::Opaque;

use super::Run;
use super::lent::Intrusion;
use super::world::NAMES;

impl Run<'_> {
    /// With one of the client's stateids.
    pub(super) fn io(&mut self, who: usize) {
        let write = self.choices.one_in(2);
        // File, stateid, and whether it allows this.
        let mut all: Vec<(usize, StateId, Result<(), Status>)> = Vec::new();
        for (at, file) in self.model.files.iter().enumerate() {
            let by_open = |open: &super::model::Open| {
                let others_deny = file
                    .opens
                    .iter()
                    .any(|other| other.stateid.other != open.stateid.other && other.deny & 1 != 0);
                match (write, open.access) {
                    (true, 1) => Err(Status::OpenMode),
                    (false, 2) if others_deny => Err(Status::Locked),
                    _ => Ok(()),
                }
            };
            for open in file.opens.iter().filter(|open| open.client == who) {
                all.push((at, open.stateid, by_open(open)));
            }
            for locks in file.locks.iter().filter(|locks| locks.client == who) {
                let open = file.opens.iter().find(|o| o.client == who && o.owner == locks.open);
                all.push((at, locks.stateid, by_open(open.expect("locks have an open"))));
            }
            for lent in file.lent.iter().filter(|lent| lent.client == who) {
                let allowed = if write && !lent.write { Err(Status::OpenMode) } else { Ok(()) };
                all.push((at, lent.stateid, allowed));
            }
        }
        if all.is_empty() {
            return self.io_without_state(who);
        }
        let (file, stateid, allowed) = self.choices.pick(&all);
        let (stateid, fault) = self.some_seqid(who, stateid);
        let expected = fault.map_or(allowed, Err);
        self.try_io(who, file, stateid, write, expected.map(|()| Intrusion::default()));
    }

    /// With a special stateid.
    pub(super) fn io_without_state(&mut self, who: usize) {
        self.ready(who);
        let file = self.choices.below(NAMES.len());
        let write = self.choices.one_in(3);
        let bypass = self.choices.one_in(3);
        let stateid = if bypass { StateId::READ_BYPASS } else { StateId::ANONYMOUS };
        // Who speaks is heard before what it says is judged.
        if self.send(who, false, |_| {}).is_none() {
            return;
        }
        let expected = self.expect_special(who, file, write, bypass && !write);
        self.try_io(who, file, stateid, write, expected);
    }

    fn expect_special(
        &self,
        who: usize,
        file: usize,
        write: bool,
        bypass: bool,
    ) -> Result<Intrusion, Status> {
        if self.model.grace.active && !bypass {
            return Err(Status::Grace);
        }
        // NFSv4.0 does not say who it is.
        let by = (self.clients[who].minor > 0).then_some(who);
        let mut intrusion = self.intrude(by, file, write);
        if !bypass {
            let bit = if write { 2 } else { 1 };
            for open in self.model.files[file].opens.iter().filter(|open| open.deny & bit != 0) {
                if !self.clients[open.client].is_courteous(self.world.now()) {
                    return Err(Status::Locked);
                }
                intrusion.expelled.push(open.client);
            }
        }
        Ok(intrusion)
    }

    fn try_io(
        &mut self,
        who: usize,
        file: usize,
        stateid: StateId,
        write: bool,
        expected: Result<Intrusion, Status>,
    ) {
        let handle = self.model.files[file].handle.clone();
        self.model.writes += 1;
        let data = self.model.writes.to_be_bytes();
        let answer = self.send(who, false, |writer| {
            writer.push(&PutFhArgs { object: Opaque(&handle) });
            if write {
                let stable = StableHow::FileSync;
                writer.push(&WriteArgs { stateid, offset: 0, stable, data: Opaque(&data) });
            } else {
                writer.push(&ReadArgs { stateid, offset: 0, count: 16 });
            }
        });
        let Some(answer) = answer else { return };
        let expected = expected.and_then(|intrusion| {
            self.expel(&intrusion.expelled);
            if intrusion.recalled.is_empty() {
                return Ok(());
            }
            self.note_recalled(file, &intrusion.recalled);
            Err(Status::Delay)
        });
        assert_eq!(answer.status(), expected, "of client {who}, write {write}, {stateid:?}");
        if expected.is_err() {
            return;
        }
        if write {
            self.model.files[file].content = data.to_vec();
        } else if let Some(Res4::Ok(read)) = answer.result::<ReadArgs>() {
            assert_eq!(read.data.0, self.model.files[file].content, "the content");
        }
    }
}
