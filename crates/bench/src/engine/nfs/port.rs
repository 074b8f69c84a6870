//! A thread's connections to a server.

use std::collections::VecDeque;
use std::time::Instant;

use hayase_client as client;
use hayase_client::{
    Buffer, Cursor, Error, FileHandle, Lane, OpenFile, OpenHow, Rename, Reply, Request, Stable,
    Timing,
};

use super::pieces::{Pieces, Whole};
use super::{DIR_MODE, FILE_MODE, failure};
use crate::engine::recorder::Outcome;
use crate::engine::storage::{Done, Failure, Name, Op, Port};

/// The low bits of a request's token are its operation's place, the others which of its pieces it is.
const PLACE_BITS: u32 = 32;

/// An operation under way, which may take more than one request.
#[derive(Debug)]
struct Step {
    token: u64,
    then: Then,
    /// When its first request was sent.
    sent: Option<Instant>,
    /// What the server told of its requests so far.
    server: Option<Timing>,
    /// Why one of its pieces failed.
    failure: Option<Failure>,
    /// The verifier of the last piece that was written.
    verifier: Option<[u8; 8]>,
}

impl Step {
    fn new(token: u64, then: Then) -> Self {
        Step { token, then, sent: None, server: None, failure: None, verifier: None }
    }
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
    /// The other pieces of a large block.
    Pieces(Box<Pieces>),
}

/// A thread's connections.
pub(crate) struct LanePort {
    lane: Lane,
    /// Bytes of a request at most: reading, writing.
    carries: (u32, u32),
    /// How many requests an operation makes at once.
    pieces: u32,
    /// Requests that the lane has no room for yet.
    waiting: VecDeque<(u64, Request)>,
    /// For pieces.
    idle: Vec<Buffer>,
    steps: Vec<Option<Step>>,
    free: Vec<usize>,
    finished: Vec<client::Done>,
    /// What could not even be asked for.
    refused: VecDeque<Done>,
}

impl LanePort {
    /// A port whose operations make up to `pieces` requests at once.
    pub(super) fn new(lane: Lane, carries: (u32, u32), pieces: u32) -> Self {
        LanePort {
            lane,
            carries,
            pieces,
            waiting: VecDeque::new(),
            idle: Vec::new(),
            steps: Vec::new(),
            free: Vec::new(),
            finished: Vec::new(),
            refused: VecDeque::new(),
        }
    }

    fn ask(&mut self, token: u64, request: Request) {
        if let Err(full) = self.lane.submit(token, request) {
            self.waiting.push_back((token, *full.0));
        }
    }

    /// Asks for what the lane had no room for.
    fn ask_waiting(&mut self) {
        while let Some((token, request)) = self.waiting.pop_front() {
            if let Err(full) = self.lane.submit(token, request) {
                self.waiting.push_front((token, *full.0));
                return;
            }
        }
    }

    /// Cuts a block that is larger than one request carries, and asks for its pieces.
    fn ask_in_pieces(&mut self, token: u64, whole: Whole, piece: u32) {
        let (pieces, requests) = Pieces::cut(whole, piece, &mut self.idle);
        let place = self.place(Step::new(token, Then::Pieces(Box::new(pieces))));
        for (number, request) in requests.into_iter().enumerate() {
            self.ask((number as u64) << PLACE_BITS | place as u64, request);
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
        let place = (answer.token & ((1 << PLACE_BITS) - 1)) as usize;
        let mut step = self.steps.get_mut(place)?.take()?;
        let sent = *step.sent.get_or_insert(answer.sent);
        if let Then::Pieces(_) = step.then {
            return self.take_piece(place, step, answer);
        }
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
                        self.ask(answer.token, Request::Close { file: opened.file });
                        return None;
                    }
                    (Reply::Listing(listing), Then::List { dir, plus, entries }) => {
                        *entries += listing.entries.len() as u64;
                        if let Some(from) = listing.next {
                            let (dir, with_attributes) = (dir.clone(), *plus);
                            self.steps[place] = Some(step);
                            let request = Request::ReadDir { dir, from, with_attributes };
                            self.ask(answer.token, request);
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

    /// Takes note of the answer to one piece of a block; the last one has the operation done.
    fn take_piece(&mut self, place: usize, mut step: Step, answer: client::Done) -> Option<Done> {
        let Then::Pieces(pieces) = &mut step.then else { return None };
        let number = (answer.token >> PLACE_BITS) as usize;
        let (moved, verifier) = match answer.result {
            Ok(Reply::Read { count, .. }) => (count, None),
            Ok(Reply::Written { count, verifier, .. }) => (count, Some(verifier)),
            Ok(_) => (0, None),
            Err(error) => {
                step.failure.get_or_insert_with(|| failure(&error));
                (0, None)
            }
        };
        pieces.answered(number, moved, answer.buffer.as_ref());
        self.idle.extend(answer.buffer);
        step.sent = step.sent.map(|sent| sent.min(answer.sent));
        // Where they differ, the last one tells what the server knows now.
        step.verifier = verifier.or(step.verifier);
        // They are under way at the same time, and it was the last that all waited for.
        step.server = answer.server;
        if !pieces.is_complete() {
            self.steps[place] = Some(step);
            return None;
        }
        self.free.push(place);
        let Step { token, then, sent, server, failure, verifier } = step;
        let Then::Pieces(pieces) = then else { return None };
        let (outcome, buffer) = pieces.finish();
        Some(Done {
            token,
            result: failure.map_or(Ok(outcome), Err),
            buffer: Some(buffer),
            sent: sent.unwrap_or(answer.sent),
            done: answer.received,
            verifier,
            server,
        })
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

fn stability(stable: bool) -> Stable {
    if stable { Stable::FileSync } else { Stable::Unstable }
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
            plain(Request::Write { file, offset, len, stable: stability(stable), buffer })
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
        Some(self.lane.slots() as u32 / self.pieces)
    }

    fn submit(&mut self, token: u64, op: Op<OpenFile, FileHandle>) {
        let (read_max, write_max) = self.carries;
        let op = match op {
            Op::Read { file, offset, len, buffer } if len > read_max => {
                let whole = Whole { file, offset, len, write: None, buffer };
                return self.ask_in_pieces(token, whole, read_max);
            }
            Op::Write { file, offset, len, stable, buffer } if len > write_max => {
                let write = Some(stability(stable));
                let whole = Whole { file, offset, len, write, buffer };
                return self.ask_in_pieces(token, whole, write_max);
            }
            other => other,
        };
        match request(op) {
            Ok((request, then)) => {
                let place = self.place(Step::new(token, then));
                self.ask(place as u64, request);
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
            self.ask_waiting();
            self.finished = finished;
            waited.map_err(|error| Failure { fatal: true, ..failure(&error) })?;
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
        }
        Ok(())
    }
}
