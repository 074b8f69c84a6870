//! The pool of threads that may wait.
//!
//! Most calls that may wait do not: what they need is in memory. So there are as many threads
//! **awake** as there are cores, each taking one call after the other, and the others sleep: a
//! thread woken for each call, to find the lock it needs taken, would cost several times the call
//! itself. One more is woken when an awake one says that it waits for a disk
//! ([`hayase_vfs::wait_for`]), and when a call has been queued for too long, for whatever reason.
//! For the same reason a thread that goes on with the next call wakes a shard for several
//! outcomes at once.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hayase_vfs::{Waiting, tell_of_waiting};

use crate::inbox::Inbox;

/// Work for the pool. It gives back the inbox into which it has put its outcome, if the shard
/// need not be woken at once.
pub(crate) type Job = Box<dyn FnOnce() -> Option<Arc<Inbox>> + Send>;

/// A job that has been queued for so long is worth waking a thread for.
const PATIENCE: Duration = Duration::from_micros(250);

/// How long a thread with more to do holds back outcomes, counted from when the call began.
const HOLD: Duration = Duration::from_micros(50);

/// Threads that run jobs in the order they came.
#[derive(Debug)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// A thread was made to be awake.
    woken: Condvar,
    /// Jobs that are queued, to be looked at without the lock.
    queued: AtomicUsize,
    /// The most jobs that may be queued.
    limit: usize,
    /// Threads that are awake at a time as long as none of them waits.
    cores: usize,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<(Instant, Job)>,
    /// Threads that sleep and are not called.
    asleep: usize,
    /// Sleeping threads that were called and have not noticed yet.
    called: usize,
    /// Threads that run jobs, or are called to, and do not wait for a disk.
    awake: usize,
    stopping: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue({} jobs, {} awake)", self.jobs.len(), self.awake)
    }
}

impl Workers {
    /// Starts `threads` threads; at most `limit` jobs may wait.
    pub(crate) fn start(threads: usize, limit: usize) -> io::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            woken: Condvar::new(),
            queued: AtomicUsize::new(0),
            limit,
            cores,
        });
        let threads = (0..threads)
            .map(|number| {
                let shared = Arc::clone(&shared);
                shared.lock().awake += 1;
                thread::Builder::new()
                    .name(format!("worker-{number}"))
                    .stack_size(512 << 10)
                    .spawn(move || Arc::new(Worker { shared, held: Mutex::default() }).run())
            })
            .collect::<io::Result<_>>()?;
        Ok(Workers { shared, threads: Mutex::new(threads) })
    }

    /// Whether a job pushed now would have to be refused.
    pub(crate) fn is_full(&self) -> bool {
        self.shared.queued.load(Ordering::Relaxed) >= self.shared.limit
    }

    /// Puts a job behind the others.
    pub(crate) fn push(&self, job: Job) {
        let mut queue = self.shared.lock();
        queue.jobs.push_back((Instant::now(), job));
        self.shared.note_length(&queue);
        if queue.awake < self.shared.cores {
            self.shared.wake(queue, 1);
        }
    }

    /// Wakes threads for jobs that have been queued for too long. To be called about once a
    /// millisecond by who has pushed jobs that are not done.
    pub(crate) fn look_after(&self) {
        if self.shared.queued.load(Ordering::Relaxed) == 0 {
            return;
        }
        let queue = self.shared.lock();
        let now = Instant::now();
        let overdue = queue.jobs.iter().take(queue.asleep).take_while(|job| is_overdue(job, now));
        let overdue = overdue.count();
        self.shared.wake(queue, overdue);
    }

    /// Runs what is queued and ends the threads.
    pub(crate) fn stop(&self) {
        self.shared.lock().stopping = true;
        self.shared.woken.notify_all();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // A worker catches panics of jobs, so it cannot have panicked itself.
            let _ = thread.join();
        }
    }
}

fn is_overdue(job: &(Instant, Job), now: Instant) -> bool {
    now.saturating_duration_since(job.0) > PATIENCE
}

/// A thread of the pool.
struct Worker {
    shared: Arc<Shared>,
    /// Inboxes with outcomes that their shards have not been woken for.
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    inboxes: Vec<Arc<Inbox>>,
    /// Since when.
    since: Option<Instant>,
}

impl Worker {
    fn run(self: &Arc<Self>) {
        tell_of_waiting(Arc::clone(self) as Arc<dyn Waiting>);
        let mut queue = self.shared.lock();
        loop {
            if let Some((_, job)) = queue.jobs.pop_front() {
                self.shared.note_length(&queue);
                let now = Instant::now();
                let behind = queue.jobs.front().is_some_and(|next| is_overdue(next, now));
                self.shared.wake(queue, usize::from(behind));
                if let Some(inbox) = job() {
                    self.hold(inbox, now);
                }
            } else if !self.held().inboxes.is_empty() {
                drop(queue);
                self.wake_shards();
            } else if queue.stopping {
                return;
            } else {
                queue = self.shared.sleep(queue);
                continue;
            }
            queue = self.shared.lock();
        }
    }

    /// Remembers to wake a shard for the outcome of a job that began at `began`.
    fn hold(&self, inbox: Arc<Inbox>, began: Instant) {
        let mut held = self.held();
        held.inboxes.push(inbox);
        let since = *held.since.get_or_insert(began);
        if since.elapsed() > HOLD {
            held.wake();
        }
    }

    fn wake_shards(&self) {
        self.held().wake();
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn wake(&mut self) {
        self.since = None;
        for inbox in self.inboxes.drain(..) {
            inbox.wake();
        }
    }
}

impl Waiting for Worker {
    fn begins(&self) {
        self.wake_shards();
        let mut queue = self.shared.lock();
        queue.awake -= 1;
        if !queue.jobs.is_empty() && queue.awake < self.shared.cores {
            self.shared.wake(queue, 1);
        }
    }

    fn ends(&self) {
        self.shared.lock().awake += 1;
    }
}

impl Shared {
    /// Sleeps until there may be something to do.
    fn sleep<'q>(&self, mut queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        queue.awake -= 1;
        queue.asleep += 1;
        while queue.called == 0 && !queue.stopping {
            queue = self.woken.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        // `wake` has counted those it called; who wakes to end was not called.
        if queue.called > 0 {
            queue.called -= 1;
        } else {
            queue.asleep -= 1;
            queue.awake += 1;
        }
        queue
    }

    /// Makes up to `count` more threads be awake.
    fn wake(&self, mut queue: MutexGuard<'_, Queue>, count: usize) {
        let count = count.min(queue.asleep);
        queue.asleep -= count;
        queue.called += count;
        queue.awake += count;
        drop(queue);
        for _ in 0..count {
            self.woken.notify_one();
        }
    }

    fn note_length(&self, queue: &Queue) {
        self.queued.store(queue.jobs.len(), Ordering::Relaxed);
    }

    // The queue is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::mpsc::channel;

    use hayase_vfs::wait_for;

    use super::*;

    fn many() -> usize {
        thread::available_parallelism().unwrap().get() + 8
    }

    fn inbox() -> Arc<Inbox> {
        Arc::new(Inbox::new().unwrap())
    }

    /// All jobs have to be running at the same moment to end.
    fn run_together(workers: &Workers, count: usize, wait: fn(&Barrier)) {
        let (barrier, inbox) = (Arc::new(Barrier::new(count)), inbox());
        let (sender, done) = channel();
        for _ in 0..count {
            let (barrier, sender) = (Arc::clone(&barrier), sender.clone());
            let inbox = Arc::clone(&inbox);
            workers.push(Box::new(move || {
                wait(&barrier);
                sender.send(()).unwrap();
                Some(inbox)
            }));
        }
        drop(sender);
        let mut ended = 0;
        while ended < count {
            workers.look_after();
            ended += usize::from(done.recv_timeout(Duration::from_millis(1)).is_ok());
        }
        workers.stop();
    }

    #[test]
    fn jobs_that_say_that_they_wait_leave_the_cores_to_others() {
        let workers = Workers::start(many(), 100).unwrap();
        run_together(&workers, many(), |barrier| {
            wait_for(|| barrier.wait());
        });
    }

    #[test]
    fn jobs_that_wait_without_a_word_hold_up_others_for_a_moment_only() {
        let workers = Workers::start(many(), 100).unwrap();
        run_together(&workers, many(), |barrier| {
            barrier.wait();
        });
    }

    #[test]
    fn everything_that_is_queued_runs_before_the_end() {
        for _ in 0..50 {
            let workers = Workers::start(4, 1000).unwrap();
            let (sender, done) = channel();
            for number in 0..100 {
                let (sender, inbox) = (sender.clone(), inbox());
                workers.push(Box::new(move || {
                    sender.send(number).unwrap();
                    Some(inbox)
                }));
            }
            workers.stop();
            assert_eq!(done.try_iter().count(), 100);
        }
    }

    #[test]
    fn no_more_threads_are_awake_than_cores_when_none_waits() {
        let workers = Workers::start(many(), 1000).unwrap();
        let cores = workers.shared.cores;
        // All go to sleep first.
        while workers.shared.lock().asleep < many() {
            thread::yield_now();
        }
        for _ in 0..100 {
            workers.push(Box::new(|| None));
            let queue = workers.shared.lock();
            assert!(queue.awake <= cores, "{queue:?}");
        }
        workers.stop();
    }
}
