//! Jobs that run at the same time, from laying out to putting away.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier, OnceLock};
use std::time::{Duration, Instant};

use super::collect::{Collector, Series, spreads};
use super::course::{Course, Order};
use super::crews::{Crew, Seat, crews};
use super::drive::{Control, drive, sync};
use super::layout::{Laid, lay_out, measured, put_away};
use super::pace::Pace;
use super::recorder::{Recorder, Report, Tally, Way};
use super::storage::{Failure, Storage};
use super::unit::{Manner, Unit};
use super::usage::{Usage, context_switches};
use super::{Plan, Watch};
use crate::job::{Job, Meta, Work};
use crate::report::{Breakdown, Cpu, Depths, Direction, Fault, JobResult, Latency, Sample};

/// Bounds of an interval; within them, a run has two hundred.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// An interval when nobody knows how long the run takes.
const INTERVAL: Duration = Duration::from_millis(250);
/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_millis(200);
const THREAD_STACK: usize = 256 << 10;

/// What a thread tells.
enum Message {
    Report(Box<Report>),
    Ended,
}

/// What came of a thread: its units, and its context switches.
type Ended<S> = (Vec<Unit<<S as Storage>::File, <S as Storage>::Dir>>, u64);
type UnitOf<S> = Unit<<S as Storage>::File, <S as Storage>::Dir>;

/// Runs jobs of one group and says what came of each.
pub(super) fn run<S: Storage>(
    storage: &S,
    plan: &Plan,
    jobs: &[Arc<Job>],
    group: (u32, u32),
    watch: &dyn Watch,
) -> (Vec<JobResult>, Option<String>) {
    let mut laid: Vec<Result<Laid<S>, Failure>> = Vec::new();
    let mut jobs = jobs.to_vec();
    for job in &mut jobs {
        laid.push(measured(storage, job).and_then(|measured| {
            *job = measured;
            lay_out(storage, job, &|text| watch.say(text))
        }));
    }
    let jobs = &jobs[..];
    let interval = interval(jobs);
    let mut ran = Ran { interrupted: None, cpu: Cpu::default(), jobs: Vec::new() };
    ran.jobs.resize_with(jobs.len(), Gathered::default);
    let crews = crews(storage, jobs, &laid, watch);
    match crews {
        Ok(crews) if !crews.is_empty() => match watch.ready(group.0) {
            Ok(()) => {
                measure::<S>(plan, jobs, crews, interval, group, watch, &mut ran);
                watch.measured(group.0);
            }
            Err(why) => ran.interrupted = Some(why),
        },
        Ok(_) => {}
        Err(failure) => {
            for gathered in &mut ran.jobs {
                gathered.failure = Some(failure.clone());
            }
        }
    }
    let mut results = Vec::new();
    for ((job, laid), gathered) in jobs.iter().zip(laid).zip(&mut ran.jobs) {
        let put_away = match laid {
            // Without a server there is nothing to put away.
            Ok(_) if gathered.failure.as_ref().is_some_and(|failure| failure.fatal) => Ok(()),
            Ok(laid) => put_away(storage, job, laid)
                .map_err(|failure| failure.within("put away what was laid out")),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = put_away {
            gathered.failure.get_or_insert(failure);
        }
        results.push(gathered.result(job, interval, ran.cpu));
    }
    (results, ran.interrupted)
}

fn interval(jobs: &[Arc<Job>]) -> Duration {
    let longest = jobs.iter().map(|job| job.runtime).max().flatten();
    longest.map_or(INTERVAL, |longest| {
        let millis = (longest.as_millis() as u64 / 200).next_multiple_of(50);
        Duration::from_millis(millis).clamp(INTERVALS.0, INTERVALS.1)
    })
}

/// What was seen.
struct Ran {
    interrupted: Option<String>,
    cpu: Cpu,
    jobs: Vec<Gathered>,
}

/// What was seen of a job.
#[derive(Default)]
struct Gathered {
    ways: [Option<Direction>; 3],
    /// The end of the last operation, from the end of the ramp on.
    elapsed: Duration,
    sync: Latency,
    depths: Depths,
    breakdown: Option<Breakdown>,
    series: Series,
    failed: u64,
    verified: u64,
    failure: Option<Failure>,
}

fn measure<S: Storage>(
    plan: &Plan,
    jobs: &[Arc<Job>],
    crews: Vec<Crew<S>>,
    interval: Duration,
    group: (u32, u32),
    watch: &dyn Watch,
    ran: &mut Ran,
) {
    let control = Control::new(jobs.len());
    let barrier = Barrier::new(crews.len() + 1);
    let start: OnceLock<Instant> = OnceLock::new();
    let (to, from) = channel();
    let ended: Vec<Ended<S>> = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        let (barrier, start, control) = (&barrier, &start, &control);
        for crew in crews {
            let to = to.clone();
            let work = move || {
                barrier.wait();
                let begun = *start.get_or_init(Instant::now);
                let ended = work::<S>(crew, jobs, begun, interval, plan.breakdown, control, &to);
                let _ = to.send(Message::Ended);
                ended
            };
            let builder = std::thread::Builder::new().stack_size(THREAD_STACK);
            // Its place at the barrier would stay empty.
            threads.push(builder.spawn_scoped(scope, work).unwrap_or_else(|error| {
                panic!("the system has no room for another thread: {error}")
            }));
        }
        let before = Usage::now();
        let begun = Instant::now();
        let _ = start.set(begun);
        barrier.wait();
        let mut collector = Collector::new(
            jobs.iter().map(|job| total(job)).collect(),
            interval,
            jobs.iter().map(|job| job.ramp_time).max().unwrap_or_default(),
            longest(jobs),
        );
        collect(&from, threads.len(), &mut collector, control, begun, group, watch, ran);
        ran.cpu = Usage::now().since(&before);
        for (gathered, series) in ran.jobs.iter_mut().zip(collector.series) {
            gathered.series = series;
        }
        threads
            .into_iter()
            .filter_map(|thread| match thread.join() {
                Ok(ended) => Some(ended),
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    });
    let Some(begun) = start.get() else { return };
    for (units, switches) in ended {
        ran.cpu.context_switches += switches;
        for unit in units {
            let from = *begun + unit.job.ramp_time;
            ran.jobs[unit.number].take(unit, from);
        }
    }
}

/// The operations of a job, if they are a known number.
fn total(job: &Job) -> Option<u64> {
    (!job.time_based).then(|| places(job) * u64::from(job.numjobs))
}

/// Blocks, names or directories of one of `numjobs`.
fn places(job: &Job) -> u64 {
    match job.work {
        Work::Data { .. } => job.blocks(),
        Work::Meta(Meta::ReadDir | Meta::ReadDirPlus) => job.leaves().into(),
        Work::Meta(_) => job.nrfiles.into(),
    }
}

fn longest(jobs: &[Arc<Job>]) -> Option<Duration> {
    let times = jobs.iter().map(|job| job.runtime.map(|runtime| runtime + job.ramp_time));
    times.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// Listens until all threads have ended.
#[allow(clippy::too_many_arguments, reason = "all of it is what the loop looks at")]
fn collect(
    from: &Receiver<Message>,
    mut threads: usize,
    collector: &mut Collector,
    control: &Control,
    begun: Instant,
    group: (u32, u32),
    watch: &dyn Watch,
    ran: &mut Ran,
) {
    let mut told = begun;
    while threads > 0 {
        match from.recv_timeout(TELL_EVERY) {
            Ok(Message::Report(report)) => collector.add(*report, Instant::now()),
            Ok(Message::Ended) => threads -= 1,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Some(why) = watch.interrupted()
            && ran.interrupted.is_none()
        {
            control.stop();
            ran.interrupted = Some(why);
        }
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            watch.progress(&collector.progress(group.0, group.1, begun.elapsed()));
        }
    }
}

/// A thread's work.
fn work<S: Storage>(
    crew: Crew<S>,
    jobs: &[Arc<Job>],
    start: Instant,
    interval: Duration,
    breakdown: bool,
    control: &Control,
    to: &Sender<Message>,
) -> Ended<S> {
    let Crew { mut port, seats } = crew;
    // Pauses end when they should; without that they are only less exact.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let mut units: Vec<UnitOf<S>> = seats
        .into_iter()
        .map(|seat| {
            let job = &jobs[seat.number];
            let from = start + job.ramp_time;
            let to = to.clone();
            let tell = Box::new(move |report| {
                // Whoever has stopped listening does not want to know.
                let _ = to.send(Message::Report(Box::new(report)));
            });
            let recorder = Recorder::new(seat.number, from, interval, breakdown, tell);
            unit::<S>(seat, job, start, recorder)
        })
        .collect();
    drive(&mut port, &mut units, control);
    sync(&mut port, &mut units, control);
    for unit in &mut units {
        unit.begin_verify();
    }
    drive(&mut port, &mut units, control);
    (units, context_switches())
}

fn unit<S: Storage>(
    seat: Seat<S>,
    job: &Arc<Job>,
    start: Instant,
    recorder: Recorder,
) -> UnitOf<S> {
    let Seat { number, things, share, depth, seed, threads } = seat;
    let order = match job.work {
        _ if !job.work.is_random() => Order::Sequential,
        _ if job.randommap => Order::Shuffled,
        _ => Order::Drawn,
    };
    let course = Course::new(places(job), share, order, seed, job.time_based);
    let pace = |rate: crate::job::Rate| Pace::new(rate.interval(job.bs), start, share);
    let until = job.runtime.map(|runtime| start + job.ramp_time + runtime);
    let (read_pace, write_pace) = (pace(job.read_rate), pace(job.write_rate));
    let manner = Manner { course, read_pace, write_pace, depth, until, threads };
    Unit::new(number, job, things, manner, recorder)
}

impl Gathered {
    /// Adds what a unit has seen since `from`.
    fn take<F: Clone, D: Clone>(&mut self, unit: Unit<F, D>, from: Instant) {
        let recorder = &unit.recorder;
        for (own, tally) in self.ways.iter_mut().zip(&recorder.ways) {
            let Some(tally) = tally else { continue };
            let direction = direction(tally, from);
            self.elapsed = self.elapsed.max(Duration::from_nanos(direction.runtime_nanos));
            match own {
                Some(own) => own.merge(&direction),
                None => *own = Some(direction),
            }
        }
        self.sync.merge(&recorder.sync.latency());
        self.depths.merge(&recorder.depths);
        if let Some(parts) = &recorder.parts {
            let is_local = unit.is_local();
            self.breakdown.get_or_insert_default().merge(&parts.breakdown(is_local));
        }
        self.failed += recorder.failed;
        self.verified += unit.verified;
        // What broke the connection says more than what followed from it.
        let worse = unit.failure.as_ref().is_some_and(|failure| failure.fatal);
        if self.failure.is_none() || (worse && !self.failure.as_ref().is_some_and(|f| f.fatal)) {
            self.failure = unit.failure.or_else(|| self.failure.take());
        }
    }

    fn result(&mut self, job: &Job, interval: Duration, cpu: Cpu) -> JobResult {
        let series = self.series.samples(interval, self.elapsed);
        let mut ways = std::mem::take(&mut self.ways);
        for (number, of) in [
            (Way::Read, (|s| s.read) as fn(&Sample) -> _),
            (Way::Write, |s| s.write),
            (Way::Meta, |s| s.meta),
        ] {
            if let Some(direction) = &mut ways[number as usize] {
                (direction.bw, direction.iops) = spreads(&series, of);
            }
        }
        let [read, write, meta] = ways;
        JobResult {
            name: job.name.clone(),
            group: job.group,
            jobs: job.numjobs,
            options: job.given.clone(),
            error: self.failure.take().map(Failure::advised).map(|failure| Fault {
                errno: failure.errno,
                message: failure.message,
                operations: self.failed,
            }),
            read,
            write,
            meta,
            sync: std::mem::take(&mut self.sync),
            elapsed_nanos: self.elapsed.as_nanos() as u64,
            cpu,
            depths: self.depths,
            breakdown: self.breakdown.take(),
            verified: job.verify.then_some(self.verified),
            series,
        }
    }
}

fn direction(tally: &Tally, from: Instant) -> Direction {
    let runtime = tally.last.map_or(Duration::ZERO, |last| last.saturating_duration_since(from));
    Direction {
        bytes: tally.bytes,
        ops: tally.ops,
        entries: tally.entries,
        short: tally.short,
        runtime_nanos: runtime.as_nanos() as u64,
        slat: tally.slat.latency(),
        clat: tally.clat.latency(),
        lat: tally.lat.latency(),
        ..Direction::default()
    }
}
