//! Results as one page each: no network, no other file, light and dark, wide and narrow.

pub mod chart;
mod data;
mod distribution;
mod environment;
mod layout;
mod run;
mod tables;
mod timeline;
pub mod unit;

pub use run::run_page;
