//! What processes have used.

mod cpu;

pub use cpu::{CpuMeter, CpuUse, ServerProcess};
