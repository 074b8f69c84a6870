//! What processes have used, and what links bring.

mod cpu;
pub(crate) mod stream;

pub use cpu::{CpuMeter, CpuUse, ServerProcess};
