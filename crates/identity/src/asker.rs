//! Threads that ask the name services, and those who wait for their answers.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hayase_vfs::{Wait, wait_for};

use crate::cache::{Cache, Kept};
use crate::near;
use crate::question::{Answer, Question};
use crate::{Directory, Limits, Mapping};

/// A look-up that takes longer is worth a line in the log.
const SLOW: Duration = Duration::from_secs(1);

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The name service has to be asked, and the thread must not wait.
    WouldBlock,
    /// The name service takes long, or fails: ask again later.
    Later,
}

/// Asks, and remembers. Its threads end when it is dropped and they are done.
pub(crate) struct Asker {
    shared: Arc<Shared>,
    queue: SyncSender<Question>,
}

struct Shared {
    directory: Box<dyn Directory>,
    mapping: Mapping,
    limits: Limits,
    state: Mutex<State>,
    answered: Condvar,
    /// Of the answers that threads keep near.
    epoch: AtomicU64,
}

struct State {
    cache: Cache,
    /// What is being asked, and since when: nobody has to ask the same.
    asked: HashMap<Question, Instant>,
    waiting: usize,
    /// Grows when everything is forgotten: answers to older questions are not kept.
    generation: u64,
}

impl Asker {
    /// Starts the threads. They act as the thread that calls this.
    pub(crate) fn start(
        directory: Box<dyn Directory>,
        mapping: Mapping,
        limits: Limits,
    ) -> io::Result<Self> {
        let (queue, questions) = mpsc::sync_channel(limits.queue);
        let questions = Arc::new(Mutex::new(questions));
        let (asked, cache) = (HashMap::new(), Cache::new(limits.answers));
        let state = Mutex::new(State { cache, asked, waiting: 0, generation: 0 });
        let answered = Condvar::new();
        let epoch = AtomicU64::new(near::next_epoch());
        let shared = Arc::new(Shared { directory, mapping, limits, state, answered, epoch });
        for _ in 0..shared.limits.threads {
            let (shared, questions) = (Arc::clone(&shared), Arc::clone(&questions));
            thread::Builder::new()
                .name("names".to_owned())
                .spawn(move || shared.serve(&questions))?;
        }
        Ok(Asker { shared, queue })
    }

    /// The answer, from memory if it is good there. An answer that is old is better than none
    /// when the name service takes long.
    pub(crate) fn ask(&self, question: &Question, wait: Wait) -> Result<Answer, Unanswered> {
        let shared = &*self.shared;
        let now = Instant::now();
        let epoch = shared.epoch.load(Ordering::Acquire);
        if let Some(answer) = near::find(epoch, question, now) {
            return Ok(answer);
        }
        let mut state = shared.lock();
        let before = match state.cache.find(question) {
            Some(Kept { answer, until }) if until > now => {
                drop(state);
                let answer = answer.ok_or(Unanswered::Later)?;
                return Ok(near::keep(epoch, question, &answer, until));
            }
            Some(kept) => kept.answer,
            None => None,
        };
        if wait == Wait::Never {
            return Err(Unanswered::WouldBlock);
        }
        let before = before.ok_or(Unanswered::Later);
        let deadline = match state.asked.get(question) {
            Some(since) => *since + shared.limits.patience,
            None if self.queue.try_send(question.clone()).is_err() => return before,
            None => {
                state.asked.insert(question.clone(), now);
                now + shared.limits.patience
            }
        };
        // Who comes late to a slow answer does not begin to wait anew.
        let left = deadline.saturating_duration_since(now);
        if left.is_zero() || state.waiting >= shared.limits.waiting {
            return before;
        }
        state.waiting += 1;
        let unanswered = |state: &mut State| state.asked.contains_key(question);
        let waited = wait_for(|| shared.answered.wait_timeout_while(state, left, unanswered));
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        if state.asked.contains_key(question) {
            return before;
        }
        state.cache.find(question).and_then(|kept| kept.answer).map_or(before, Ok)
    }

    /// Forgets all answers.
    pub(crate) fn forget(&self) {
        let mut state = self.shared.lock();
        state.cache.forget();
        state.generation += 1;
        self.shared.epoch.store(near::next_epoch(), Ordering::Release);
    }
}

impl Shared {
    fn serve(&self, questions: &Mutex<Receiver<Question>>) {
        loop {
            let next = questions.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(question) = next else { return };
            let generation = self.lock().generation;
            let begun = Instant::now();
            let answer = question.ask(&*self.directory, &self.mapping);
            let took = begun.elapsed();
            if let Err(error) = &answer {
                tracing::warn!("{question:?}: the name service fails: {error}");
            } else if took > SLOW {
                tracing::warn!("{question:?}: the name service took {:.1} s", took.as_secs_f64());
            }
            self.note(question, answer.ok(), generation);
        }
    }

    fn note(&self, question: Question, answer: Option<Answer>, generation: u64) {
        let good = match &answer {
            Some(Answer::Nobody) => self.limits.unknown,
            Some(_) => self.limits.known,
            None => self.limits.failed,
        };
        let mut state = self.lock();
        state.asked.remove(&question);
        if state.generation == generation {
            // Of a name service that fails, what it said before still holds.
            let answer =
                answer.or_else(|| state.cache.find(&question).and_then(|kept| kept.answer));
            state.cache.keep(question, Kept { answer, until: Instant::now() + good });
        }
        drop(state);
        self.answered.notify_all();
    }

    // The state is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
