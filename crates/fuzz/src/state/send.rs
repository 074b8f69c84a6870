//! Requests and their answers: what holds whatever they mean.

use hayase_proto::nfs4::{
    CompoundReply, CompoundWriter, NfsStat, Operation, RenewArgs, Res4, SequenceArgs, Status,
    seq4_status,
};
use hayase_rpc::decode_reply;
use hayase_xdr::Reader;

use super::Run;
use super::client::{Last, SLOTS};

/// The result of a compound.
pub(super) struct Answer {
    pub(super) result: Vec<u8>,
}

impl Answer {
    /// Reads the reply to a record; it has to be whole.
    pub(super) fn new(record: &[u8], reply: &[u8]) -> Self {
        let mut reader = Reader::new(reply);
        let (xid, outcome) = decode_reply(&mut reader).expect("a reply");
        assert_eq!(xid.to_be_bytes(), record[..4], "the xid");
        outcome.expect("the call is accepted");
        let answer = Answer { result: reader.rest().to_vec() };
        let mut results = answer.compound();
        let mut last = NfsStat::OK;
        for result in results.by_ref() {
            assert_eq!(last, NfsStat::OK, "results after a failure");
            last = result.expect("a result").status;
        }
        assert_eq!(results.status, last, "the status of the last operation");
        answer
    }

    fn compound(&self) -> CompoundReply<'_> {
        CompoundReply::decode(&mut Reader::new(&self.result)).expect("the head of a result")
    }

    /// The status of the last operation that ran.
    pub(super) fn status(&self) -> Result<(), Status> {
        self.compound().status.status().map_or(Ok(()), Err)
    }

    /// The result of an operation, if it ran.
    pub(super) fn result<O: Operation<Ops = hayase_proto::nfs4::Op>>(&self) -> Option<O::Res<'_>> {
        self.compound().find_map(|result| result.ok()?.decode::<O>())
    }
}

impl Run<'_> {
    /// Sends operations as a client that has introduced itself. Nothing if the server does not know
    /// it (any more), as the model says; then it has to introduce itself again.
    ///
    /// The request may come twice, and is executed once. `counted` says of one of NFSv4.0 that
    /// its owner counts it.
    pub(super) fn send(
        &mut self,
        who: usize,
        counted: bool,
        ops: impl FnOnce(&mut CompoundWriter<'_>),
    ) -> Option<Answer> {
        if self.clients[who].minor == 0 {
            self.send_40(who, counted, ops)
        } else {
            self.send_41(who, ops)
        }
    }

    fn send_40(
        &mut self,
        who: usize,
        counted: bool,
        ops: impl FnOnce(&mut CompoundWriter<'_>),
    ) -> Option<Answer> {
        if !self.renew(who) {
            return None;
        }
        let mut args = Vec::new();
        let mut writer = CompoundWriter::begin(&mut args, b"", 0);
        ops(&mut writer);
        writer.finish();
        let record = self.world.record(&args);
        let answer = self.world.exchange(&self.clients[who].line, &record);
        if counted && self.choices.one_in(8) {
            let again = self.world.record(&args);
            let again = self.world.exchange(&self.clients[who].line, &again);
            assert_eq!(again.result, answer.result, "a repetition");
        }
        Some(answer)
    }

    /// RENEW: whether the server knows the client.
    fn renew(&mut self, who: usize) -> bool {
        let Some(clientid) = self.clients[who].id else { return false };
        let mut args = Vec::new();
        let mut writer = CompoundWriter::begin(&mut args, b"", 0);
        writer.push(&RenewArgs { clientid });
        writer.finish();
        let record = self.world.record(&args);
        let answer = self.world.exchange(&self.clients[who].line, &record);
        let client = &mut self.clients[who];
        let expected = match answer.status() {
            Ok(()) => client.alive,
            Err(Status::CbPathDown) => {
                client.alive && client.doubted && self.model.has_delegation(who)
            }
            Err(Status::Expired) => !client.alive && client.start == self.world.starts,
            Err(Status::StaleClientId) => !client.alive && client.start != self.world.starts,
            Err(_) => false,
        };
        assert!(expected, "RENEW: {:?}", answer.status());
        if client.alive {
            client.heard = self.world.now();
        } else {
            client.id = None;
        }
        client.alive
    }

    fn send_41(&mut self, who: usize, ops: impl FnOnce(&mut CompoundWriter<'_>)) -> Option<Answer> {
        let slot = self.choices.below(SLOTS);
        let cached = self.choices.one_in(2);
        self.disturb(who, slot);
        let client = &self.clients[who];
        let session = client.session.as_ref()?;
        let sequence = session.slots[slot].sequence + 1;
        let mut args = Vec::new();
        let mut writer = CompoundWriter::begin(&mut args, b"", client.minor);
        writer.push(&SequenceArgs {
            sessionid: session.id,
            sequenceid: sequence,
            slotid: slot as u32,
            highest_slotid: SLOTS as u32 - 1,
            cachethis: cached,
        });
        ops(&mut writer);
        writer.finish();
        let record = self.world.record(&args);
        let answer = self.world.exchange(&client.line, &record);
        if !self.check_sequence(who, &answer) {
            return None;
        }
        let result = answer.result.clone();
        if let Some(session) = &mut self.clients[who].session {
            let last = Some(Last { args, result, cached });
            session.slots[slot].sequence = sequence;
            session.slots[slot].last = last;
        }
        if self.choices.one_in(8) {
            self.repeat(who, slot);
        }
        Some(answer)
    }

    /// Whether the server knows the session; that has to be what the model says.
    fn check_sequence(&mut self, who: usize, answer: &Answer) -> bool {
        let now = self.world.now();
        let client = &mut self.clients[who];
        match answer.result::<SequenceArgs>() {
            Some(Res4::Ok(ok)) => {
                assert!(client.alive, "a session of a client that is gone");
                client.heard = now;
                let has = |flag| ok.status_flags & flag != 0;
                let revoked = !client.revoked.is_empty();
                assert_eq!(has(seq4_status::RECALLABLE_STATE_REVOKED), revoked, "flags");
                let lost = seq4_status::EXPIRED_ALL_STATE_REVOKED
                    | seq4_status::EXPIRED_SOME_STATE_REVOKED
                    | seq4_status::ADMIN_STATE_REVOKED;
                assert!(!has(lost), "flags {:x}", ok.status_flags);
                true
            }
            Some(Res4::Fail(Status::BadSession)) => {
                assert!(!client.alive, "the session of client {who} is not known");
                client.session = None;
                client.id = None;
                client.back = false;
                false
            }
            other => panic!("SEQUENCE: {other:?}"),
        }
    }

    /// A request that must not be executed, now and then.
    fn disturb(&mut self, who: usize, slot: usize) {
        if !self.choices.one_in(24) {
            return;
        }
        let client = &self.clients[who];
        let Some(session) = &client.session else { return };
        let next = session.slots[slot].sequence + 1;
        let (slotid, sequenceid, expected) = match self.choices.below(3) {
            0 => (slot as u32, next + 1, Status::SeqMisordered),
            1 => (slot as u32, next.wrapping_sub(2), Status::SeqMisordered),
            _ => (1000, next, Status::BadSlot),
        };
        let expected = if client.alive { expected } else { Status::BadSession };
        let mut args = Vec::new();
        let mut writer = CompoundWriter::begin(&mut args, b"", client.minor);
        let (sessionid, highest_slotid) = (session.id, 0);
        writer.push(&SequenceArgs {
            sessionid,
            sequenceid,
            slotid,
            highest_slotid,
            cachethis: true,
        });
        writer.finish();
        let record = self.world.record(&args);
        let answer = self.world.exchange(&client.line, &record);
        assert_eq!(answer.status(), Err(expected), "slot {slotid}, sequence {sequenceid}");
    }

    /// The last request of a slot comes again.
    pub(super) fn repeat(&mut self, who: usize, slot: usize) {
        let session = self.clients[who].session.as_ref();
        let Some(last) = session.and_then(|session| session.slots[slot].last.clone()) else {
            return;
        };
        if self.choices.one_in(4) {
            self.reconnect(who);
        }
        let record = self.world.record(&last.args);
        let answer = self.world.exchange(&self.clients[who].line, &record);
        if !self.clients[who].alive {
            assert_eq!(answer.status(), Err(Status::BadSession), "a repetition");
            return;
        }
        self.clients[who].heard = self.world.now();
        // Without operations there is nothing that could be executed twice; flags may have changed.
        let uncached = !last.cached
            && (answer.status() == Err(Status::RetryUncachedRep) || answer.compound().left() == 1);
        assert!(uncached || answer.result == last.result, "a repetition: {:?}", answer.status());
    }

    /// The last request of some slot comes again, after other things.
    pub(super) fn repeat_later(&mut self, who: usize) {
        let slot = self.choices.below(SLOTS);
        self.repeat(who, slot);
    }
}
