//! Who does what: jobs as seats, seats dealt out to threads with their connections.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Watch;
use super::course::{Share, mix};
use super::layout::Laid;
use super::storage::{Failure, Port, Storage, Threading};
use super::unit::Things;
use crate::job::Job;

/// Threads at most.
const THREADS_MAX: usize = 8192;

/// A thread before it starts.
pub(super) struct Crew<S: Storage> {
    pub(super) port: S::Port,
    /// Made when the start is known.
    pub(super) seats: Vec<Seat<S>>,
}

/// A unit before it starts.
pub(super) struct Seat<S: Storage> {
    pub(super) number: usize,
    pub(super) things: Things<S::File, S::Dir>,
    pub(super) share: Share,
    pub(super) depth: u32,
    pub(super) seed: u64,
    pub(super) threads: Option<u32>,
}

/// Spreads what was laid out over threads. Jobs that want as many connections share them; others have
/// threads and connections of their own.
pub(super) fn crews<S: Storage>(
    storage: &S,
    jobs: &[Arc<Job>],
    laid: &[Result<Laid<S>, Failure>],
    watch: &dyn Watch,
) -> Result<Vec<Crew<S>>, Failure> {
    let mut classes: BTreeMap<u32, Vec<Seat<S>>> = BTreeMap::new();
    for (number, (job, laid)) in jobs.iter().zip(laid).enumerate() {
        let Ok(laid) = laid else { continue };
        let (class, parts, depth, threads) = match storage.threading(job.nconnect) {
            Threading::Each => (0, job.iodepth, 1, Some(job.iodepth)),
            Threading::Lanes { .. } => (job.nconnect, 1, job.iodepth, None),
        };
        for (instance, things) in laid.things.iter().enumerate() {
            for part in 0..parts {
                classes.entry(class).or_default().push(Seat {
                    number,
                    things: things.clone(),
                    share: Share { number: part.into(), of: parts.into() },
                    depth,
                    seed: mix(job.seed ^ mix(instance as u64)),
                    threads,
                });
            }
        }
    }
    let mut crews = Vec::new();
    let (mut wanted, mut granted) = (0, 0);
    for (connections, seats) in classes {
        for Row { seats, connections } in rows(storage.threading(connections), seats)? {
            let depth: u32 = seats.iter().map(|seat| seat.depth).sum();
            let block = seats.iter().map(|seat| jobs[seat.number].bs).max().unwrap_or_default();
            let port = storage.port(connections, depth, block)?;
            wanted += depth;
            granted += port.granted().unwrap_or(depth);
            crews.push(Crew { port, seats });
        }
    }
    if granted < wanted {
        watch.say(&format!(
            "the server grants slots for {granted} operations at once, where {wanted} are wanted; the \
             others wait here, and their wait counts"
        ));
    }
    Ok(crews)
}

/// What a thread gets.
struct Row<S: Storage> {
    seats: Vec<Seat<S>>,
    connections: u32,
}

/// Deals seats and connections out to threads.
fn rows<S: Storage>(threading: Threading, seats: Vec<Seat<S>>) -> Result<Vec<Row<S>>, Failure> {
    let (threads, connections) = match threading {
        Threading::Each => (seats.len(), seats.len()),
        Threading::Lanes { threads, connections, depth_max } => {
            let depth = seats.iter().map(|seat| u64::from(seat.depth)).sum::<u64>();
            let needed = depth.div_ceil(depth_max.into()).min(connections.into());
            let threads = u64::from(threads).max(needed);
            (seats.len().min(threads as usize), connections as usize)
        }
    };
    if threads > THREADS_MAX {
        let text = format!(
            "{threads} operations at once take as many threads on a file:// target, where \
             {THREADS_MAX} are the most; take less iodepth or numjobs"
        );
        return Err(Failure::new(22, text));
    }
    let (each, more) = (connections / threads.max(1), connections % threads.max(1));
    let mut rows: Vec<Row<S>> = (0..threads)
        .map(|number| (each + usize::from(number < more)).max(1) as u32)
        .map(|connections| Row { seats: Vec::new(), connections })
        .collect();
    for (number, seat) in seats.into_iter().enumerate() {
        rows[number % threads].seats.push(seat);
    }
    Ok(rows)
}
