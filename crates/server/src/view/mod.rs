//! What the admin socket tells of clients and limits, as it travels.

mod connections;
mod limits;
mod state;

pub use connections::ConnectionView;
pub(crate) use connections::connections;
pub use limits::{Bound, Unit, defaults};
pub(crate) use limits::{Facts, of_server};
pub use state::{ClientView, LISTED, Listing, LockView, OpenView, SessionView};
pub(crate) use state::{clients, locks, opens, sessions};
