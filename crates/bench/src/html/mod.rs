//! Results as one page each: no network, no other file, light and dark, wide and narrow.

pub mod chart;
mod data;
mod distribution;
mod environment;
mod fleet;
mod layout;
mod matrix;
mod run;
mod sweep;
mod tables;
mod timeline;
pub mod unit;

pub use fleet::fleet_page;
pub use matrix::matrix_page;
pub use run::run_page;
pub use sweep::sweep_page;
