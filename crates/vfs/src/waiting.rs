//! Telling whoever runs an operation that it is about to wait, so that another can have the core.

use std::cell::RefCell;
use std::sync::Arc;

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
