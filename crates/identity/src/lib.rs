//! Users and groups by name (RFC 8881 §5.9), and the groups of users, as this host knows them.
//!
//! On the wire of NFSv4 an owner is a string, `alice@example.org`. What stands behind the `@` is
//! the domain in which names mean the same everywhere, what stands before it is a name of the
//! host's name services: files, LDAP, SSSD.
//!
//! Those can take long. [`Identities`] asks them on threads of its own, remembers the answers for
//! a while, and never waits where that is not allowed: who must not wait is told so, and asks again
//! where it may. Who may wait does not wait long.

#![forbid(unsafe_code)]

mod asker;
mod cache;
mod directory;
mod domain;
mod identities;
mod limits;
mod mapping;
mod near;
mod question;
mod system;

pub use directory::Directory;
pub use identities::{Identities, Settings, Unmapped};
pub use limits::Limits;
pub use mapping::Mapping;
pub use system::SystemDirectory;
