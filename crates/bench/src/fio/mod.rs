//! Results as fio shows them: its text, and its JSON.

mod json;
mod number;
mod status;
mod text;

pub use json::{Bins, json};
pub use status::status;
pub use text::text;
