//! Telling whoever runs an operation that it is about to wait, so that another can have the core.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Is told when operations on a thread begin and end to wait: for a disk, or for
/// somebody else.
pub trait Waiting: Send + Sync {
    /// The thread is going to wait.
    fn begins(&self);
    /// It goes on.
    fn ends(&self);
}

thread_local! {
    static TOLD: RefCell<Option<Arc<dyn Waiting>>> = const { RefCell::new(None) };
    /// How long this thread has waited for disks, while somebody wants to know.
    static DISK: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// From now on `told` hears of this thread's waiting.
pub fn tell_of_waiting(told: Arc<dyn Waiting>) {
    TOLD.with_borrow_mut(|slot| *slot = Some(told));
}

/// Runs what waits for longer than it takes to wake a thread.
pub fn wait_for<T>(slow: impl FnOnce() -> T) -> T {
    struct Ends(Arc<dyn Waiting>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.ends();
        }
    }
    let told = TOLD.with_borrow(Clone::clone);
    let _ends = told.map(|told| {
        told.begins();
        Ends(told)
    });
    slow()
}

/// Like [`wait_for`], for what waits for a disk.
pub fn wait_for_disk<T>(slow: impl FnOnce() -> T) -> T {
    let Some(before) = DISK.get() else { return wait_for(slow) };
    let began = Instant::now();
    let result = wait_for(slow);
    DISK.set(Some(before + began.elapsed()));
    result
}

/// Runs something and tells how long it waited for disks.
pub fn disk_time_of<T>(operation: impl FnOnce() -> T) -> (T, Duration) {
    DISK.set(Some(Duration::ZERO));
    let result = operation();
    (result, DISK.take().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn only_waits_for_disks_are_counted_and_only_while_somebody_asks() {
        let pause = Duration::from_millis(5);
        wait_for_disk(|| sleep(pause));
        let (result, waited) = disk_time_of(|| {
            wait_for(|| sleep(pause * 20));
            wait_for_disk(|| sleep(pause));
            wait_for_disk(|| sleep(pause));
            7
        });
        assert_eq!(result, 7);
        assert!(waited >= pause * 2 && waited < pause * 20, "{waited:?}");
        assert_eq!(disk_time_of(|| ()), ((), Duration::ZERO));
    }
}
