//! One of a job's `numjobs`, or of a `file://` target one of its operations at a time: what it does
//! next, and what it makes of what is done.

use std::sync::Arc;
use std::time::Instant;

use hayase_buf::Buffer;

use super::course::{Course, mix};
use super::pace::Pace;
use super::recorder::{Moments, Outcome, Recorder, Way};
use super::storage::{Done, EILSEQ, EIO, Failure, Name, Op};
use super::verify::{self, Block};
use crate::job::{Flow, Job, Meta, Work};
use crate::units::show_bytes;

/// What a unit works on.
#[derive(Clone, Debug)]
pub(crate) enum Things<F, D> {
    /// Open files of equal length.
    Data(Arc<[DataFile<F>]>),
    /// Directories with names, and for GETATTR the files.
    Names { leaves: Arc<[D]>, files: Arc<[F]> },
}

/// A file whose data is read or written.
#[derive(Clone, Debug)]
pub(crate) struct DataFile<F> {
    pub(crate) file: F,
    /// Its path below the target.
    pub(crate) path: String,
    /// Which one it is, in blocks that are verified.
    pub(crate) id: u64,
}

/// What a unit wants.
pub(crate) enum Want<F, D> {
    /// To start this in that slot.
    Start(u32, Op<F, D>),
    /// Nothing before then.
    At(Instant),
    /// Nothing before something is done.
    Busy,
    /// Nothing any more.
    Nothing,
}

/// An operation under way.
#[derive(Debug, Default)]
struct Slot {
    kind: Option<Kind>,
    file: usize,
    offset: u64,
    generation: Option<u64>,
    intended: Option<Instant>,
    /// For the next one.
    buffer: Option<Buffer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Data(Way),
    Meta,
    Sync,
}

/// What it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Measure,
    /// Reads again what was written, uncounted.
    Verify,
}

/// One of those that do a job.
pub(crate) struct Unit<F, D> {
    pub(crate) number: usize,
    pub(crate) job: Arc<Job>,
    pub(crate) recorder: Recorder,
    things: Things<F, D>,
    course: Course,
    read_pace: Pace,
    write_pace: Pace,
    until: Option<Instant>,
    threads: Option<u32>,
    not_before: Option<Instant>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    mode: Mode,
    over: bool,
    /// What the next operation is, while it waits to be due.
    pending: Option<Way>,
    counter: u64,
    since_sync: u32,
    sync_due: Option<usize>,
    /// How often each place was written.
    generations: Option<Vec<u32>>,
    /// That of all writes so far.
    verifier: Option<[u8; 8]>,
    pub(crate) verified: u64,
    pub(crate) failure: Option<Failure>,
}

/// How a unit goes about it.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    pub(crate) course: Course,
    pub(crate) read_pace: Pace,
    pub(crate) write_pace: Pace,
    /// Operations under way at once.
    pub(crate) depth: u32,
    /// No operation starts after that.
    pub(crate) until: Option<Instant>,
    /// Whether each operation has a thread to itself, which waits for it: then this is how many there
    /// are, and nothing passes between starting one and giving it to the system.
    pub(crate) threads: Option<u32>,
}

impl<F: Clone, D: Clone> Unit<F, D> {
    /// `number` is the job's, by which its recorder tells.
    pub(crate) fn new(
        number: usize,
        job: &Arc<Job>,
        things: Things<F, D>,
        manner: Manner,
        recorder: Recorder,
    ) -> Self {
        let Manner { course, read_pace, write_pace, depth, until, threads } = manner;
        let generations = (job.verify && job.work.writes()).then(|| vec![0; course.len() as usize]);
        Unit {
            number,
            job: Arc::clone(job),
            recorder,
            things,
            course,
            read_pace,
            write_pace,
            until,
            threads,
            not_before: None,
            slots: (0..depth).map(|_| Slot::default()).collect(),
            free: (0..depth).rev().collect(),
            mode: Mode::Measure,
            over: false,
            pending: None,
            counter: 0,
            since_sync: 0,
            sync_due: None,
            generations,
            verifier: None,
            verified: 0,
            failure: None,
        }
    }

    /// How many operations it has under way, those of other threads of the same job included as far
    /// as that is known.
    pub(crate) fn depth_reached(&self) -> u32 {
        let threads = self.threads.filter(|_| self.read_pace.due().is_none());
        threads.unwrap_or_else(|| self.under_way())
    }

    /// Whether its operations are this machine's.
    pub(crate) fn is_local(&self) -> bool {
        self.threads.is_some()
    }

    /// How many operations it has under way itself.
    fn under_way(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }

    /// Starts nothing any more.
    pub(crate) fn stop(&mut self) {
        self.over = true;
    }

    /// Whether nothing is left to start and nothing is under way.
    pub(crate) fn is_done(&self) -> bool {
        self.over && self.free.len() == self.slots.len()
    }

    /// Gives up, for the first reason there is.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.over = true;
        self.failure.get_or_insert(failure);
    }

    /// What it wants to do now.
    pub(crate) fn next(&mut self, now: Instant) -> Want<F, D> {
        if self.over {
            return Want::Nothing;
        }
        let Some(slot) = self.free.last().copied() else { return Want::Busy };
        if let (Some(index), Things::Data(files)) = (self.sync_due.take(), &self.things) {
            let op = Op::Sync { file: files[index].file.clone() };
            return self.start(slot, Kind::Sync, index, now, op);
        }
        if let Some(then) = self.not_before.filter(|then| *then > now) {
            return Want::At(then);
        }
        if self.until.is_some_and(|until| until <= now) {
            self.over = true;
            return Want::Nothing;
        }
        // The same place must not be written twice at once if it matters which write is the last.
        if self.generations.is_some() && self.course.at_turn() && self.under_way() > 0 {
            return Want::Busy;
        }
        let way = *self.pending.get_or_insert_with(|| {
            self.counter += 1;
            choose(self.mode, &self.job, self.counter)
        });
        let pace = if way == Way::Write { &self.write_pace } else { &self.read_pace };
        if let Some(due) = pace.due().filter(|_| self.mode == Mode::Measure) {
            if self.until.is_some_and(|until| until <= due) {
                self.over = true;
                return Want::Nothing;
            }
            if due > now {
                return Want::At(due);
            }
        }
        let Some(place) = self.next_place() else {
            self.over = true;
            return Want::Nothing;
        };
        self.pending = None;
        let pace = if way == Way::Write { &mut self.write_pace } else { &mut self.read_pace };
        let intended = if self.mode == Mode::Measure { pace.take(now) } else { now };
        match self.job.work {
            Work::Data { .. } => self.start_data(slot, way, place, intended),
            Work::Meta(meta) => {
                let op = self.meta(meta, place);
                self.start(slot, Kind::Meta, 0, intended, op)
            }
        }
    }

    /// The next place; in verifying, of those that were written.
    fn next_place(&mut self) -> Option<u64> {
        loop {
            let place = self.course.next()?;
            let Some(generations) = &self.generations else { return Some(place) };
            if self.mode == Mode::Measure || generations[self.course.index_of(place)] > 0 {
                return Some(place);
            }
        }
    }

    fn start(
        &mut self,
        slot: u32,
        kind: Kind,
        file: usize,
        intended: Instant,
        op: Op<F, D>,
    ) -> Want<F, D> {
        self.free.pop();
        let state = &mut self.slots[slot as usize];
        (state.kind, state.file, state.intended) = (Some(kind), file, Some(intended));
        Want::Start(slot, op)
    }

    fn start_data(&mut self, slot: u32, way: Way, place: u64, intended: Instant) -> Want<F, D> {
        let Things::Data(files) = &self.things else { return Want::Nothing };
        let len = self.job.bs;
        // Sequential blocks take the files in turns, as in fio.
        let count = files.len() as u64;
        let (index, offset) = ((place % count) as usize, place / count * u64::from(len));
        let DataFile { file, id, .. } = &files[index];
        let (file, id) = (file.clone(), *id);
        let state = &mut self.slots[slot as usize];
        let mut buffer = state.buffer.take().unwrap_or_else(|| {
            let mut buffer = Buffer::unpooled(len as usize);
            verify::noise(&mut buffer, mix(id ^ u64::from(slot)));
            buffer
        });
        (state.offset, state.generation) = (offset, None);
        let op = if way == Way::Read {
            if self.mode == Mode::Verify {
                let generations = self.generations.as_ref();
                let at = self.course.index_of(place);
                state.generation = generations.map(|all| u64::from(all[at]));
            }
            Op::Read { file, offset, len, buffer }
        } else {
            if let Some(generations) = &mut self.generations {
                let generation = &mut generations[self.course.index_of(place)];
                *generation += 1;
                verify::stamp(
                    &mut buffer,
                    Block { file: id, offset, generation: u64::from(*generation) },
                );
            } else if let Some(head) = buffer.first_chunk_mut() {
                // No two blocks are the same, nor the same twice.
                *head = mix(place ^ mix(self.counter)).to_le_bytes();
            }
            if self.job.fsync > 0 {
                self.since_sync += 1;
                if self.since_sync >= self.job.fsync {
                    (self.since_sync, self.sync_due) = (0, Some(index));
                }
            }
            Op::Write { file, offset, len, stable: self.job.sync, buffer }
        };
        self.start(slot, Kind::Data(way), index, intended, op)
    }

    fn meta(&self, meta: Meta, place: u64) -> Op<F, D> {
        let Things::Names { leaves, files } = &self.things else {
            unreachable!("work on names has names")
        };
        let leaf =
            (place / u64::from(self.job.files_per_dir.max(1))) as usize % leaves.len().max(1);
        let pass = self.course.pass();
        let dir = || leaves[leaf].clone();
        match meta {
            Meta::Create => Op::Create { dir: dir(), name: name(pass, place) },
            Meta::Stat => Op::Stat { dir: dir(), name: name(0, place) },
            Meta::GetAttr => Op::GetAttr { file: files[place as usize].clone() },
            Meta::ReadDir | Meta::ReadDirPlus => Op::ReadDir {
                dir: leaves[place as usize % leaves.len().max(1)].clone(),
                plus: meta == Meta::ReadDirPlus,
            },
            // There and back.
            Meta::Rename => {
                let (from, to) = (name(pass % 2, place), name((pass + 1) % 2, place));
                Op::Rename { dir: dir(), from, to }
            }
            Meta::Remove => Op::Remove { dir: dir(), name: name(0, place) },
            Meta::MkDir => Op::MkDir { dir: dir(), name: name(pass, place) },
            Meta::RmDir => Op::RmDir { dir: dir(), name: name(0, place) },
        }
    }

    /// Takes note of an operation that is done.
    pub(crate) fn finish(&mut self, slot: u32, done: Done) {
        self.free.push(slot);
        let state = &mut self.slots[slot as usize];
        let (Some(kind), Some(intended)) = (state.kind.take(), state.intended.take()) else {
            return;
        };
        state.buffer = done.buffer;
        let way = match kind {
            Kind::Data(way) => way,
            Kind::Meta => Way::Meta,
            Kind::Sync => Way::Write,
        };
        let pace = if way == Way::Write { &self.write_pace } else { &self.read_pace };
        let at_once = self.threads.is_some() && pace.due().is_none();
        let intended = if at_once { done.sent } else { intended };
        let sent = done.sent.max(intended);
        let moments = Moments { intended, sent, done: done.done, server: done.server };
        if !self.job.thinktime.is_zero() {
            self.not_before = Some(done.done + self.job.thinktime);
        }
        let result = done.result.and_then(|outcome| self.judge(slot, kind, outcome));
        let result =
            result.and_then(|outcome| self.compare_verifier(done.verifier).map(|()| outcome));
        match result {
            Ok(_) if self.mode == Mode::Verify => self.verified += 1,
            Ok(_) if kind == Kind::Sync => self.recorder.synced(moments),
            Ok(outcome) => self.recorder.done(way, moments, outcome),
            Err(failure) => {
                self.recorder.failed(way, done.done);
                let what = self.describe(slot, kind);
                self.fail(failure.within(what));
            }
        }
    }

    /// Whether what was read is what it should be.
    fn judge(&mut self, slot: u32, kind: Kind, mut outcome: Outcome) -> Result<Outcome, Failure> {
        let Kind::Data(way) = kind else { return Ok(outcome) };
        let (state, len) = (&self.slots[slot as usize], u64::from(self.job.bs));
        if outcome.bytes == 0 {
            let what = if way == Way::Read { "the file ends before" } else { "nothing was taken" };
            return Err(Failure::new(EIO, what));
        }
        outcome.short = outcome.bytes < len;
        let only_reads = self.job.work.flow() == Some(Flow::Read);
        let checked =
            way == Way::Read && self.job.verify && (self.mode == Mode::Verify || only_reads);
        let (Some(buffer), Things::Data(files), true) = (&state.buffer, &self.things, checked)
        else {
            return Ok(outcome);
        };
        let data = &buffer[..(outcome.bytes as usize).min(buffer.len())];
        verify::check(data, files[state.file].id, state.offset, state.generation)
            .map_err(|mismatch| Failure::new(EILSEQ, mismatch.to_string()))?;
        if self.mode == Mode::Measure {
            self.verified += 1;
        }
        Ok(outcome)
    }

    /// A server whose verifier changes has lost what it had not made stable.
    pub(crate) fn compare_verifier(&mut self, verifier: Option<[u8; 8]>) -> Result<(), Failure> {
        let Some(verifier) = verifier else { return Ok(()) };
        if *self.verifier.get_or_insert(verifier) == verifier {
            return Ok(());
        }
        self.verifier = Some(verifier);
        Err(Failure::new(
            EIO,
            "the server's write verifier has changed: it was restarted, and may have lost what was \
             written and not synced",
        ))
    }

    fn describe(&self, slot: u32, kind: Kind) -> String {
        let state = &self.slots[slot as usize];
        let file = match &self.things {
            Things::Data(files) => files[state.file].path.as_str(),
            Things::Names { .. } => return format!("{} of job {}", self.job.work, self.job.name),
        };
        let (at, len) = (state.offset, show_bytes(self.job.bs.into()));
        match kind {
            Kind::Data(Way::Read) => format!("read of {file} at {at} ({len})"),
            Kind::Data(_) => format!("write of {file} at {at} ({len})"),
            Kind::Meta | Kind::Sync => format!("sync of {file}"),
        }
    }

    /// Files that it has written and that are not known to be stable.
    pub(crate) fn written(&self) -> Arc<[DataFile<F>]> {
        match &self.things {
            Things::Data(files) if self.job.work.writes() && self.counter > 0 => Arc::clone(files),
            _ => Arc::from([]),
        }
    }

    /// Reads and checks what it has written, from here on.
    pub(crate) fn begin_verify(&mut self) {
        if self.failure.is_some() || !self.job.do_verify || self.generations.is_none() {
            return;
        }
        self.course = self.course.once_more();
        (self.mode, self.over, self.until, self.not_before) = (Mode::Verify, false, None, None);
        (self.pending, self.sync_due) = (None, None);
    }
}

fn choose(mode: Mode, job: &Job, counter: u64) -> Way {
    match job.work.flow() {
        _ if mode == Mode::Verify => Way::Read,
        None => Way::Meta,
        Some(Flow::Read) => Way::Read,
        Some(Flow::Write) => Way::Write,
        Some(Flow::Mixed) => {
            let lot = mix(job.seed ^ mix(counter)) % 100;
            if lot < u64::from(job.rwmixread) { Way::Read } else { Way::Write }
        }
    }
}

/// The name of the file or directory at a place, in a pass.
pub(crate) fn name(pass: u64, place: u64) -> Name {
    use std::io::Write;

    let mut name = Name::new();
    // Writing to memory does not fail.
    let _ = if pass == 0 { write!(name, "f{place}") } else { write!(name, "f{place}.{pass}") };
    name
}
