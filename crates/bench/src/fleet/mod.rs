//! Several clients at once, of this process or of other hosts: they begin at the same time, and what comes of
//! each is told beside the sum.
//!
//! A client lays out what it needs, says that it is ready, and waits. When all are ready, all are told one
//! time to start at. One that is lost on the way is said to be lost; what the others measured stays.

mod conduct;
mod local;
mod message;
mod result;
mod sum;
mod text;
mod work;

pub use conduct::Fleet;
pub(crate) use local::drive;
pub(crate) use message::{Event, Order};
pub use message::{Reckoned, Start};
pub use result::{ClientRun, FleetRun};
pub use sum::sum;
pub use text::{json, text};
pub(crate) use text::{last_heard, shares};
pub use work::{JobText, Work};

/// Clients at once, at most.
pub const MAX_CLIENTS: usize = 1024;
