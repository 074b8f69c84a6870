//! Clocks, histograms, and what a process has used.

mod cpu;
mod latency;

pub use cpu::{CpuMeter, CpuUse, ServerProcess};
pub use latency::Latencies;
