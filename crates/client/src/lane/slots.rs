//! The slots of a session (RFC 8881 §2.10.6.1).

use hayase_proto::nfs4::{SequenceResOk, SessionId};

use crate::wire::Sequence;

/// A session and which of its slots are in use.
#[derive(Debug)]
pub(crate) struct Slots {
    session: SessionId,
    known: Vec<Slot>,
    /// Slots that can be used, the lowest last.
    free: Vec<u32>,
    /// Slots of which nobody knows where their sequence stands.
    retired: u32,
    /// More would not be used.
    wanted: u32,
    /// Slots from here on are not used until the server allows them again.
    allowed: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The sequence id of its last call.
    id: u32,
    /// Taken, or retired.
    busy: bool,
}

impl Slots {
    /// `granted` slots, of which no more than `wanted` will be used.
    pub(crate) fn new(session: SessionId, granted: u32, wanted: u32) -> Self {
        let (known, free) = (Vec::new(), Vec::new());
        let mut all = Slots { session, known, free, retired: 0, wanted, allowed: 0 };
        all.allow(granted);
        all
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// How many calls can be under way at once.
    pub(crate) fn usable(&self) -> u32 {
        self.allowed.saturating_sub(self.retired)
    }

    /// Takes a slot for a new call.
    pub(crate) fn take(&mut self) -> Option<Sequence> {
        let number = self.free.pop()?;
        let slot = self.known.get_mut(number as usize)?;
        slot.busy = true;
        slot.id = slot.id.wrapping_add(1);
        let highest_slot = self.allowed - 1;
        Some(Sequence { session: self.session, slot: number, id: slot.id, highest_slot })
    }

    /// Gives back a slot whose call was answered.
    pub(crate) fn give(&mut self, sequence: &Sequence) {
        if let Some(slot) = self.slot(sequence) {
            slot.busy = false;
            if sequence.slot < self.allowed {
                self.free.push(sequence.slot);
            }
        }
    }

    /// Gives back a slot whose call the server has not taken in: its sequence id is still to be used.
    pub(crate) fn give_unused(&mut self, sequence: &Sequence) {
        if let Some(slot) = self.slot(sequence) {
            slot.id = slot.id.wrapping_sub(1);
            self.give(sequence);
        }
    }

    /// Gives up a slot whose call was never answered: nobody knows its sequence id.
    pub(crate) fn retire(&mut self, sequence: &Sequence) {
        if self.slot(sequence).is_some() {
            self.retired += 1;
        }
    }

    /// Takes what the server grants on the way, and gives what it wants back (RFC 8881 §2.10.6.1).
    pub(crate) fn heed(&mut self, answer: &SequenceResOk) {
        let allowed = answer.target_highest_slotid.saturating_add(1).min(self.wanted);
        if allowed != self.allowed {
            self.allow(allowed);
        }
    }

    /// The slot that a call was made on, if it was in this session.
    fn slot(&mut self, sequence: &Sequence) -> Option<&mut Slot> {
        let slot = self.known.get_mut(sequence.slot as usize)?;
        (sequence.session == self.session && slot.busy).then_some(slot)
    }

    fn allow(&mut self, allowed: u32) {
        self.allowed = allowed.clamp(1, self.wanted.max(1));
        let count = self.known.len().max(self.allowed as usize);
        self.known.resize(count, Slot::default());
        let numbered = self.known.iter().zip(0..self.allowed);
        self.free = numbered.filter(|(slot, _)| !slot.busy).map(|(_, number)| number).collect();
        self.free.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: SessionId = [7; 16];

    fn answer(target_highest_slotid: u32) -> SequenceResOk {
        SequenceResOk {
            sessionid: ID,
            sequenceid: 1,
            slotid: 0,
            highest_slotid: 99,
            target_highest_slotid,
            status_flags: 0,
        }
    }

    #[test]
    fn the_lowest_slots_are_used_and_each_counts_its_calls() {
        let mut slots = Slots::new(ID, 3, 9);
        let (a, b) = (slots.take().unwrap(), slots.take().unwrap());
        assert_eq!((a.slot, a.id, b.slot, b.id, b.highest_slot), (0, 1, 1, 1, 2));
        slots.give(&a);
        let again = slots.take().unwrap();
        assert_eq!((again.slot, again.id), (0, 2));
        slots.give_unused(&again);
        assert_eq!(slots.take().unwrap(), again);
        assert_eq!(slots.take().unwrap().slot, 2);
        assert_eq!(slots.take(), None);
    }

    #[test]
    fn slots_come_and_go_as_the_server_says() {
        let mut slots = Slots::new(ID, 2, 5);
        slots.heed(&answer(9));
        assert_eq!(slots.usable(), 5);
        let taken: Vec<_> = std::iter::from_fn(|| slots.take()).collect();
        assert_eq!(taken.iter().map(|s| s.slot).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        slots.heed(&answer(1));
        for sequence in &taken {
            slots.give(sequence);
        }
        assert_eq!(slots.usable(), 2);
        let left: Vec<_> = std::iter::from_fn(|| slots.take()).collect();
        assert_eq!(left.len(), 2);
        assert!(left.iter().all(|sequence| sequence.slot < 2 && sequence.id == 2));
        slots.heed(&answer(4));
        let more: Vec<_> = std::iter::from_fn(|| slots.take()).collect();
        assert_eq!(
            more.iter().map(|s| (s.slot, s.id)).collect::<Vec<_>>(),
            [(2, 2), (3, 2), (4, 2)]
        );
    }

    #[test]
    fn a_retired_slot_and_another_sessions_are_not_used() {
        let mut slots = Slots::new(ID, 2, 2);
        let taken = slots.take().unwrap();
        slots.retire(&taken);
        assert_eq!(slots.usable(), 1);
        slots.give(&Sequence { session: [8; 16], ..taken });
        assert_eq!(slots.take().unwrap().slot, 1);
        assert_eq!(slots.take(), None);
    }
}
