//! What a row of figures says: its middle, its fairness, its knee.

mod fairness;
mod knee;
mod median;

pub use fairness::{Fairness, fairness};
pub use knee::{Knee, knee};
pub use median::{median, spread};
