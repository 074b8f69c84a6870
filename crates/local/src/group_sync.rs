//! One sync for all who wait for it.

use std::sync::{Condvar, Mutex, PoisonError};

use rustix::io::Errno;

use crate::errno::Sys;

/// Runs syncs of one file, one at a time: whoever asks while one runs waits for the
/// next, which serves all of them, since it starts after their changes were made.
#[derive(Debug, Default)]
pub(crate) struct GroupSync {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: bool,
    /// Rounds begun and rounds ended, counted from 1.
    begun: u64,
    ended: u64,
    failed: Option<(u64, Errno)>,
}

impl GroupSync {
    /// Returns when a sync that began after this call has ended, with its result.
    pub(crate) fn run(&self, sync: impl FnOnce() -> Sys<()>) -> Sys<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = state.begun + 1;
        while state.running && state.ended < mine {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.ended >= mine {
            // A failure is not lost on those who waited: an error since then is theirs too.
            return match state.failed {
                Some((round, errno)) if round >= mine => Err(errno),
                _ => Ok(()),
            };
        }
        state.running = true;
        state.begun += 1;
        let round = state.begun;
        drop(state);
        let result = sync();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running = false;
        state.ended = round;
        if let Err(errno) = result {
            state.failed = Some((round, errno));
        }
        drop(state);
        self.ended.notify_all();
        result
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
                        .run(|| {
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
    fn all_who_waited_learn_of_a_failure() {
        let group = GroupSync::default();
        assert_eq!(group.run(|| Err(Errno::IO)), Err(Errno::IO));
        assert_eq!(group.run(|| Ok(())), Ok(()));
        let failures = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let slow_failure = || {
                        std::thread::sleep(Duration::from_millis(20));
                        Err(Errno::IO)
                    };
                    if group.run(slow_failure).is_err() {
                        failures.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(failures.load(Ordering::SeqCst), 8);
    }
}
