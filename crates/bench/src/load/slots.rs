//! Which slots of the session the connections use.

use hayase_proto::nfs4::SequenceResOk;

use crate::load::client::Session;

/// The slot of what is not timed; those of the connections follow it.
const FIRST: u32 = 1;

/// The slots of all connections: they take turns, so that all have equally many when the
/// server grants fewer than they could use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    nconnect: u32,
    wanted: u32,
    granted: u32,
}

impl Slots {
    /// The slots that `session` has for this many connections with so many calls on each; without a session
    /// there are always enough.
    pub(super) fn new(session: Option<&Session>, nconnect: u16, iodepth: u16) -> Self {
        let wanted = u32::from(nconnect) * u32::from(iodepth);
        let granted = session.map_or(wanted, |session| session.slots.saturating_sub(FIRST));
        Slots { nconnect: nconnect.into(), wanted, granted: granted.min(wanted) }
    }

    /// How many may be used.
    pub(super) fn granted(&self) -> u32 {
        self.granted
    }

    /// The session's slot for call `number` of a connection, if there is one.
    pub(super) fn slot(&self, connection: u32, number: u32) -> Option<u32> {
        let slot = number * self.nconnect + connection;
        (slot < self.granted).then_some(FIRST + slot)
    }

    /// The highest slot of the session that is used.
    pub(super) fn highest(&self) -> u32 {
        FIRST + self.granted - 1
    }

    /// Takes what the server grants on the way (RFC 8881 §2.10.6.1). What it wants back it is not
    /// given: the run is short.
    pub(super) fn heed(&mut self, answer: &SequenceResOk) {
        let granted = (answer.target_highest_slotid.saturating_add(1)).saturating_sub(FIRST);
        self.granted = self.granted.max(granted.min(self.wanted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn session(slots: u32) -> Session {
        Session { id: [0; 16], minor: 1, slots }
    }

    #[test]
    fn few_slots_are_shared_out_evenly() {
        let slots = Slots::new(Some(&session(6)), 3, 4);
        let all: Vec<_> = (0..3).map(|c| [0, 1, 2].map(|n| slots.slot(c, n))).collect();
        assert_eq!(all[0], [Some(1), Some(4), None]);
        assert_eq!(all[1], [Some(2), Some(5), None]);
        assert_eq!(all[2], [Some(3), None, None]);
        assert_eq!(slots.highest(), 5);
    }

    #[test]
    fn more_are_taken_when_they_are_offered_and_wanted() {
        let mut slots = Slots::new(Some(&session(4)), 2, 3);
        let mut answer = SequenceResOk {
            sessionid: [0; 16],
            sequenceid: 1,
            slotid: 1,
            highest_slotid: 99,
            target_highest_slotid: 4,
            status_flags: 0,
        };
        slots.heed(&answer);
        assert_eq!((slots.granted(), slots.slot(1, 1), slots.slot(0, 2)), (4, Some(4), None));
        answer.target_highest_slotid = 99;
        slots.heed(&answer);
        assert_eq!((slots.granted(), slots.slot(1, 2), slots.slot(0, 3)), (6, Some(6), None));
        answer.target_highest_slotid = 0;
        slots.heed(&answer);
        assert_eq!(slots.granted(), 6);
    }

    #[test]
    fn without_a_session_there_are_enough() {
        let slots = Slots::new(None, 2, 2);
        assert_eq!((slots.granted(), slots.slot(1, 1)), (4, Some(4)));
    }
}
