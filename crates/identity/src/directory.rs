//! Whom to ask.

use std::io;

/// The names of a host's users and groups. An answer can take any time.
pub trait Directory: Send + Sync {
    /// The number of a user.
    fn user_id(&self, name: &str) -> io::Result<Option<u32>>;

    /// The number of a group.
    fn group_id(&self, name: &str) -> io::Result<Option<u32>>;

    /// The name of a user.
    fn user_name(&self, uid: u32) -> io::Result<Option<String>>;

    /// The name of a group.
    fn group_name(&self, gid: u32) -> io::Result<Option<String>>;

    /// All groups that a user is in, the primary one among them.
    fn groups(&self, uid: u32) -> io::Result<Option<Vec<u32>>>;
}
