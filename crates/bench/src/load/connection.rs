//! One connection with its calls under way.

use std::net::TcpStream;

use anyhow::{Result, bail, ensure};
use hayase_rpc::decode_reply;
use hayase_rpc::record::{begin, end};
use hayase_xdr::{Reader, padding};

use super::output::Output;
use super::tally::Tally;
use crate::client::{Identity, Program, first_xid};
use crate::records::{Filled, Part, Records};
use crate::workload::{Done, Failure, Workload};

/// The low bits of an xid are its slot; the rest tells the slot's calls apart.
const SLOT_BITS: u32 = 10;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;

/// A call under way, or none.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    xid: u32,
    busy: bool,
    begun_nanos: u64,
}

/// What the calls of all connections share.
pub(super) struct Shared<'a> {
    pub(super) workload: &'a mut dyn Workload,
    pub(super) tally: &'a mut Tally,
    /// No call is made any more.
    pub(super) ending: bool,
}

pub(super) struct Connection {
    pub(super) socket: TcpStream,
    records: Records,
    output: Output,
    /// The header of every call, but for the xid.
    header: Vec<u8>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The slot numbers of a workload start here.
    first_slot: usize,
    /// The call whose reply is arriving.
    arriving: Option<(u32, Result<Done, Failure>)>,
}

impl Connection {
    pub(super) fn new(socket: TcpStream, depth: u16, first_slot: usize) -> Self {
        let depth = u32::from(depth);
        assert!(depth - 1 <= SLOT_MASK, "the depth fits the xid");
        Connection {
            socket,
            records: Records::new(crate::workload::Shape::SMALL),
            output: Output::default(),
            header: Vec::new(),
            slots: vec![Slot { xid: first_xid(), ..Slot::default() }; depth as usize],
            free: (0..depth).rev().collect(),
            first_slot,
            arriving: None,
        }
    }

    /// Makes ready for another workload. No call is under way.
    pub(super) fn prepare(&mut self, workload: &dyn Workload, identity: &Identity) {
        debug_assert_eq!(self.in_flight(), 0);
        self.records = Records::new(workload.shape());
        self.header = identity.header(Program::NFS, workload.proc().into(), 0);
    }

    /// Calls under way.
    pub(super) fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Makes as many calls as the depth allows.
    pub(super) fn issue(&mut self, shared: &mut Shared<'_>, now_nanos: u64) -> Result<()> {
        if shared.ending {
            return Ok(());
        }
        let payload_bytes = shared.workload.payload().len();
        while let Some(&number) = self.free.last() {
            let to = self.output.heads_mut();
            let start = begin(to);
            to.extend_from_slice(&self.header);
            if !shared.workload.next(self.first_slot + number as usize, to) {
                to.truncate(start - hayase_rpc::record::MARK_BYTES);
                break;
            }
            let slot = &mut self.slots[number as usize];
            let xid = (slot.xid & !SLOT_MASK).wrapping_add(1 << SLOT_BITS) | number;
            *slot = Slot { xid, busy: true, begun_nanos: now_nanos };
            to[start..start + 4].copy_from_slice(&xid.to_be_bytes());
            let len = to.len() - start + payload_bytes;
            debug_assert_eq!(padding(len), 0);
            end(to, start, len);
            self.output.end_call(payload_bytes > 0);
            self.free.pop();
        }
        self.output.send(&self.socket, shared.workload.payload())
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
                    let number = xid & SLOT_MASK;
                    let slot = self.slots.get(number as usize);
                    let known = slot.is_some_and(|slot| slot.busy && slot.xid == xid);
                    ensure!(known, "the server answers call {xid:#x}, which is not under way");
                    let result_len = len - (head.len() - reader.rest().len());
                    let outcome = accepted.map_err(Failure::Refused).and_then(|()| {
                        let slot = self.first_slot + number as usize;
                        shared.workload.finish(slot, reader.rest(), result_len)
                    });
                    self.arriving = Some((number, outcome));
                }
                Part::End => {
                    let Some((number, outcome)) = self.arriving.take() else { continue };
                    let slot = &mut self.slots[number as usize];
                    slot.busy = false;
                    self.free.push(number);
                    shared.tally.count(outcome, now_nanos.saturating_sub(slot.begun_nanos));
                }
            }
        }
        Ok(())
    }
}
