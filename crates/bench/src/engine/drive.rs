//! A thread's loop: start what may start, wait, take note.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::recorder::Moments;
use super::storage::{Done, Failure, Op, Port};
use super::unit::{Unit, Want};

/// How often a thread looks whether it is to stop, if nothing else happens.
const TICK: Duration = Duration::from_millis(50);
/// Not a token of a unit's slot.
const ASIDE: u64 = u64::MAX;

/// How threads are told to stop. Written once; only read while all goes well.
#[derive(Debug)]
pub(crate) struct Control {
    stop: AtomicBool,
    /// For each job.
    failed: Vec<AtomicBool>,
}

impl Control {
    pub(crate) fn new(jobs: usize) -> Self {
        let failed = (0..jobs).map(|_| AtomicBool::new(false)).collect();
        Control { stop: AtomicBool::new(false), failed }
    }

    /// Has all jobs stop.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_over(&self, job: usize) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed[job].load(Ordering::Relaxed)
    }

    fn has_failed(&self, job: usize) {
        self.failed[job].store(true, Ordering::Relaxed);
    }
}

/// Drives units until none has anything to do.
pub(crate) fn drive<P: Port>(port: &mut P, units: &mut [Unit<P::File, P::Dir>], control: &Control)
where
    P::File: Clone,
    P::Dir: Clone,
{
    let mut done: Vec<Done> = Vec::new();
    loop {
        let now = Instant::now();
        let mut wake = now + TICK;
        for (index, unit) in units.iter_mut().enumerate() {
            if control.is_over(unit.number) {
                unit.stop();
            }
            loop {
                match unit.next(now) {
                    Want::Start(slot, op) => {
                        unit.recorder.started(unit.depth_reached(), now);
                        port.submit((index as u64) << 32 | u64::from(slot), op);
                    }
                    Want::At(then) => {
                        wake = wake.min(then);
                        break;
                    }
                    Want::Busy | Want::Nothing => break,
                }
            }
        }
        if units.iter().all(Unit::is_done) {
            break;
        }
        if let Err(failure) = port.wait(Some(wake), &mut done) {
            for unit in &mut *units {
                control.has_failed(unit.number);
                unit.fail(failure.clone());
            }
            break;
        }
        for one in done.drain(..) {
            let (index, slot) = ((one.token >> 32) as usize, one.token as u32);
            let Some(unit) = units.get_mut(index) else { continue };
            unit.finish(slot, one);
            if unit.failure.is_some() {
                control.has_failed(unit.number);
            }
        }
    }
    for unit in units {
        unit.recorder.tell();
    }
}

/// Makes stable what the units have written, and counts the time if their jobs want that.
pub(crate) fn sync<P: Port>(port: &mut P, units: &mut [Unit<P::File, P::Dir>], control: &Control)
where
    P::File: Clone,
    P::Dir: Clone,
{
    for unit in units {
        for written in &*unit.written() {
            if unit.failure.as_ref().is_some_and(|failure| failure.fatal) {
                break;
            }
            let begun = Instant::now();
            let synced = ask(port, Op::Sync { file: written.file.clone() }).and_then(|done| {
                done.result?;
                unit.compare_verifier(done.verifier)?;
                Ok(done.done)
            });
            match synced {
                Ok(done) if unit.job.end_fsync => {
                    unit.recorder.synced(Moments {
                        intended: begun,
                        sent: begun,
                        done,
                        server: None,
                    });
                    if let Some(tally) = &mut unit.recorder.ways[1] {
                        tally.last = tally.last.max(Some(done));
                    }
                }
                Ok(_) => {}
                Err(failure) => {
                    control.has_failed(unit.number);
                    unit.fail(failure.within(format!("sync of {}", written.path)));
                }
            }
        }
    }
}

/// One operation, waited for; nothing else may be under way.
pub(crate) fn ask<P: Port>(port: &mut P, op: Op<P::File, P::Dir>) -> Result<Done, Failure> {
    port.submit(ASIDE, op);
    let mut done = Vec::new();
    loop {
        port.wait(None, &mut done)?;
        if let Some(one) = done.pop() {
            return Ok(one);
        }
    }
}

/// Does all of a row of operations, up to `depth` at once; stops at the first that fails. Buffers
/// come back to `next`.
pub(crate) fn all<P: Port>(
    port: &mut P,
    depth: u32,
    mut next: impl FnMut(Option<hayase_buf::Buffer>) -> Option<Op<P::File, P::Dir>>,
) -> Result<(), Failure> {
    let mut under_way = 0;
    let mut ended = false;
    let mut buffers = Vec::new();
    let mut done = Vec::new();
    let mut failure = None;
    loop {
        while !ended && under_way < depth {
            match next(buffers.pop()) {
                Some(op) => {
                    port.submit(ASIDE, op);
                    under_way += 1;
                }
                None => ended = true,
            }
        }
        if under_way == 0 {
            return failure.map_or(Ok(()), Err);
        }
        port.wait(None, &mut done)?;
        for one in done.drain(..) {
            under_way -= 1;
            buffers.extend(one.buffer);
            if let Err(why) = one.result {
                ended = true;
                failure.get_or_insert(why);
            }
        }
    }
}
