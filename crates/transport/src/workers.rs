//! The pool of threads that may wait.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Work for the pool.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Threads that run jobs in the order they came.
#[derive(Debug)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    limit: usize,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    stopping: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue({} jobs)", self.jobs.len())
    }
}

impl Workers {
    /// Starts `threads` threads; at most `limit` jobs may wait.
    pub(crate) fn start(threads: usize, limit: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared { queue: Mutex::default(), changed: Condvar::new(), limit });
        let threads = (0..threads)
            .map(|number| {
                let shared = Arc::clone(&shared);
                std::thread::Builder::new()
                    .name(format!("worker-{number}"))
                    .stack_size(512 << 10)
                    .spawn(move || shared.run())
            })
            .collect::<io::Result<_>>()?;
        Ok(Workers { shared, threads: Mutex::new(threads) })
    }

    /// Whether a job pushed now would have to be refused.
    pub(crate) fn is_full(&self) -> bool {
        self.shared.lock().jobs.len() >= self.shared.limit
    }

    /// Puts a job behind the others.
    pub(crate) fn push(&self, job: Job) {
        self.shared.lock().jobs.push_back(job);
        self.shared.changed.notify_one();
    }

    /// Runs what is queued and ends the threads.
    pub(crate) fn stop(&self) {
        self.shared.lock().stopping = true;
        self.shared.changed.notify_all();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // A worker catches panics of jobs, so it cannot have panicked itself.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        loop {
            let mut queue = self.lock();
            let job = loop {
                if let Some(job) = queue.jobs.pop_front() {
                    break job;
                }
                if queue.stopping {
                    return;
                }
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            };
            drop(queue);
            job();
        }
    }

    // The queue is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
