//! What a thread writes down about a job; nobody else touches it.

use std::time::{Duration, Instant};

use hayase_client::Timing;

use super::histogram::Durations;
use crate::report::{Breakdown, Depths, Latency, Told};

/// Which way an operation went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Write,
    Meta,
}

/// The moments of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    /// When it was to start.
    pub(crate) intended: Instant,
    /// When it was given to the system, or its last byte to the kernel.
    pub(crate) sent: Instant,
    /// When it was done.
    pub(crate) done: Instant,
    /// Where the server says its part of the time went.
    pub(crate) server: Option<Timing>,
}

/// What an operation achieved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
    /// Fewer bytes than asked for.
    pub(crate) short: bool,
}

/// What was measured in one direction.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) bytes: u64,
    pub(crate) ops: u64,
    pub(crate) entries: u64,
    pub(crate) short: u64,
    pub(crate) last: Option<Instant>,
    pub(crate) slat: Durations,
    pub(crate) clat: Durations,
    pub(crate) lat: Durations,
}

/// One direction in an interval, as told to the collector.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pulse {
    pub(crate) bytes: u64,
    pub(crate) ops: u64,
    pub(crate) errors: u64,
    pub(crate) lat: Latency,
}

/// What a thread has seen of a job in an interval.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) job: usize,
    /// Intervals count from the end of the ramp; `None` is the ramp.
    pub(crate) interval: Option<u64>,
    pub(crate) pulses: [Pulse; 3],
}

/// The interval that is on.
#[derive(Debug, Default)]
struct Current {
    bytes: u64,
    ops: u64,
    errors: u64,
    lat: Durations,
}

/// Takes what is told.
pub(crate) type Tell = Box<dyn Fn(Report) + Send>;

/// What a thread writes down about a job.
pub(crate) struct Recorder {
    job: usize,
    /// From when on things count.
    from: Instant,
    interval: Duration,
    on: Option<u64>,
    /// When the interval that is on ends.
    until: Instant,
    current: [Option<Box<Current>>; 3],
    tell: Tell,
    pub(crate) ways: [Option<Box<Tally>>; 3],
    pub(crate) sync: Durations,
    pub(crate) depths: Depths,
    pub(crate) parts: Option<Box<Parts>>,
    pub(crate) failed: u64,
}

impl Recorder {
    /// Counts from `from` on, and tells after each interval.
    pub(crate) fn new(
        job: usize,
        from: Instant,
        interval: Duration,
        breakdown: bool,
        tell: Tell,
    ) -> Self {
        Recorder {
            job,
            from,
            interval,
            on: None,
            until: from,
            current: [None, None, None],
            tell,
            ways: [None, None, None],
            sync: Durations::default(),
            depths: Depths::default(),
            parts: breakdown.then(Default::default),
            failed: 0,
        }
    }

    /// An operation is one of so many under way.
    pub(crate) fn started(&mut self, under_way: u32, now: Instant) {
        if now >= self.from {
            self.depths.count(under_way);
        }
    }

    /// An operation is done.
    pub(crate) fn done(&mut self, way: Way, moments: Moments, outcome: Outcome) {
        let Moments { intended, sent, done, server } = moments;
        let lat = nanos(intended, done);
        self.turn(done);
        let current = self.current[way as usize].get_or_insert_default();
        current.bytes += outcome.bytes;
        current.ops += 1;
        current.lat.record(lat);
        if done < self.from {
            return;
        }
        let tally = self.ways[way as usize].get_or_insert_default();
        tally.bytes += outcome.bytes;
        tally.ops += 1;
        tally.entries += outcome.entries;
        tally.short += u64::from(outcome.short);
        tally.last = Some(tally.last.map_or(done, |last| last.max(done)));
        let (slat, clat) = (nanos(intended, sent), nanos(sent, done));
        tally.slat.record(slat);
        tally.clat.record(clat);
        tally.lat.record(lat);
        if let Some(parts) = &mut self.parts {
            parts.record(slat, clat, server);
        }
    }

    /// A sync that the job asked for is done.
    pub(crate) fn synced(&mut self, moments: Moments) {
        if moments.done >= self.from {
            self.sync.record(nanos(moments.intended, moments.done));
        }
    }

    /// An operation has failed.
    pub(crate) fn failed(&mut self, way: Way, at: Instant) {
        self.turn(at);
        self.current[way as usize].get_or_insert_default().errors += 1;
        self.failed += 1;
    }

    /// Tells of the interval that is over, if one is.
    fn turn(&mut self, now: Instant) {
        if now < self.until {
            return;
        }
        self.tell();
        let since = now.saturating_duration_since(self.from).as_nanos();
        let number = (since / self.interval.as_nanos().max(1)) as u64;
        self.on = Some(number);
        self.until = self.from + self.interval.saturating_mul(number.saturating_add(1) as u32);
    }

    /// Tells of the interval that is on, as far as it has come.
    pub(crate) fn tell(&mut self) {
        let mut report = Report { job: self.job, interval: self.on, pulses: Default::default() };
        let mut empty = true;
        for (current, pulse) in self.current.iter_mut().zip(&mut report.pulses) {
            let Some(current) = current else { continue };
            let Current { bytes, ops, errors, lat } = &mut **current;
            empty &= *ops == 0 && *errors == 0;
            *pulse = Pulse { bytes: *bytes, ops: *ops, errors: *errors, lat: lat.latency() };
            (*bytes, *ops, *errors) = (0, 0, 0);
            lat.clear();
        }
        if !empty {
            (self.tell)(report);
        }
    }
}

/// Where the time of operations went.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    queue: Durations,
    beyond: Durations,
    told: Option<[Durations; 4]>,
}

impl Parts {
    fn record(&mut self, queue: u64, beyond: u64, server: Option<Timing>) {
        self.queue.record(queue);
        self.beyond.record(beyond);
        if let Some(Timing { queued, served, disk }) = server {
            // All parts make the whole. The server may have had the last byte before this thread, kept
            // from its processor, could look at the clock; or it does not tell the truth.
            let parts = [queued, served, disk].map(|part| part.as_nanos());
            let (all, whole) = (parts.iter().sum::<u128>(), u128::from(beyond));
            let fit = |part| if all > whole { part * whole / all } else { part };
            let [waiting, served, disk] = parts.map(|part| fit(part) as u64);
            let network = beyond - waiting - served - disk;
            let told = self.told.get_or_insert_default();
            for (into, nanos) in told.iter_mut().zip([network, waiting, served, disk]) {
                into.record(nanos);
            }
        }
    }

    pub(crate) fn breakdown(&self, is_local: bool) -> Breakdown {
        let told = self.told.as_ref().map(|parts| {
            let [network, waiting, server, disk] = parts.each_ref().map(Durations::latency);
            Told { network, waiting, server, disk }
        });
        let (queue, beyond) = (self.queue.latency(), self.beyond.latency());
        Breakdown { queue, beyond, is_local, told }
    }
}

fn nanos(from: Instant, to: Instant) -> u64 {
    to.saturating_duration_since(from).as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn the_ramp_is_told_and_not_counted() {
        let (to, told) = channel();
        let start = Instant::now();
        let millis = |ms| start + Duration::from_millis(ms);
        let tell = Box::new(move |report| to.send(report).unwrap());
        let mut recorder = Recorder::new(7, millis(100), Duration::from_millis(50), true, tell);
        let outcome = Outcome { bytes: 10, ..Outcome::default() };
        let micros = Duration::from_micros;
        let server = Some(Timing { queued: micros(200), served: micros(300), disk: micros(400) });
        for at in [10, 90, 110, 120, 260] {
            let moments = Moments {
                intended: millis(at - 4),
                sent: millis(at - 3),
                done: millis(at),
                server,
            };
            recorder.started(2, moments.sent);
            recorder.done(Way::Write, moments, outcome);
        }
        recorder.failed(Way::Read, millis(270));
        recorder.tell();
        let reports: Vec<_> = told.try_iter().collect();
        let seen: Vec<_> = reports
            .iter()
            .map(|report| (report.interval, report.pulses[1].ops, report.pulses[0].errors))
            .collect();
        assert_eq!(seen, [(None, 2, 0), (Some(0), 2, 0), (Some(3), 1, 1)]);
        assert!(reports.iter().all(|report| report.job == 7));
        let tally = recorder.ways[1].as_ref().unwrap();
        assert_eq!((tally.ops, tally.bytes, tally.last), (3, 30, Some(millis(260))));
        assert_eq!(tally.lat.latency().max_nanos, 4_000_000);
        assert_eq!(tally.slat.latency().max_nanos, 1_000_000);
        assert_eq!((recorder.failed, recorder.depths.0[1]), (1, 3));
        assert!(recorder.ways[0].is_none(), "errors are no operations");
        let breakdown = recorder.parts.unwrap().breakdown(false);
        let parts = breakdown.parts();
        let parts: Vec<_> = parts
            .iter()
            .map(|part| (part.name, part.latency.max_nanos, part.latency.count))
            .collect();
        let expected = [
            ("queue", 1_000_000, 3),
            ("network", 2_100_000, 3),
            ("waiting", 200_000, 3),
            ("server", 300_000, 3),
            ("disk", 400_000, 3),
        ];
        assert_eq!(parts, expected);
    }

    /// Two sums of all that 64 bits hold ended the thread, or began again at nothing.
    #[test]
    fn a_server_does_not_tell_of_more_than_there_was() {
        let nanos = Duration::from_nanos;
        let server =
            Some(Timing { queued: nanos(0), served: nanos(u64::MAX), disk: nanos(u64::MAX) });
        let mut parts = Parts::default();
        parts.record(7, 100, server);
        parts.record(7, 30, server);
        let told = parts.breakdown(false).told.unwrap();
        let extremes = [told.network, told.waiting, told.server, told.disk]
            .map(|part| (part.count, part.min_nanos, part.max_nanos));
        assert_eq!(extremes, [(2, 0, 0), (2, 0, 0), (2, 15, 50), (2, 15, 50)]);
    }
}
