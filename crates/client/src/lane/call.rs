//! Requests under way.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::net::random;
use crate::request::{Done, Timing};
use crate::wire::{OwnerSeq, Sequence, Step};
use crate::{Error, Reply, Request};

/// The low bits of an xid are the call's place; the rest tells the place's calls apart.
const PLACE_BITS: u32 = 12;
const PLACE_MASK: u32 = (1 << PLACE_BITS) - 1;
/// The most calls a lane can have under way.
pub(super) const PLACES: usize = 1 << PLACE_BITS;

/// How long the reply to a call that was sent again may take.
const AGAIN: Duration = Duration::from_secs(5);

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It waits for a slot or a connection.
    Queued,
    /// Its call is being sent, or its reply awaited, on this connection.
    Sent(usize),
    /// It waits to be sent again on this connection, when that is back.
    Resend(usize),
    /// It waits until the server has had its pause.
    Paused(Instant),
}

/// A request under way.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) token: u64,
    pub(super) request: Request,
    pub(super) step: Step,
    pub(super) state: State,
    pub(super) xid: u32,
    /// The slot it has; kept when it is sent again.
    pub(super) sequence: Option<Sequence>,
    /// The owner of the open that it makes or ends.
    pub(super) owner: Option<OwnerSeq>,
    /// Of which recovery the stateid is that it was sent with.
    pub(super) epoch: u64,
    pub(super) submitted: Instant,
    pub(super) sent: Option<Instant>,
    /// What the server told of its last reply.
    pub(super) server: Option<Timing>,
    pub(super) deadline: Option<Instant>,
    /// When it was sent again, since its connection was lost.
    pub(super) again: Option<Instant>,
    /// Whether it was ever sent again like that, so that the server may have it twice.
    pub(super) twice: bool,
    /// How often it was sent again.
    pub(super) resent: u32,
    /// How often the server asked for patience.
    pub(super) pauses: u32,
    /// How often its state was not known.
    pub(super) recoveries: u32,
}

impl Call {
    pub(super) fn new(token: u64, request: Request, timeout: Option<Duration>) -> Self {
        let submitted = Instant::now();
        Call {
            token,
            request,
            step: Step::First,
            state: State::Queued,
            xid: 0,
            sequence: None,
            owner: None,
            epoch: 0,
            submitted,
            sent: None,
            server: None,
            again: None,
            twice: false,
            deadline: timeout.and_then(|timeout| submitted.checked_add(timeout)),
            resent: 0,
            pauses: 0,
            recoveries: 0,
        }
    }

    /// Ends it.
    pub(super) fn finish(self, result: Result<Reply, Error>, received: Instant) -> Done {
        let Call { token, submitted, sent, server, resent, request, .. } = self;
        let (buffer, sent) = (request.into_buffer(), sent.unwrap_or(received));
        Done { token, result, buffer, submitted, sent, received, server, resent }
    }

    /// The data that is sent with it.
    pub(super) fn payload(&self) -> &[u8] {
        match &self.request {
            _ if self.step == Step::Bind => &[],
            Request::Write { buffer, len, .. } => &buffer[..*len as usize],
            _ => &[],
        }
    }

    /// Where the data goes that comes back: as much as was asked for.
    pub(super) fn read_buffer(&mut self) -> Option<&mut [u8]> {
        match &mut self.request {
            Request::Read { buffer, len, .. } => buffer.get_mut(..*len as usize),
            _ => None,
        }
    }

    /// Bytes that a READ asked for.
    pub(super) fn read_len(&self) -> Option<u32> {
        match &self.request {
            _ if self.step == Step::Bind => None,
            Request::Read { len, .. } => Some(*len),
            _ => None,
        }
    }
}

/// All requests of a lane that are under way, each in its place.
#[derive(Debug)]
pub(super) struct Calls {
    places: Vec<Option<Call>>,
    /// The last xid of each place, its low bits aside.
    serials: Vec<u32>,
    free: Vec<u32>,
}

impl Calls {
    /// Room for `depth` requests.
    pub(super) fn new(depth: usize) -> Self {
        let serial = random() as u32 & !PLACE_MASK;
        Calls {
            places: (0..depth).map(|_| None).collect(),
            serials: vec![serial; depth],
            free: (0..depth as u32).rev().collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Takes in a request, if there is room.
    pub(super) fn insert(&mut self, call: Call) -> Option<u32> {
        let place = self.free.pop()?;
        self.places[place as usize] = Some(call);
        Some(place)
    }

    pub(super) fn get(&self, place: u32) -> Option<&Call> {
        self.places.get(place as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Call> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    pub(super) fn remove(&mut self, place: u32) -> Option<Call> {
        let call = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(call)
    }

    /// An xid that the place's earlier calls have not had.
    pub(super) fn next_xid(&mut self, place: u32) -> u32 {
        let serial = &mut self.serials[place as usize];
        *serial = serial.wrapping_add(1 << PLACE_BITS);
        *serial | place
    }

    /// The place of the call with this xid whose reply is awaited on `connection`.
    pub(super) fn awaiting(&self, xid: u32, connection: usize) -> Option<u32> {
        let place = xid & PLACE_MASK;
        let call = self.get(place)?;
        (call.xid == xid && call.state == State::Sent(connection)).then_some(place)
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &Call)> {
        self.places.iter().zip(0..).filter_map(|(call, place)| Some((place, call.as_ref()?)))
    }

    /// How many there can be.
    pub(super) fn depth(&self) -> usize {
        self.places.len()
    }

    /// The places of those whose reply is awaited on a connection.
    pub(super) fn sent_on(&self, connection: usize) -> impl Iterator<Item = u32> {
        let sent = move |call: &Call| call.state == State::Sent(connection);
        self.iter().filter(move |(_, call)| sent(call)).map(|(place, _)| place)
    }

    /// The places of those that have paused until now.
    pub(super) fn due(&self, now: Instant) -> impl Iterator<Item = u32> {
        let due = move |call: &Call| matches!(call.state, State::Paused(until) if until <= now);
        self.iter().filter(move |(_, call)| due(call)).map(|(place, _)| place)
    }

    /// The connections on which a call that was sent again is not answered in good time.
    pub(super) fn unanswered(&self, now: Instant) -> BTreeSet<usize> {
        let unanswered = |call: &Call| match (call.state, call.again) {
            (State::Sent(number), Some(again)) if now.saturating_duration_since(again) > AGAIN => {
                Some(number)
            }
            _ => None,
        };
        self.iter().filter_map(|(_, call)| unanswered(call)).collect()
    }

    /// The places of those that should be finished by now.
    pub(super) fn late(&self, now: Instant) -> impl Iterator<Item = u32> {
        let late = move |call: &Call| call.deadline.is_some_and(|deadline| deadline <= now);
        self.iter().filter(move |(_, call)| late(call)).map(|(place, _)| place)
    }

    /// The buffer of the READ in a place, from `from` on and up to `to`.
    pub(super) fn read_space(&mut self, place: u32, from: usize, to: usize) -> &mut [u8] {
        let buffer = self.get_mut(place).and_then(Call::read_buffer);
        buffer.and_then(|buffer| buffer.get_mut(from..to)).unwrap_or_default()
    }
}
