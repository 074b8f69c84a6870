//! From replies to what comes of requests.

use std::time::{Duration, Instant};

use hayase_proto::nfs4::{SequenceResOk, Status as Status4, seq4_status};
use hayase_xdr::padding;

use super::Core;
use super::call::{Call, State};
use super::connection::Connection;
use super::input::{Arrival, DIRECT_FROM, Nonsense};
use crate::wire::{Failure, Head, NewOpen, Outcome, ReadHead, Sequence, Step};
use crate::{Error, OpenFile, Reply, Request, Status, Version};

/// How long a server that asks for patience is left alone: at first, and at most.
const PAUSE: Duration = Duration::from_millis(15);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// How often a server that may have a call twice may ask for patience before that is taken to be its answer.
const UNCOUNTED_PAUSES: u32 = 5;
/// How often a request's state is recovered before its failure is believed.
const RECOVERIES: u32 = 3;

impl Core {
    /// Takes the replies that have arrived on a connection. Fails if it cannot be used any more.
    pub(super) fn take_replies(
        &mut self,
        connection: &mut Connection,
        number: usize,
        now: Instant,
    ) -> Result<(), String> {
        loop {
            let arrival = connection.input.next(&mut self.calls, &self.codec, number);
            let (place, answer) = match arrival {
                Ok(None) => return Ok(()),
                Ok(Some(Arrival::Record(place, record))) => {
                    (place, self.read_record(place, record))
                }
                Ok(Some(Arrival::Data(place, head))) => {
                    if let Some(call) = self.calls.get_mut(place) {
                        call.server = head.timing;
                    }
                    (place, Answer::data(head))
                }
                Err(Nonsense { place, what }) => {
                    if let Some(place) = place {
                        self.refuse(place, what.clone(), now);
                    }
                    return Err(what);
                }
            };
            connection.in_flight = connection.in_flight.saturating_sub(1);
            let asked = self.calls.get(place).and_then(Call::read_len);
            if asked.is_some_and(|len| len >= DIRECT_FROM) {
                connection.bulk = connection.bulk.saturating_sub(1);
            }
            connection.works();
            self.on_answer(place, answer, now)?;
        }
    }

    /// Reads a whole reply. The data of a READ is copied to its buffer.
    fn read_record(&mut self, place: u32, record: &[u8]) -> Answer {
        let Some(call) = self.calls.get_mut(place) else { return Answer::Garbled(String::new()) };
        call.server = self.codec.timing(record);
        let garbled = |error: hayase_xdr::Error| Answer::Garbled(error.to_string());
        let sequence = call.sequence.filter(|_| call.step != Step::Bind);
        if let Some(asked) = call.read_len() {
            match self.codec.read_head(record, &call.request, sequence.as_ref()) {
                Ok(Some(head)) => {
                    let count = head.count as usize;
                    if head.count > asked {
                        return Answer::Garbled(format!("{count} bytes were not asked for"));
                    }
                    if record.len() != head.data_at + count + padding(count) {
                        return Answer::Garbled(format!("it does not have {count} bytes of data"));
                    }
                    if let Some(buffer) = call.read_buffer() {
                        buffer[..count].copy_from_slice(&record[head.data_at..][..count]);
                    }
                    return Answer::data(head);
                }
                Ok(None) => {}
                Err(error) => return garbled(error),
            }
        }
        match self.codec.open(record, &call.request, sequence.as_ref()) {
            Ok(Head::Results(told, results)) => {
                let outcome = self.codec.decode(&call.request, &call.step, results);
                Answer::Results(told, outcome)
            }
            Ok(Head::NoSequence(status)) => Answer::NoSequence(status),
            Ok(Head::NoCompound(status)) => Answer::NoCompound(status),
            Ok(Head::Refused(refusal)) => Answer::Refused(refusal),
            Err(error) => garbled(error),
        }
    }

    fn on_answer(&mut self, place: u32, answer: Answer, now: Instant) -> Result<(), String> {
        match answer {
            Answer::Results(_, outcome) if self.binds(place) => self.on_bound(place, outcome),
            Answer::NoCompound(status) if self.binds(place) => {
                self.on_bound(place, Err(status.into()));
            }
            Answer::Results(told, outcome) => {
                self.release(place, false);
                if let Some(told) = told {
                    self.heed(place, &told);
                }
                self.on_outcome(place, outcome, now);
            }
            Answer::NoSequence(status) => self.on_no_sequence(place, status, now),
            Answer::NoCompound(status) => {
                self.release(place, true);
                self.on_outcome(place, Err(status.into()), now);
            }
            Answer::Refused(refusal) => {
                self.release(place, true);
                let (server, operation) = (self.shared.address(), self.operation(place));
                let error = Error::Refused { server, operation, refusal };
                self.finish(place, Err(error), now);
            }
            Answer::Garbled(why) => {
                let what = format!("its reply to {} cannot be read: {why}", self.operation(place));
                self.refuse(place, what.clone(), now);
                return Err(what);
            }
        }
        Ok(())
    }

    fn on_outcome(&mut self, place: u32, outcome: Result<Outcome, Failure>, now: Instant) {
        let Some(call) = self.calls.get_mut(place) else { return };
        match outcome {
            Ok(Outcome::Reply(reply)) => {
                if let (Reply::Done, Request::Close { file }) = (&reply, &call.request) {
                    self.shared.closed(file.state.id);
                }
                self.finish(place, Ok(reply), now);
            }
            Ok(Outcome::Open(open)) => self.on_opened(place, open, now),
            Ok(Outcome::Next(step)) => {
                if let (Step::Confirm(_), Some(owner)) = (&step, &mut call.owner) {
                    owner.seqid = owner.seqid.wrapping_add(1);
                }
                call.step = step;
                call.state = State::Queued;
                self.queue.push_front(place);
            }
            Err(Failure::Early(status)) => self.on_status(place, status, now),
            Err(Failure::Status(status)) => {
                self.count_failure(place, status);
                self.on_status(place, status, now);
            }
            Err(Failure::Broken(error)) => {
                let what =
                    format!("its reply to {} cannot be read: {error}", self.operation(place));
                let error = Error::Protocol { server: self.shared.address(), what };
                self.finish(place, Err(error), now);
            }
        }
    }

    fn on_opened(&mut self, place: u32, open: NewOpen, now: Instant) {
        let Some(call) = self.calls.get_mut(place) else { return };
        let NewOpen { handle, stateid, attributes } = open;
        let file = match (&call.request, call.owner.take()) {
            (Request::Open { dir, name, how }, Some(mut owner)) => {
                owner.seqid = owner.seqid.wrapping_add(1);
                let at = (dir.clone(), name.clone());
                self.shared.opened(handle, at, how.access, stateid, owner, call.epoch)
            }
            _ => OpenFile::anonymous(handle),
        };
        let opened = crate::Opened { file, attributes };
        self.finish(place, Ok(Reply::Opened(Box::new(opened))), now);
    }

    /// The server refuses an operation, for good or for now.
    fn on_status(&mut self, place: u32, status: Status, now: Instant) {
        let version = self.shared.version();
        let Some(call) = self.calls.get_mut(place) else { return };
        match Kind::of(status) {
            Kind::Patience => self.pause(place, status, now),
            // Where SEQUENCE is the one to say so, it comes to the same.
            Kind::Uncached => self.requeue(place),
            Kind::State if version != Version::V3 && call.recoveries < RECOVERIES => {
                call.recoveries += 1;
                let epoch = call.epoch;
                if epoch == self.shared.epoch() {
                    self.lost_state = Some(epoch);
                }
                self.problem = Some(status.to_string());
                self.requeue(place);
            }
            Kind::State | Kind::Final => {
                let operation = call.request.operation();
                self.finish(place, Err(Error::Status { operation, status }), now);
            }
        }
    }

    /// NFSv4.0: an OPEN or CLOSE that failed may have moved its owner's sequence on (RFC 7530 §9.1.7).
    fn count_failure(&mut self, place: u32, status: Status) {
        if self.shared.version() != Version::V40 {
            return;
        }
        let Some(call) = self.calls.get_mut(place) else { return };
        // A server may say so of what it is working on already, and then does not count it.
        let asked_twice = call.twice && matches!(Kind::of(status), Kind::Patience);
        if asked_twice && call.pauses < UNCOUNTED_PAUSES {
            return;
        }
        match &call.request {
            // Owners are cheap: the next attempt is another's.
            Request::Open { .. } => {
                call.owner = None;
                call.step = Step::First;
            }
            Request::Close { file } if moves_sequence(status) => {
                self.shared.close_failed(file.state.id);
            }
            _ => {}
        }
    }

    fn on_no_sequence(&mut self, place: u32, status: Status4, now: Instant) {
        let Some(call) = self.calls.get_mut(place) else { return };
        let Some(sequence) = call.sequence else { return };
        self.problem = Some(format!("SEQUENCE: {status}"));
        match status {
            // As it is, since it may be running already: a server says so of what is sent again too soon.
            Status4::Delay => self.pause(place, status.into(), now),
            // It keeps its slot, which the server has not counted.
            Status4::ConnNotBoundToSession if call.recoveries < RECOVERIES => {
                call.recoveries += 1;
                self.take_step(place, Step::Bind);
            }
            Status4::BadSession
            | Status4::DeadSession
            | Status4::SeqMisordered
            | Status4::SeqFalseRetry
            | Status4::ConnNotBoundToSession
            | Status4::StaleClientId => self.leave_session(place, &sequence),
            Status4::BadSlot | Status4::BadHighSlot => {
                self.retire(place);
                self.no_session |= self.slots.as_ref().is_some_and(|slots| slots.usable() == 0);
                self.requeue(place);
            }
            // It was done, and nothing is left of its reply; whose reply matters is kept, so that doing it again does
            // no harm.
            Status4::RetryUncachedRep => {
                self.release(place, false);
                self.requeue(place);
            }
            other => {
                self.release(place, true);
                let (operation, status) = (self.operation(place), other.into());
                self.finish(place, Err(Error::Status { operation, status }), now);
            }
        }
    }

    fn binds(&self, place: u32) -> bool {
        self.calls.get(place).is_some_and(|call| call.step == Step::Bind)
    }

    /// The connection is bound, and the request can be made; or the session is of no use.
    fn on_bound(&mut self, place: u32, outcome: Result<Outcome, Failure>) {
        let sequence = self.calls.get(place).and_then(|call| call.sequence);
        self.take_step(place, Step::First);
        if let (Err(failure), Some(sequence)) = (outcome, sequence) {
            self.problem = Some(format!("BIND_CONN_TO_SESSION: {failure:?}"));
            self.no_session |= self.slots.as_ref().is_some_and(|s| s.session() == sequence.session);
            self.retire(place);
        }
    }

    /// Queues another call of a request, which keeps its slot.
    fn take_step(&mut self, place: u32, step: Step) {
        let xid = self.calls.next_xid(place);
        if let Some(call) = self.calls.get_mut(place) {
            (call.step, call.xid) = (step, xid);
        }
        self.requeue(place);
    }

    /// A call's session is of no use any more; the call is made in another.
    fn leave_session(&mut self, place: u32, sequence: &Sequence) {
        let slots = self.slots.as_ref();
        if slots.is_some_and(|slots| slots.session() == sequence.session) {
            self.no_session = true;
        }
        self.retire(place);
        self.requeue(place);
    }

    /// Heeds what SEQUENCE answered.
    fn heed(&mut self, place: u32, told: &SequenceResOk) {
        if let Some(slots) = &mut self.slots {
            slots.heed(told);
        }
        if told.status_flags & seq4_status::RESTART_RECLAIM_NEEDED != 0 {
            let epoch = self.calls.get(place).map_or(0, |call| call.epoch);
            if epoch == self.shared.epoch() {
                self.lost_state = Some(epoch);
            }
        }
    }

    /// Leaves the server alone for a while before a request is made again.
    fn pause(&mut self, place: u32, status: Status, now: Instant) {
        self.problem = Some(format!("it asks for patience: {status}"));
        if let Some(call) = self.calls.get_mut(place) {
            let pause = (PAUSE * 2_u32.saturating_pow(call.pauses.min(8))).min(PAUSE_MAX);
            call.pauses += 1;
            call.state = State::Paused(now + pause);
            self.paused += 1;
        }
    }

    /// Gives back a call's slot; `unused` if the server has not counted it.
    pub(super) fn release(&mut self, place: u32, unused: bool) {
        if let Some(call) = self.calls.get_mut(place)
            && let (Some(sequence), Some(slots)) = (call.sequence.take(), &mut self.slots)
        {
            if unused {
                slots.give_unused(&sequence);
            } else {
                slots.give(&sequence);
            }
        }
    }

    /// Gives up a call's slot.
    fn retire(&mut self, place: u32) {
        if let Some(call) = self.calls.get_mut(place)
            && let (Some(sequence), Some(slots)) = (call.sequence.take(), &mut self.slots)
        {
            slots.retire(&sequence);
            self.no_session |= slots.usable() == 0;
        }
    }

    /// Fails a request whose reply makes no sense.
    fn refuse(&mut self, place: u32, what: String, now: Instant) {
        self.retire(place);
        let error = Error::Protocol { server: self.shared.address(), what };
        self.finish(place, Err(error), now);
    }

    /// Fails a request that has taken too long.
    pub(super) fn give_up(&mut self, place: u32, now: Instant) {
        let Some(call) = self.calls.get(place) else { return };
        match call.state {
            State::Paused(_) => self.paused -= 1,
            State::Queued => self.queue.retain(|other| *other != place),
            State::Sent(_) | State::Resend(_) => {}
        }
        let after = now.saturating_duration_since(call.submitted);
        let operation = call.request.operation();
        let (server, problem) = (self.shared.address(), self.problem.clone());
        self.retire(place);
        self.finish(place, Err(Error::Timeout { server, operation, after, problem }), now);
    }

    pub(super) fn finish(&mut self, place: u32, result: Result<Reply, Error>, now: Instant) {
        if let Some(call) = self.calls.remove(place) {
            self.finished.push(call.finish(result, now));
        }
    }

    fn operation(&self, place: u32) -> &'static str {
        self.calls.get(place).map_or("a call", |call| call.request.operation())
    }
}

/// A reply, read.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it is made and taken apart on the stack")]
enum Answer {
    /// It got as far as the request's own operations. In a session, also what SEQUENCE answered.
    Results(Option<SequenceResOk>, Result<Outcome, Failure>),
    NoSequence(Status4),
    NoCompound(Status4),
    Refused(hayase_rpc::Refusal),
    /// It cannot be read, and so the rest of the connection cannot be trusted either.
    Garbled(String),
}

impl Answer {
    /// That of a READ whose data is in its buffer.
    fn data(head: ReadHead) -> Self {
        let ReadHead { sequence, count, eof, .. } = head;
        Answer::Results(sequence, Ok(Outcome::Reply(Reply::Read { count, eof })))
    }
}

/// Whether an operation that failed so was counted by its owner's sequence (RFC 7530 §9.1.7).
fn moves_sequence(status: Status) -> bool {
    !matches!(
        Status4::try_from(status.number()),
        Ok(Status4::StaleClientId
            | Status4::StaleStateId
            | Status4::BadStateId
            | Status4::BadSeqId
            | Status4::BadXdr
            | Status4::Resource
            | Status4::NoFileHandle)
    )
}

/// What a refusal means to the client.
enum Kind {
    /// To be asked again later.
    Patience,
    /// The server does not know the state any more.
    State,
    /// It was done before, and the server has not kept the reply.
    Uncached,
    Final,
}

impl Kind {
    fn of(status: Status) -> Self {
        let Ok(status) = Status4::try_from(status.number()) else { return Kind::Final };
        match status {
            // The first is NFSv3's JUKEBOX, too.
            Status4::Delay | Status4::Grace => Kind::Patience,
            Status4::RetryUncachedRep => Kind::Uncached,
            Status4::StaleClientId
            | Status4::StaleStateId
            | Status4::BadStateId
            | Status4::OldStateId
            | Status4::Expired
            | Status4::AdminRevoked
            | Status4::DelegRevoked => Kind::State,
            _ => Kind::Final,
        }
    }
}
