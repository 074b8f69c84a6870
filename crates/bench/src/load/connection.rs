//! One connection with its calls under way.

use std::net::TcpStream;

use anyhow::{Result, bail, ensure};
use hayase_rpc::decode_reply;
use hayase_rpc::record::{MARK_BYTES, begin, end};
use hayase_xdr::{Reader, padding};

use super::frame::{Frame, Sequence};
use super::output::Output;
use super::slots::Slots;
use super::tally::Tally;
use crate::load::client::{Identity, Session, first_xid};
use crate::load::workload::{Call, Done, Failure, Workload};
use crate::records::{Filled, Part, Records};

/// The low bits of an xid are the call's number; the rest tells the number's calls apart.
const NUMBER_BITS: u32 = 10;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;

/// A call under way, or none.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    xid: u32,
    busy: bool,
    begun_nanos: u64,
    /// What the last call said by SEQUENCE.
    sequence: Sequence,
}

/// What the calls of all connections share.
pub(super) struct Shared<'a> {
    pub(super) workload: &'a mut dyn Workload,
    pub(super) tally: &'a mut Tally,
    pub(super) slots: &'a mut Slots,
    /// Nothing is begun any more.
    pub(super) ending: bool,
}

pub(super) struct Connection {
    pub(super) socket: TcpStream,
    records: Records,
    output: Output,
    frame: Frame,
    calls: Vec<Slot>,
    /// Calls that may be made, for which there are slots.
    usable: u32,
    free: Vec<u32>,
    /// Work that takes another call before it is done.
    halfway: Vec<u32>,
    number: u32,
    /// A workload's slots for this connection start here.
    first_place: usize,
    /// The call whose reply is arriving.
    arriving: Option<(u32, Result<Option<Done>, Failure>)>,
}

impl Connection {
    /// Connection `number`, for as many calls at once as `depth` says.
    pub(super) fn new(socket: TcpStream, depth: u16, number: u32) -> Self {
        let depth = usize::from(depth);
        assert!(depth - 1 <= NUMBER_MASK as usize, "the depth fits the xid");
        Connection {
            socket,
            records: Records::new(crate::load::workload::Shape::SMALL),
            output: Output::default(),
            frame: Frame::default(),
            calls: vec![Slot { xid: first_xid(), ..Slot::default() }; depth],
            usable: 0,
            free: Vec::with_capacity(depth),
            halfway: Vec::with_capacity(depth),
            number,
            first_place: number as usize * depth,
            arriving: None,
        }
    }

    /// Makes ready for another workload. No call is under way.
    pub(super) fn prepare(
        &mut self,
        workload: &dyn Workload,
        identity: &Identity,
        session: Option<&Session>,
    ) {
        debug_assert_eq!(self.in_flight(), 0);
        self.records = Records::new(workload.shape());
        self.frame = Frame::new(identity, workload.procedure(), session);
    }

    /// Calls under way, and work that goes on.
    pub(super) fn in_flight(&self) -> usize {
        self.usable as usize - self.free.len()
    }

    /// Makes as many calls as the depth and the slots allow.
    pub(super) fn issue(&mut self, shared: &mut Shared<'_>, now_nanos: u64) -> Result<()> {
        while let Some(number) = self.halfway.pop() {
            let begun_nanos = self.calls[number as usize].begun_nanos;
            ensure!(self.call(number, shared, begun_nanos), "work is left half done");
        }
        if !shared.ending {
            while self.usable < self.calls.len() as u32
                && shared.slots.slot(self.number, self.usable).is_some()
            {
                self.free.push(self.usable);
                self.usable += 1;
            }
            while let Some(&number) = self.free.last() {
                if !self.call(number, shared, now_nanos) {
                    break;
                }
                self.free.pop();
            }
        }
        self.output.send(&self.socket, shared.workload.payload())
    }

    /// Queues the workload's next call; false if there is none.
    fn call(&mut self, number: u32, shared: &mut Shared<'_>, begun_nanos: u64) -> bool {
        let payload_bytes = shared.workload.payload().len();
        let to = self.output.heads_mut();
        let start = begin(to);
        to.extend_from_slice(self.frame.head());
        let mut call = Call::begin(to);
        if !shared.workload.next(self.first_place + number as usize, &mut call) {
            to.truncate(start - MARK_BYTES);
            return false;
        }
        let operations = call.operations();
        let slot = &mut self.calls[number as usize];
        let xid = (slot.xid & !NUMBER_MASK).wrapping_add(1 << NUMBER_BITS) | number;
        let sequence = Sequence {
            slot: shared.slots.slot(self.number, number).unwrap_or_default(),
            id: slot.sequence.id.wrapping_add(1),
            highest_slot: shared.slots.highest(),
        };
        *slot = Slot { xid, busy: true, begun_nanos, sequence };
        self.frame.fill(&mut to[start..], xid, sequence, operations);
        let len = to.len() - start + payload_bytes;
        debug_assert_eq!(padding(len), 0);
        end(to, start, len);
        self.output.end_call(payload_bytes > 0);
        true
    }

    /// Goes on sending after the socket took no more.
    pub(super) fn writable(&mut self, shared: &Shared<'_>) -> Result<()> {
        if self.output.blocked {
            self.output.send(&self.socket, shared.workload.payload())?;
        }
        Ok(())
    }

    /// Receives all there is, and makes the next calls.
    pub(super) fn readable(
        &mut self,
        shared: &mut Shared<'_>,
        now: impl Fn() -> u64,
    ) -> Result<()> {
        loop {
            let filled = self.records.fill(&self.socket)?;
            if filled == Filled::Closed {
                bail!("the server closed a connection with {} calls under way", self.in_flight());
            }
            let now_nanos = now();
            self.receive(shared, now_nanos)?;
            self.issue(shared, now_nanos)?;
            if filled == Filled::All {
                return Ok(());
            }
        }
    }

    fn receive(&mut self, shared: &mut Shared<'_>, now_nanos: u64) -> Result<()> {
        while let Some(part) = self.records.next()? {
            match part {
                Part::Head(head, len) => {
                    let mut reader = Reader::new(head);
                    let (xid, accepted) = decode_reply(&mut reader)?;
                    let number = xid & NUMBER_MASK;
                    let slot = self.calls.get_mut(number as usize);
                    let Some(slot) = slot.filter(|slot| slot.busy && slot.xid == xid) else {
                        bail!("the server answers call {xid:#x}, which is not under way");
                    };
                    let outcome = if let Err(refusal) = accepted {
                        // SEQUENCE was not seen: its id is still to be used.
                        slot.sequence.id = slot.sequence.id.wrapping_sub(1);
                        Err(Failure::Refused(refusal))
                    } else {
                        let (result, answer) = self.frame.open(reader.rest(), slot.sequence)?;
                        if let Some(answer) = answer {
                            shared.slots.heed(&answer);
                        }
                        let len = len - (head.len() - result.len());
                        shared.workload.finish(self.first_place + number as usize, result, len)
                    };
                    self.arriving = Some((number, outcome));
                }
                Part::End => {
                    let Some((number, outcome)) = self.arriving.take() else { continue };
                    let slot = &mut self.calls[number as usize];
                    slot.busy = false;
                    if let Some(outcome) = outcome.transpose() {
                        self.free.push(number);
                        let latency_nanos = now_nanos.saturating_sub(slot.begun_nanos);
                        shared.tally.count(outcome, latency_nanos);
                    } else {
                        self.halfway.push(number);
                    }
                }
            }
        }
        Ok(())
    }
}
