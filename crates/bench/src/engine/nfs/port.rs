//! A thread's connections to a server.

use std::collections::VecDeque;
use std::time::Instant;

use hayase_client as client;
use hayase_client::{
    Cursor, Error, FileHandle, Lane, OpenFile, OpenHow, Rename, Reply, Request, Stable, Timing,
};

use super::{DIR_MODE, FILE_MODE, failure};
use crate::engine::recorder::Outcome;
use crate::engine::storage::{Done, Failure, Name, Op, Port};

/// An operation under way, which may take more than one request.
#[derive(Debug)]
struct Step {
    token: u64,
    then: Then,
    /// When its first request was sent.
    sent: Option<Instant>,
    /// What the server told of its requests so far.
    server: Option<Timing>,
}

/// What follows when the request is answered.
#[derive(Debug)]
enum Then {
    /// Nothing.
    Done,
    /// A file that was made is closed.
    Close,
    /// The rest of the directory.
    List { dir: FileHandle, plus: bool, entries: u64 },
}

/// A thread's connections.
pub(crate) struct LanePort {
    lane: Lane,
    steps: Vec<Option<Step>>,
    free: Vec<usize>,
    finished: Vec<client::Done>,
    /// What could not even be asked for.
    refused: VecDeque<Done>,
}

impl LanePort {
    pub(super) fn new(lane: Lane) -> Self {
        LanePort {
            lane,
            steps: Vec::new(),
            free: Vec::new(),
            finished: Vec::new(),
            refused: VecDeque::new(),
        }
    }

    fn ask(&mut self, place: usize, request: Request) {
        if self.lane.submit(place as u64, request).is_err() {
            // As many as the depth are under way at most; each frees its place before the next.
            unreachable!("a lane is as deep as its port");
        }
    }

    fn place(&mut self, step: Step) -> usize {
        if let Some(place) = self.free.pop() {
            self.steps[place] = Some(step);
            return place;
        }
        self.steps.push(Some(step));
        self.steps.len() - 1
    }

    /// Takes note of an answer; asks on, or has an operation done.
    fn take(&mut self, answer: client::Done) -> Option<Done> {
        let place = answer.token as usize;
        let mut step = self.steps.get_mut(place)?.take()?;
        let sent = *step.sent.get_or_insert(answer.sent);
        step.server = together(step.server, answer.server);
        let (mut outcome, mut verifier) = (Outcome::default(), None);
        let result = match answer.result {
            Ok(reply) => {
                match (reply, &mut step.then) {
                    (Reply::Read { count, .. }, _) => outcome.bytes = count.into(),
                    (Reply::Written { count, verifier: of_write, .. }, _) => {
                        outcome.bytes = count.into();
                        verifier = Some(of_write);
                    }
                    (Reply::Committed { verifier: of_commit }, _) => verifier = Some(of_commit),
                    (Reply::Opened(opened), Then::Close) => {
                        step.then = Then::Done;
                        self.steps[place] = Some(step);
                        self.ask(place, Request::Close { file: opened.file });
                        return None;
                    }
                    (Reply::Listing(listing), Then::List { dir, plus, entries }) => {
                        *entries += listing.entries.len() as u64;
                        if let Some(from) = listing.next {
                            let (dir, with_attributes) = (dir.clone(), *plus);
                            self.steps[place] = Some(step);
                            self.ask(place, Request::ReadDir { dir, from, with_attributes });
                            return None;
                        }
                        outcome.entries = *entries;
                    }
                    _ => {}
                }
                Ok(outcome)
            }
            Err(error) => Err(failure(&error)),
        };
        self.free.push(place);
        let (token, buffer, done) = (step.token, answer.buffer, answer.received);
        Some(Done { token, result, buffer, sent, done, verifier, server: step.server })
    }
}

/// What the server told of requests that follow each other.
fn together(one: Option<Timing>, other: Option<Timing>) -> Option<Timing> {
    match (one, other) {
        (Some(a), Some(b)) => Some(Timing {
            queued: a.queued + b.queued,
            served: a.served + b.served,
            disk: a.disk + b.disk,
        }),
        (one, other) => one.or(other),
    }
}

/// The request that an operation begins with, and what follows.
fn request(op: Op<OpenFile, FileHandle>) -> Result<(Request, Then), Error> {
    let name = |of: Name| client::Name::new(of);
    let plain = |request| (request, Then::Done);
    Ok(match op {
        Op::Read { file, offset, len, buffer } => {
            plain(Request::Read { file, offset, len, buffer })
        }
        Op::Write { file, offset, len, stable, buffer } => {
            let stable = if stable { Stable::FileSync } else { Stable::Unstable };
            plain(Request::Write { file, offset, len, stable, buffer })
        }
        Op::Sync { file } => plain(Request::Commit { file, offset: 0, len: 0 }),
        Op::Create { dir, name: of } => {
            let how = OpenHow::create_new(FILE_MODE);
            (Request::Open { dir, name: name(of)?, how }, Then::Close)
        }
        Op::Stat { dir, name: of } => plain(Request::Lookup { dir, name: name(of)? }),
        Op::GetAttr { file } => plain(Request::GetAttr { file: file.handle().clone() }),
        Op::ReadDir { dir, plus } => {
            let list = Then::List { dir: dir.clone(), plus, entries: 0 };
            (Request::ReadDir { dir, from: Cursor::START, with_attributes: plus }, list)
        }
        Op::Rename { dir, from, to } => plain(Request::Rename(Box::new(Rename {
            from_dir: dir.clone(),
            from: name(from)?,
            to_dir: dir,
            to: name(to)?,
        }))),
        Op::Remove { dir, name: of } => plain(Request::Remove { dir, name: name(of)? }),
        Op::MkDir { dir, name: of } => {
            plain(Request::MkDir { dir, name: name(of)?, mode: DIR_MODE })
        }
        Op::RmDir { dir, name: of } => plain(Request::RmDir { dir, name: name(of)? }),
    })
}

impl Port for LanePort {
    type File = OpenFile;
    type Dir = FileHandle;

    fn granted(&self) -> Option<u32> {
        Some(self.lane.slots() as u32)
    }

    fn submit(&mut self, token: u64, op: Op<OpenFile, FileHandle>) {
        match request(op) {
            Ok((request, then)) => {
                let place = self.place(Step { token, then, sent: None, server: None });
                self.ask(place, request);
            }
            Err(error) => {
                let (result, now) = (Err(failure(&error)), Instant::now());
                let (buffer, verifier) = (None, None);
                self.refused.push_back(Done {
                    token,
                    result,
                    buffer,
                    sent: now,
                    done: now,
                    verifier,
                    server: None,
                });
            }
        }
    }

    fn wait(&mut self, until: Option<Instant>, done: &mut Vec<Done>) -> Result<(), Failure> {
        let before = done.len();
        done.extend(self.refused.drain(..));
        while done.len() == before {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if self.lane.in_flight() == 0 {
                // A lane with nothing to wait for does not wait.
                std::thread::sleep(left.unwrap_or_default());
                return Ok(());
            }
            let mut finished = std::mem::take(&mut self.finished);
            let waited = self.lane.wait(left, &mut finished);
            for answer in finished.drain(..) {
                done.extend(self.take(answer));
            }
            self.finished = finished;
            waited.map_err(|error| Failure { fatal: true, ..failure(&error) })?;
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
        }
        Ok(())
    }
}
