//! The pool of threads that may wait.
//!
//! Most calls that may wait do not: what they need is in memory. So there are as many threads
//! **awake** as there are cores, each taking one call after the other, and the others sleep: a
//! thread woken for each call, to find the lock it needs taken, would cost several times the call
//! itself. One more is woken when an awake one says that it waits for a disk
//! ([`hayase_vfs::wait_for`]), and when a call has been queued for too long, for whatever reason.
//! For the same reason a thread that goes on with the next call wakes a shard for several
//! outcomes at once.
//!
//! When all threads wait, more are started, up to a limit: disks work best on many things at once,
//! and many who wait for the same sync share it. Who slept last is woken first, so that threads
//! that are not needed any more sleep until they end. Clients take turns, whatever the number of
//! their connections.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use hayase_vfs::{Waiting, tell_of_waiting};

use crate::fair::FairQueue;
use crate::inbox::Inbox;

/// Work for the pool. It gives back the inbox into which it has put its outcome, if the shard
/// need not be woken at once.
pub(crate) type Job = Box<dyn FnOnce() -> Option<Arc<Inbox>> + Send>;

/// A job that has been queued for so long is worth waking a thread for.
const PATIENCE: Duration = Duration::from_micros(250);

/// How long a thread with more to do holds back outcomes, counted from when the call began.
const HOLD: Duration = Duration::from_micros(50);

/// A thread that has not been needed for so long ends.
const LINGER: Duration = Duration::from_secs(10);

/// Threads beside one for each core that stay, needed or not.
const KEPT: usize = 2;

/// Threads that run jobs; those of each client in the order they came.
#[derive(Debug)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// A thread has ended.
    ended: Condvar,
    /// Jobs that are queued, to be looked at without the lock.
    queued: AtomicUsize,
    /// The most jobs that may be queued.
    limit: usize,
    /// Threads that are awake at a time as long as none of them waits.
    cores: usize,
    /// Threads there are at least, and at most.
    least: usize,
    most: usize,
}

#[derive(Default)]
struct Queue {
    jobs: FairQueue<IpAddr, (Instant, Job)>,
    /// Threads that sleep and are not called; the last one slept last.
    asleep: Vec<Arc<Sleeper>>,
    /// Threads that run jobs, or are called to, and do not wait for a disk.
    awake: usize,
    /// All threads.
    threads: usize,
    stopping: bool,
}

/// A thread that sleeps.
#[derive(Debug)]
struct Sleeper {
    thread: Thread,
    /// Whether it is counted among those awake. Changes with the queue locked: who is called may
    /// just be about to end for having slept so long.
    called: AtomicBool,
}

impl Queue {
    /// Calls who slept last: counts it as awake. It has to be woken still, better without the lock.
    fn call_one(&mut self) -> Option<Arc<Sleeper>> {
        let sleeper = self.asleep.pop()?;
        sleeper.called.store(true, Ordering::Relaxed);
        self.awake += 1;
        Some(sleeper)
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue({} jobs, {} of {} awake)", self.jobs.len(), self.awake, self.threads)
    }
}

impl Workers {
    /// A pool of up to `most` threads; at most `limit` jobs may wait.
    pub(crate) fn start(most: usize, limit: usize) -> io::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let least = (cores + KEPT).min(most);
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            ended: Condvar::new(),
            queued: AtomicUsize::new(0),
            limit,
            cores,
            least,
            most,
        });
        let workers = Workers { shared };
        for _ in 0..least {
            let mut queue = workers.shared.lock();
            queue.threads += 1;
            queue.awake += 1;
            drop(queue);
            workers.shared.start_thread()?;
        }
        Ok(workers)
    }

    /// Whether a job of this client pushed now would have to be refused. One client may have no
    /// more than half of what may be queued.
    pub(crate) fn is_full(&self, client: IpAddr) -> bool {
        let queued = self.shared.queued.load(Ordering::Relaxed);
        let half = self.shared.limit / 2;
        queued >= self.shared.limit
            || (queued > half && self.shared.lock().jobs.len_of(client) > half)
    }

    /// Puts a client's job behind its others.
    pub(crate) fn push(&self, client: IpAddr, job: Job) {
        let mut queue = self.shared.lock();
        queue.jobs.push(client, (Instant::now(), job));
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
        let idle = queue.asleep.len() + (self.shared.most - queue.threads);
        let overdue = queue.jobs.iter().filter(|job| is_overdue(job, now)).take(idle).count();
        self.shared.wake(queue, overdue);
    }

    /// Runs what is queued and ends the threads.
    pub(crate) fn stop(&self) {
        let mut queue = self.shared.lock();
        queue.stopping = true;
        // They leave the list themselves.
        for sleeper in &queue.asleep {
            sleeper.thread.unpark();
        }
        while queue.threads > 0 {
            queue = self.shared.ended.wait(queue).unwrap_or_else(PoisonError::into_inner);
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
        let sleeper =
            Arc::new(Sleeper { thread: thread::current(), called: AtomicBool::new(false) });
        let mut queue = self.shared.lock();
        loop {
            if let Some((_, job)) = queue.jobs.pop() {
                self.shared.note_length(&queue);
                let now = Instant::now();
                let behind = queue.jobs.fronts().next().is_some_and(|next| is_overdue(next, now));
                self.shared.wake(queue, usize::from(behind));
                if let Some(inbox) = job() {
                    self.hold(inbox, now);
                }
            } else if !self.held().inboxes.is_empty() {
                drop(queue);
                self.wake_shards();
            } else if queue.stopping {
                queue.awake -= 1;
                break;
            } else {
                match self.shared.sleep(queue, &sleeper) {
                    (again, true) => queue = again,
                    (again, false) => {
                        queue = again;
                        break;
                    }
                }
                continue;
            }
            queue = self.shared.lock();
        }
        queue.threads -= 1;
        drop(queue);
        self.shared.ended.notify_all();
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
    /// Sleeps until there may be something to do; whether there may: otherwise the thread ends.
    fn sleep<'q>(
        &'q self,
        mut queue: MutexGuard<'q, Queue>,
        sleeper: &Arc<Sleeper>,
    ) -> (MutexGuard<'q, Queue>, bool) {
        sleeper.called.store(false, Ordering::Relaxed);
        queue.awake -= 1;
        queue.asleep.push(Arc::clone(sleeper));
        let since = Instant::now();
        loop {
            drop(queue);
            thread::park_timeout(LINGER);
            queue = self.lock();
            if sleeper.called.load(Ordering::Relaxed) {
                // `wake` has counted it.
                return (queue, true);
            }
            let surplus = queue.threads > self.least && since.elapsed() >= LINGER;
            if queue.stopping || surplus {
                queue.asleep.retain(|other| !Arc::ptr_eq(other, sleeper));
                return (queue, false);
            }
        }
    }

    /// Makes up to `count` more threads be awake, and starts those that are missing.
    fn wake(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>, count: usize) {
        if count == 0 {
            return;
        }
        let called = count.min(queue.asleep.len());
        let started = (count - called).min(self.most.saturating_sub(queue.threads));
        queue.threads += started;
        queue.awake += started;
        if called == 1 {
            let sleeper = queue.call_one();
            drop(queue);
            if let Some(sleeper) = sleeper {
                sleeper.thread.unpark();
            }
        } else {
            let sleepers: Vec<_> = (0..called).filter_map(|_| queue.call_one()).collect();
            drop(queue);
            for sleeper in sleepers {
                sleeper.thread.unpark();
            }
        }
        for _ in 0..started {
            if let Err(error) = self.start_thread() {
                // Others will do the work, later.
                tracing::warn!("no thread can be started for calls that wait: {error}");
            }
        }
    }

    /// Starts a thread that is already counted.
    fn start_thread(self: &Arc<Self>) -> io::Result<()> {
        let shared = Arc::clone(self);
        let thread = thread::Builder::new().name("worker".to_owned()).stack_size(512 << 10);
        let started =
            thread.spawn(move || Arc::new(Worker { shared, held: Mutex::default() }).run());
        started.map(drop).inspect_err(|_| {
            let mut queue = self.lock();
            queue.threads -= 1;
            queue.awake -= 1;
        })
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
    use std::net::Ipv4Addr;
    use std::sync::Barrier;
    use std::sync::mpsc::channel;

    use hayase_vfs::wait_for;

    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn many() -> usize {
        thread::available_parallelism().unwrap().get() + 8
    }

    fn inbox() -> Arc<Inbox> {
        Arc::new(Inbox::new().unwrap())
    }

    /// Waits until so many threads sleep.
    fn sleeping(workers: &Workers, count: usize) {
        while workers.shared.lock().asleep.len() != count {
            thread::yield_now();
        }
    }

    /// All jobs have to be running at the same moment to end.
    fn run_together(workers: &Workers, count: usize, wait: fn(&Barrier)) {
        let (barrier, inbox) = (Arc::new(Barrier::new(count)), inbox());
        let (sender, done) = channel();
        for _ in 0..count {
            let (barrier, sender) = (Arc::clone(&barrier), sender.clone());
            let inbox = Arc::clone(&inbox);
            workers.push(
                CLIENT,
                Box::new(move || {
                    wait(&barrier);
                    sender.send(()).unwrap();
                    Some(inbox)
                }),
            );
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
                workers.push(
                    CLIENT,
                    Box::new(move || {
                        sender.send(number).unwrap();
                        Some(inbox)
                    }),
                );
            }
            workers.stop();
            assert_eq!(done.try_iter().count(), 100);
        }
    }

    #[test]
    fn no_more_threads_are_awake_than_cores_when_none_waits() {
        let workers = Workers::start(many(), 1000).unwrap();
        let cores = workers.shared.cores;
        sleeping(&workers, workers.shared.least);
        for _ in 0..100 {
            workers.push(CLIENT, Box::new(|| None));
            let queue = workers.shared.lock();
            assert!(queue.awake <= cores, "{queue:?}");
        }
        workers.stop();
    }

    /// Who had slept for long enough to end could be called at the same moment: it ended, but
    /// stayed counted as awake for ever, and its job waited for another thread.
    #[test]
    fn who_is_called_does_not_end_before_it_is_woken() {
        let workers = Workers::start(many(), 1000).unwrap();
        let least = workers.shared.least;
        sleeping(&workers, least);
        let mut queue = workers.shared.lock();
        let sleeper = queue.call_one().unwrap();
        queue.stopping = true; // like being one too many, a reason to end when nobody calls
        drop(queue);
        // Wakes by itself before it is woken.
        sleeper.thread.unpark();
        workers.stop();
        let queue = workers.shared.lock();
        assert_eq!((queue.threads, queue.awake, queue.asleep.len()), (0, 0, 0));
    }

    #[test]
    fn there_are_no_more_threads_than_may_be() {
        let workers = Workers::start(many(), 1000).unwrap();
        let (sender, done) = channel::<()>();
        let gate = Arc::new(Mutex::new(()));
        let closed = gate.lock().unwrap();
        for _ in 0..3 * many() {
            let (gate, sender) = (Arc::clone(&gate), sender.clone());
            workers.push(
                CLIENT,
                Box::new(move || {
                    wait_for(|| drop(gate.lock().unwrap()));
                    sender.send(()).unwrap();
                    None
                }),
            );
        }
        while workers.shared.lock().threads < many() {
            workers.look_after();
            thread::yield_now();
        }
        for _ in 0..100 {
            workers.look_after();
            assert_eq!(workers.shared.lock().threads, many());
        }
        drop(closed);
        workers.stop();
        assert_eq!(done.try_iter().count(), 3 * many());
        let queue = workers.shared.lock();
        assert_eq!((queue.threads, queue.awake, queue.asleep.len()), (0, 0, 0));
    }

    #[test]
    fn a_client_with_many_jobs_does_not_keep_another_one_waiting() {
        // One thread only: what it runs is what the queue gives it.
        let workers = Workers::start(1, 10_000).unwrap();
        let (sender, done) = channel();
        let gate = Arc::new(Barrier::new(2));
        let job = |name: &'static str| {
            let sender = sender.clone();
            Box::new(move || {
                sender.send(name).unwrap();
                None
            })
        };
        let (greedy, modest) = (CLIENT, IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
        let closed = Arc::clone(&gate);
        workers.push(
            greedy,
            Box::new(move || {
                closed.wait();
                closed.wait();
                None
            }),
        );
        gate.wait();
        for _ in 0..1000 {
            workers.push(greedy, job("greedy"));
        }
        workers.push(modest, job("modest"));
        workers.push(modest, job("modest"));
        gate.wait();
        workers.stop();
        let order: Vec<_> = done.try_iter().collect();
        let places: Vec<_> = (0..order.len()).filter(|at| order[*at] == "modest").collect();
        assert_eq!((order.len(), places), (1002, vec![1, 3]));
    }

    #[test]
    fn one_client_cannot_fill_the_queue() {
        let workers = Workers::start(0, 10).unwrap();
        let other = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
        let mut pushed = 0;
        while !workers.is_full(CLIENT) {
            workers.push(CLIENT, Box::new(|| None));
            pushed += 1;
        }
        assert_eq!(pushed, 6);
        assert!(!workers.is_full(other));
        while !workers.is_full(other) {
            workers.push(other, Box::new(|| None));
            pushed += 1;
        }
        assert_eq!(pushed, 10);
    }
}
