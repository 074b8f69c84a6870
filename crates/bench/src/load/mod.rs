//! The timed part: pipelined calls on many connections, driven by one thread.

mod connection;
mod engine;
mod frame;
mod output;
mod run;
mod slots;
mod tally;

pub use engine::{Engine, Phases};
pub use run::run;
pub use tally::{Measured, Tally};
