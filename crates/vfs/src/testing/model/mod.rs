//! Two file systems that must behave alike under the same random operations.

mod choices;
mod run;
mod step;

pub use choices::Plan;

use crate::Vfs;

/// Applies `steps` random operations, which follow from `seed`, to two empty file systems
/// that belong to the superuser, and expects the same results of both.
///
/// Compared are statuses, attributes apart from what is each file system's own business (ids,
/// times, size and links of directories, storage used), permissions, data, and listings
/// as sets; and that equal handles on one side are equal on the other. Besides, every call is
/// held to what [`Client`](super::Client) expects of it.
///
/// # Panics
/// At the first difference. The seed and all operations so far are printed.
pub fn compare(a: &dyn Vfs, b: &dyn Vfs, seed: u64, steps: usize) {
    Plan::seeded(seed, steps).run(a, b);
}
