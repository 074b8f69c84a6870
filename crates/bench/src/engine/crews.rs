//! Who does what: jobs as seats, seats dealt out to threads with their connections.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
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
    let depths: Vec<u32> = seats.iter().map(|seat| seat.depth).collect();
    let (takers, threads, connections) = match threading {
        Threading::Each => ((0..seats.len()).collect(), seats.len(), seats.len()),
        Threading::Lanes { threads, connections, depth_max } => {
            let connections = connections as usize;
            let (takers, threads) = takers(&depths, threads as usize, connections, depth_max);
            (takers, threads, connections)
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
    for (seat, taker) in seats.into_iter().zip(takers) {
        rows[taker].seats.push(seat);
    }
    Ok(rows)
}

/// The thread that takes each seat, and how many threads there are: as many as are wanted, or more, up
/// to `most`, until none has more than `depth_max` operations at once.
fn takers(depths: &[u32], wanted: usize, most: usize, depth_max: u32) -> (Vec<usize>, usize) {
    let most = most.min(depths.len());
    let mut threads = wanted.min(most);
    loop {
        let (takers, deepest) = deal(depths, threads);
        if deepest <= depth_max.into() || threads >= most {
            return (takers, threads);
        }
        threads += 1;
    }
}

/// Deals seats out, the deepest first, each to the thread that has the least to do so far; also what
/// the busiest has. Seats of one depth go round.
fn deal(depths: &[u32], threads: usize) -> (Vec<usize>, u64) {
    let mut order: Vec<usize> = (0..depths.len()).collect();
    order.sort_by_key(|&seat| Reverse(depths[seat]));
    let mut loads: BinaryHeap<Reverse<(u64, usize)>> =
        (0..threads).map(|thread| Reverse((0, thread))).collect();
    let mut takers = vec![0; depths.len()];
    for seat in order {
        if let Some(mut least) = loads.peek_mut() {
            least.0.0 += u64::from(depths[seat]);
            takers[seat] = least.0.1;
        }
    }
    (takers, loads.iter().map(|load| load.0.0).max().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each thread has at once.
    fn loads(depths: &[u32], wanted: usize, most: usize) -> Vec<u32> {
        let (takers, threads) = takers(depths, wanted, most, 4095);
        let mut loads = vec![0; threads];
        takers.iter().zip(depths).for_each(|(&taker, depth)| loads[taker] += depth);
        loads
    }

    /// 160 jobs of 64 at once over 16 connections were refused where there were two cores.
    #[test]
    fn there_are_as_many_threads_as_all_operations_need() {
        assert_eq!(loads(&[64; 160], 2, 16), [3456, 3392, 3392]);
        assert_eq!(loads(&[64; 20], 2, 16), [640, 640], "no more than are wanted where they do");
        assert_eq!(loads(&[64; 160], 2, 2), [5120, 5120], "each has a connection");
        assert_eq!(loads(&[16; 3], 8, 8), [16; 3], "each has something to do");
    }

    /// Jobs in turn overloaded one thread while another had little to do; and three that are halves of
    /// what a thread can do are one thread each.
    #[test]
    fn jobs_of_unequal_depth_are_dealt_out_evenly() {
        let unequal = [4000, 96, 96, 4000, 96, 96];
        assert_eq!(loads(&unequal, 1, 16), [4000, 4000, 384]);
        assert_eq!(loads(&[3000, 1, 1000, 1], 2, 16), [3000, 1002]);
        assert_eq!(loads(&[2100; 3], 1, 16), [2100; 3]);
    }

    #[test]
    fn seats_of_one_depth_go_round() {
        assert_eq!(takers(&[8; 5], 2, 2, 4095), (vec![0, 1, 0, 1, 0], 2));
    }
}
