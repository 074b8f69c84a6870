//! From requests to calls: what is sent when, where and with which state.

use std::time::{Duration, Instant};

use hayase_proto::nfs4::StateId;
use hayase_rpc::record::{begin, end};
use hayase_xdr::padding;

use super::call::{Call, State};
use super::connection::Connection;
use super::input::DIRECT_FROM;
use super::{Core, Lane, RECOVERY_PAUSE, SLOW_TICK, TICK};
use crate::file::OpenState;
use crate::request::Full;
use crate::wire::Terms;
use crate::{Error, Reply, Request, Version};

impl Lane {
    /// Makes calls of requests, as far as there are connections and slots.
    pub(super) fn dispatch(&mut self) {
        let Lane { connections, core, .. } = self;
        if core.no_session || core.lost_state.is_some() {
            return;
        }
        for (number, connection) in connections.iter_mut().enumerate() {
            while connection.socket().is_some()
                && let Some(place) = connection.resend.pop_front()
            {
                if let Some(call) = core.calls.get_mut(place) {
                    call.resent += 1;
                    call.again = Some(Instant::now());
                    call.twice = true;
                    core.transmit(place, connection, number);
                }
            }
        }
        while let Some(&place) = core.queue.front() {
            let Some(number) = least_busy(connections, core.last) else { return };
            if !core.make_call(place) {
                return;
            }
            core.queue.pop_front();
            core.last = number;
            core.transmit(place, &mut connections[number], number);
        }
    }
}

/// The connection with the fewest calls under way, taking turns among equals.
fn least_busy(connections: &[Connection], last: usize) -> Option<usize> {
    if let [only] = connections {
        return only.socket().map(|_| 0);
    }
    let count = connections.len();
    (last + 1..=last + count)
        .map(|number| number % count)
        .filter(|number| connections[*number].socket().is_some())
        .min_by_key(|number| connections[*number].in_flight)
}

impl Core {
    pub(super) fn submit(&mut self, token: u64, request: Request) -> Result<(), Full> {
        if self.calls.is_full() {
            return Err(Full(Box::new(request)));
        }
        let call = Call::new(token, request, self.shared.options().timeout);
        let result = match self.check(&call.request) {
            Ok(false) => {
                if let Some(place) = self.calls.insert(call) {
                    self.queue.push_back(place);
                }
                return Ok(());
            }
            Ok(true) => Ok(Reply::Done),
            Err(error) => Err(error),
        };
        let now = call.submitted;
        self.finished.push(call.finish(result, now));
        Ok(())
    }

    /// Fails for what cannot be sent. True for what need not be.
    fn check(&self, request: &Request) -> Result<bool, Error> {
        let limits = self.shared.limits();
        let (len, room, max) = match request {
            Request::Read { len, buffer, .. } => (*len, buffer.len(), limits.read_max),
            Request::Write { len, buffer, .. } => (*len, buffer.len(), limits.write_max),
            Request::Close { file } => {
                return Ok(self.shared.version() == Version::V3 || file.state.id == 0);
            }
            _ => return Ok(false),
        };
        let operation = request.operation();
        if len as usize > room {
            let max = u32::try_from(room).unwrap_or(u32::MAX);
            return Err(Error::TooLong { operation, len, max, of_buffer: true });
        }
        if len > max {
            return Err(Error::TooLong { operation, len, max, of_buffer: false });
        }
        Ok(false)
    }

    /// Gives a request an xid and, in a session, a slot. False if there is none. What has a slot keeps it.
    fn make_call(&mut self, place: u32) -> bool {
        if self.calls.get(place).is_some_and(|call| call.sequence.is_some()) {
            return true;
        }
        let sequence = match &mut self.slots {
            None => None,
            Some(slots) => match slots.take() {
                Some(sequence) => Some(sequence),
                None => return false,
            },
        };
        let xid = self.calls.next_xid(place);
        if let Some(call) = self.calls.get_mut(place) {
            call.xid = xid;
            call.sequence = sequence;
            call.again = None;
        }
        true
    }

    /// Queues a call on a connection.
    fn transmit(&mut self, place: u32, connection: &mut Connection, number: usize) {
        let terms = match self.terms(place) {
            Ok(terms) => terms,
            Err(error) => {
                self.release(place, true);
                self.finish(place, Err(error), Instant::now());
                return;
            }
        };
        let Some(call) = self.calls.get_mut(place) else { return };
        call.state = State::Sent(number);
        connection.in_flight += 1;
        if call.read_len().is_some_and(|len| len >= DIRECT_FROM) {
            connection.bulk += 1;
        }
        let (payload_len, codec) = (call.payload().len(), &self.codec);
        connection.output.push(place, payload_len, |to| {
            let start = begin(to);
            codec.encode(&call.request, &call.step, &terms, to);
            let len = to.len() - start + payload_len + padding(payload_len);
            end(to, start, len);
        });
    }

    /// What a call says besides its request. Fails if the file's state is lost for good.
    fn terms(&mut self, place: u32) -> Result<Terms, Error> {
        let version = self.shared.version();
        let Some(call) = self.calls.get_mut(place) else { return Ok(Terms::default()) };
        let mut terms = Terms { xid: call.xid, sequence: call.sequence, ..Terms::default() };
        if version == Version::V3 {
            return Ok(terms);
        }
        let operation = call.request.operation();
        call.epoch = self.shared.epoch();
        match &call.request {
            Request::Open { .. } => {
                let shared = &self.shared;
                terms.owner = *call.owner.get_or_insert_with(|| shared.take_owner());
                terms.clientid = shared.client_id();
            }
            Request::Close { file } => {
                let (stateid, owner) = self
                    .shared
                    .open_state(file.state.id)
                    .map_err(|status| Error::Status { operation, status })?;
                (terms.stateid, terms.owner) = (stateid, owner);
            }
            Request::Read { file, .. }
            | Request::Write { file, .. }
            | Request::Truncate { file, .. } => {
                let state = file.state;
                terms.stateid =
                    self.stateid(&state).map_err(|status| Error::Status { operation, status })?;
            }
            _ => {}
        }
        Ok(terms)
    }

    /// The stateid of an open, as of the last recovery.
    fn stateid(&mut self, state: &OpenState) -> Result<StateId, crate::Status> {
        let epoch = self.shared.epoch();
        if state.id == 0 || state.epoch == epoch {
            return Ok(state.stateid);
        }
        if self.recovered_epoch != epoch {
            self.recovered.clear();
            self.recovered_epoch = epoch;
        }
        if let Some(stateid) = self.recovered.get(&state.id) {
            return Ok(*stateid);
        }
        let (stateid, _) = self.shared.open_state(state.id)?;
        self.recovered.insert(state.id, stateid);
        Ok(stateid)
    }

    /// How long to wait at most before the clock is looked at.
    pub(super) fn tick(&self, connections: &[Connection]) -> Duration {
        let all_up = connections.iter().all(|connection| connection.socket().is_some());
        let calm = all_up && self.paused == 0 && !self.no_session && self.lost_state.is_none();
        if calm { SLOW_TICK } else { TICK }
    }

    /// Queues again what has waited long enough.
    pub(super) fn resume(&mut self, now: Instant) {
        if self.paused == 0 {
            return;
        }
        let due: Vec<_> = self.calls.due(now).collect();
        for place in due {
            self.paused -= 1;
            self.requeue(place);
        }
    }

    /// Puts a request among those to be sent.
    pub(super) fn requeue(&mut self, place: u32) {
        if let Some(call) = self.calls.get_mut(place) {
            call.state = State::Queued;
            call.resent += 1;
            self.queue.push_back(place);
        }
    }

    /// Gets back what the server has lost, if it has.
    pub(super) fn recover(&mut self, now: Instant) {
        if !self.no_session && self.lost_state.is_none() || now < self.recover_at {
            return;
        }
        let recovered = self.try_recover();
        if let Err(error) = recovered {
            self.problem = Some(error.to_string());
            self.recover_at = Instant::now() + RECOVERY_PAUSE;
        }
    }

    fn try_recover(&mut self) -> Result<(), Error> {
        if let Some(epoch) = self.lost_state {
            self.shared.recover(epoch)?;
            self.lost_state = None;
        }
        if self.no_session {
            // A server lets a client have so many sessions: one that has only lost its slots still counts.
            if let Some(slots) = self.slots.take() {
                self.shared.close_session(slots.session());
            }
            self.slots = self.shared.open_session(self.calls.depth() as u32)?;
            self.no_session = false;
        }
        Ok(())
    }
}
