//! The timed part: pipelined calls on many connections, driven by one thread.

pub mod args;
pub mod client;
mod connection;
mod engine;
mod frame;
pub mod job;
mod output;
pub mod report;
mod run;
mod slots;
mod tally;
pub mod target;
pub mod workload;

pub use engine::{Engine, Phases};
pub use run::run;
pub use tally::{Measured, Tally};
