//! One sync for all who wait for it.

use std::sync::{Condvar, Mutex, PoisonError};

use rustix::io::Errno;

use crate::errno::Sys;

/// How much a sync brings to the disk. Later is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extent {
    /// Data, and what is needed to find it again.
    Data,
    /// Data and all attributes.
    All,
}

/// Runs syncs of one file, one at a time: whoever asks while one runs waits for the
/// next, which serves all of them, since it starts after their changes were made.
#[derive(Debug, Default)]
pub(crate) struct GroupSync {
    state: Mutex<State>,
    /// Who waits for a round, or for the turn to run it, waits at the one of the round's parity:
    /// no thread is woken for nothing.
    rounds: [Condvar; 2],
}

#[derive(Debug, Default)]
struct State {
    running: bool,
    /// Rounds begun, counted from 1, and the last ones that ended: of any extent, and of all.
    begun: u64,
    ended: u64,
    ended_all: u64,
    /// Somebody waits for a round of all.
    all_wanted: bool,
    failed: Option<(u64, Errno)>,
}

impl GroupSync {
    /// Returns when a sync of at least this extent that began after this call has ended, with
    /// its result. `sync` is told the extent that is wanted.
    pub(crate) fn run(&self, extent: Extent, sync: impl FnOnce(Extent) -> Sys<()>) -> Sys<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = state.begun + 1;
        let served = |state: &State| match extent {
            Extent::Data => state.ended >= mine,
            Extent::All => state.ended_all >= mine,
        };
        while state.running && !served(&state) {
            state.all_wanted |= extent == Extent::All;
            state = self.of(mine).wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if served(&state) {
            // A failure is not lost on those who waited: an error since then is theirs too.
            return match state.failed {
                Some((round, errno)) if round >= mine => Err(errno),
                _ => Ok(()),
            };
        }
        let all = std::mem::take(&mut state.all_wanted) || extent == Extent::All;
        state.running = true;
        state.begun += 1;
        let round = state.begun;
        drop(state);
        let result = sync(if all { Extent::All } else { Extent::Data });
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running = false;
        state.ended = round;
        if all {
            state.ended_all = round;
        }
        if let Err(errno) = result {
            state.failed = Some((round, errno));
        }
        drop(state);
        self.of(round).notify_all();
        // Whoever has come meanwhile waits for the next round; one of them runs it.
        self.of(round + 1).notify_one();
        result
    }

    fn of(&self, round: u64) -> &Condvar {
        &self.rounds[usize::from(!round.is_multiple_of(2))]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn waiters_share_a_sync_that_starts_after_them() {
        let group = GroupSync::default();
        let (syncs, start) = (AtomicU32::new(0), Barrier::new(16));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    start.wait();
                    group
                        .run(Extent::Data, |_| {
                            syncs.fetch_add(1, Ordering::SeqCst);
                            std::thread::sleep(Duration::from_millis(50));
                            Ok(())
                        })
                        .unwrap();
                });
            }
        });
        assert!((1..=4).contains(&syncs.load(Ordering::SeqCst)), "{syncs:?}");
    }

    #[test]
    fn a_sync_of_data_does_not_do_for_attributes() {
        let group = GroupSync::default();
        let (begun, last) = (Barrier::new(2), Mutex::new(Vec::new()));
        let run = |extent, wait: bool| {
            let sync = |extent| {
                if wait {
                    begun.wait();
                    std::thread::sleep(Duration::from_millis(50));
                }
                last.lock().unwrap().push(extent);
                Ok(())
            };
            group.run(extent, sync).unwrap();
        };
        std::thread::scope(|scope| {
            scope.spawn(|| run(Extent::Data, true));
            begun.wait();
            // While the first runs: one of the two runs for both, and for all.
            scope.spawn(|| run(Extent::All, false));
            scope.spawn(|| run(Extent::Data, false));
        });
        assert!(last.lock().unwrap()[1..].contains(&Extent::All));
    }

    #[test]
    fn all_who_waited_learn_of_a_failure() {
        let group = GroupSync::default();
        assert_eq!(group.run(Extent::Data, |_| Err(Errno::IO)), Err(Errno::IO));
        assert_eq!(group.run(Extent::Data, |_| Ok(())), Ok(()));
        let failures = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let slow_failure = |_| {
                        std::thread::sleep(Duration::from_millis(20));
                        Err(Errno::IO)
                    };
                    if group.run(Extent::Data, slow_failure).is_err() {
                        failures.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(failures.load(Ordering::SeqCst), 8);
    }
}
