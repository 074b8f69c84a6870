//! Copies that go on after COPY was answered (RFC 7862 §4.4): a few threads of their own make
//! them, piece by piece.
//!
//! Clients take turns, and so do the copies of one client, so that a short copy does not wait for
//! the end of a long one. Threads start when there is something to copy and end when there is
//! nothing left.

mod job;
mod piece;
mod turns;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use hayase_proto::nfs4::Status;
use hayase_state::AsyncCopy;

pub(super) use job::{Job, Plan};
pub(super) use piece::{Ends, both, copy_piece};

use crate::service::Server;
use job::Went;
use turns::Turns;

/// How long `OFFLOAD_CANCEL` waits for the piece that is being copied. Pieces are made to be
/// shorter; only a disk that does not answer takes so long.
const CANCEL_PATIENCE: Duration = Duration::from_secs(2);

/// How long a copy rests that others have to make way for first.
const REST: Duration = Duration::from_millis(20);

/// The copies that wait for their turn, and the threads.
pub(crate) struct Copying {
    server: Weak<Server>,
    threads: usize,
    queue: Mutex<Queue>,
    /// A copy has ended, or all have to.
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    stopped: bool,
    /// Threads that have not decided to end.
    running: usize,
    handles: Vec<JoinHandle<()>>,
    turns: Turns,
}

impl Copying {
    /// No copies; there will be up to `threads` threads.
    pub(crate) fn new(server: Weak<Server>, threads: usize) -> Self {
        Copying { server, threads, queue: Mutex::default(), changed: Condvar::new() }
    }

    /// Begins a copy. DELAY if there is no thread for it.
    pub(super) fn begin(&self, job: Job) -> Result<(), Status> {
        let mut queue = self.lock();
        let server = self.server.upgrade().filter(|_| !queue.stopped).ok_or(Status::Delay)?;
        let copy = Arc::clone(job.copy());
        queue.turns.push(job);
        queue.handles.retain(|handle| !handle.is_finished());
        if queue.running >= self.threads {
            return Ok(());
        }
        let builder = std::thread::Builder::new().name("hayase-copy".into());
        match builder.spawn(move || work(&server)) {
            Ok(handle) => {
                queue.running += 1;
                queue.handles.push(handle);
            }
            Err(error) if queue.running == 0 => {
                tracing::error!("no thread can be started to copy: {error}");
                queue.turns.take(&copy);
                return Err(Status::Delay);
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// Sees to it that nothing more is written for a copy that was cancelled; false if that
    /// takes too long.
    pub(super) fn wait_for_end(&self, server: &Server, copy: &Arc<AsyncCopy>) -> bool {
        let mut queue = self.lock();
        if queue.turns.take(copy).is_some() {
            drop(queue);
            server.v4.state.end_copy(copy, Ok(()));
            return true;
        }
        queue = self
            .changed
            .wait_timeout_while(queue, CANCEL_PATIENCE, |_| !copy.has_ended())
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        drop(queue);
        copy.has_ended()
    }

    /// Stops all copies, after the piece that each is at; there will be no others. Their clients
    /// are told nothing: they see that the server is gone.
    pub(crate) fn stop(&self) {
        let handles = {
            let mut queue = self.lock();
            queue.stopped = true;
            std::mem::take(&mut queue.handles)
        };
        self.changed.notify_all();
        for handle in handles {
            if handle.join().is_err() {
                tracing::error!("a thread that copied has panicked");
            }
        }
    }

    /// The copy whose turn it is, if there is any; if not, this thread ends.
    fn next(&self) -> Option<Job> {
        let mut queue = self.lock();
        let job = if queue.stopped { None } else { queue.turns.pop() };
        if job.is_none() {
            queue.running -= 1;
        }
        job
    }

    /// A copy waits for its next turn. One that was cancelled meanwhile comes back.
    fn again(&self, job: Job) -> Option<Job> {
        let mut queue = self.lock();
        if !job.copy().is_wanted() {
            return Some(job);
        }
        queue.turns.push(job);
        None
    }

    fn rest(&self) {
        let queue = self.lock();
        drop(self.changed.wait_timeout_while(queue, REST, |queue| !queue.stopped));
    }

    fn ended(&self) {
        // Who waits has looked before it let go of the lock.
        drop(self.lock());
        self.changed.notify_all();
    }

    // The queue is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a thread does.
fn work(server: &Server) {
    while let Some(mut job) = server.copying.next() {
        let went = job.take_turn(server);
        if went == Went::Delayed {
            server.copying.rest();
        }
        let ending = match went {
            Went::Ended(result) => Some((job, result)),
            Went::On | Went::Delayed => server.copying.again(job).map(|job| (job, Ok(()))),
        };
        if let Some((job, result)) = ending {
            job.end(server, result);
            server.copying.ended();
        }
    }
}
