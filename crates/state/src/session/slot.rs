//! The slots of a session's channel to the server: what makes each request run exactly once
//! (RFC 8881 §2.10.6.1).

use hayase_proto::nfs4::Status;

/// The slots of one session. Memory follows the slots that are really used.
#[derive(Debug, Default)]
pub(super) struct Slots {
    used: Vec<Slot>,
    /// Slots the client may use.
    granted: u32,
    running: u32,
}

#[derive(Debug, Default)]
struct Slot {
    /// The sequence id of the last request that was finished.
    sequence: u32,
    kept: Kept,
    /// Tells that request from others.
    digest: u64,
    /// The next request is being executed; it has this digest.
    running: Option<u64>,
    /// The last reply, or memory for one.
    reply: Vec<u8>,
}

/// What is remembered of the last request of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kept {
    /// There was none.
    #[default]
    Fresh,
    /// Only that it was executed.
    Fact,
    /// Its reply.
    Reply,
}

/// What a sequence id means on its slot.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The next request: it has been noted as running.
    New,
    /// A retry whose reply is known.
    Reply(Box<[u8]>),
    /// A retry whose reply was not kept.
    Fact,
}

impl Slots {
    pub(super) fn new(granted: u32) -> Self {
        Slots { granted, ..Slots::default() }
    }

    /// Slots the client may use.
    pub(super) fn granted(&self) -> u32 {
        self.granted
    }

    /// Looks a request up, and begins it if it is new.
    pub(super) fn begin(&mut self, slot: u32, sequence: u32, digest: u64) -> Result<Found, Status> {
        if slot >= self.granted {
            return Err(Status::BadSlot);
        }
        if slot as usize >= self.used.len() {
            self.used.resize_with(slot as usize + 1, Slot::default);
        }
        let slot = &mut self.used[slot as usize];
        if sequence == slot.sequence.wrapping_add(1) {
            if slot.running.is_some() {
                return Err(Status::Delay);
            }
            slot.running = Some(digest);
            self.running += 1;
            return Ok(Found::New);
        }
        if sequence != slot.sequence || slot.running.is_some() {
            return Err(Status::SeqMisordered);
        }
        match slot.kept {
            Kept::Fresh => Err(Status::SeqMisordered),
            _ if slot.digest != digest => Err(Status::SeqFalseRetry),
            Kept::Fact => Ok(Found::Fact),
            Kept::Reply => Ok(Found::Reply(slot.reply.as_slice().into())),
        }
    }

    /// The running request of a slot has been executed. Keeps its reply, if there is one to be kept;
    /// tells how many bytes of memory replies took before and take now.
    pub(super) fn finish(&mut self, slot: u32, reply: Option<&[u8]>) -> (usize, usize) {
        let Some(slot) = self.used.get_mut(slot as usize) else { return (0, 0) };
        let Some(digest) = slot.running.take() else { return (0, 0) };
        self.running -= 1;
        slot.sequence = slot.sequence.wrapping_add(1);
        slot.digest = digest;
        let before = slot.reply.capacity();
        slot.reply.clear();
        slot.kept = match reply {
            None => Kept::Fact,
            Some(bytes) => {
                slot.reply.reserve_exact(bytes.len());
                slot.reply.extend_from_slice(bytes);
                Kept::Reply
            }
        };
        (before, slot.reply.capacity())
    }

    /// The running request of a slot was not executed after all.
    pub(super) fn abandon(&mut self, slot: u32) {
        let running = self.used.get_mut(slot as usize).and_then(|slot| slot.running.take());
        self.running -= u32::from(running.is_some());
    }

    /// Lets a client have more slots if it keeps most of what it has busy: `highest` is the
    /// highest slot for which it waits for a reply (RFC 8881 §18.46.3, `sa_highest_slotid`). What
    /// runs here tells less: cheap requests are answered while others are still on their way.
    pub(super) fn grow(&mut self, highest: u32, limit: u32) {
        let busy = highest.min(self.granted - 1) + 1;
        if busy * 4 >= self.granted * 3 && self.granted < limit {
            self.granted = (self.granted + self.granted / 4 + 1).min(limit);
        }
    }

    /// Whether any request runs, besides one on this slot.
    pub(super) fn is_busy(&self, besides: Option<u32>) -> bool {
        let own = besides.and_then(|slot| self.used.get(slot as usize));
        self.running > u32::from(own.is_some_and(|slot| slot.running.is_some()))
    }

    /// Bytes of memory replies take.
    pub(super) fn cached_bytes(&self) -> usize {
        self.used.iter().map(|slot| slot.reply.capacity()).sum()
    }

    /// Slots that were used so far.
    pub(super) fn used(&self) -> u32 {
        self.used.len() as u32
    }

    /// Requests under way.
    pub(super) fn running(&self) -> u32 {
        self.running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(slots: &mut Slots, slot: u32, sequence: u32, reply: Option<&[u8]>) {
        assert_eq!(slots.begin(slot, sequence, 7), Ok(Found::New));
        slots.finish(slot, reply);
    }

    #[test]
    fn sequence_ids_go_round() {
        // RFC 8881 §2.10.6.1: after the highest number comes zero.
        let mut slots = Slots::new(1);
        run(&mut slots, 0, 1, None);
        slots.used[0].sequence = u32::MAX - 1;
        run(&mut slots, 0, u32::MAX, Some(b"last"));
        assert_eq!(slots.begin(0, u32::MAX, 7), Ok(Found::Reply(b"last"[..].into())));
        run(&mut slots, 0, 0, Some(b"zero"));
        assert_eq!(slots.begin(0, 0, 7), Ok(Found::Reply(b"zero"[..].into())));
        assert_eq!(slots.begin(0, u32::MAX, 7), Err(Status::SeqMisordered));
    }

    #[test]
    fn a_fresh_slot_has_nothing_to_repeat() {
        // RFC 8881 §18.36.4: the first request of a slot has sequence id one.
        let mut slots = Slots::new(2);
        assert_eq!(slots.begin(0, 0, 7), Err(Status::SeqMisordered));
        assert_eq!(slots.begin(0, 2, 7), Err(Status::SeqMisordered));
        assert_eq!(slots.begin(2, 1, 7), Err(Status::BadSlot));
        run(&mut slots, 1, 1, None);
    }

    #[test]
    fn memory_is_taken_once_and_counted() {
        let mut slots = Slots::new(4);
        assert_eq!(slots.begin(0, 1, 7), Ok(Found::New));
        let (before, after) = slots.finish(0, Some(&[1; 100]));
        assert_eq!((before, slots.cached_bytes()), (0, after));
        assert!(after >= 100);
        assert_eq!(slots.begin(0, 2, 7), Ok(Found::New));
        assert_eq!(slots.finish(0, Some(&[2; 90])), (after, after));
        assert_eq!(slots.used(), 1, "three slots were never used");
    }

    #[test]
    fn slots_grow_while_most_are_busy() {
        // RFC 8881 §2.10.6.1: the server raises the highest slot as it likes.
        let mut slots = Slots::new(4);
        for highest in 0..2 {
            slots.grow(highest, 6);
        }
        assert_eq!(slots.granted(), 4);
        slots.grow(2, 6);
        assert_eq!(slots.granted(), 6);
        slots.grow(u32::MAX, 6);
        assert_eq!(slots.granted(), 6);
        slots.grow(u32::MAX, 10);
        assert_eq!(slots.granted(), 8);
    }
}
