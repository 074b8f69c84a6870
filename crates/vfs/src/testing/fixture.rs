//! What a back end provides to be checked.

use crate::testing::Client;
use crate::{Cred, Handle, Vfs};

/// What not every back end can do in every surrounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capability {
    /// [`Fixture::user`] is the superuser, and operations can act for any other user.
    ChangeIdentity,
    /// The superuser can make device nodes.
    MakeDevices,
    /// The file system can be opened a second time, as after a restart of the server.
    Restart,
    /// Every change is seen in [`crate::Attr::change`] and in ctime, however fast
    /// one follows the other.
    FineChanges,
}

/// A part of a check between two restarts.
pub type Act<'a> = &'a mut dyn FnMut(&dyn Vfs);

/// Makes file systems to check.
pub trait Fixture {
    /// Runs the acts of a play on one fresh, empty file system, in which
    /// [`Fixture::user`] may do anything. Between acts the server restarts: each gets
    /// a new instance of the same file system. Most plays have one act.
    fn play(&self, acts: &mut [Act<'_>]);

    /// Whether checks that need this can be run.
    fn can(&self, what: Capability) -> bool;

    /// Whom the file system belongs to.
    fn user(&self) -> Cred {
        Cred::root()
    }
}

/// Where a check takes place.
pub struct Scene<'a> {
    /// The file system.
    pub fs: &'a dyn Vfs,
    /// Whom it belongs to.
    pub user: Client<'a>,
    /// Its root.
    pub root: Handle,
    /// Whether all changes can be told apart.
    pub fine_changes: bool,
}

impl<'a> Scene<'a> {
    /// A scene on a fixture's file system.
    pub fn of(fixture: &dyn Fixture, fs: &'a dyn Vfs) -> Self {
        Scene {
            fs,
            user: Client::new(fs, fixture.user()),
            root: fs.root(),
            fine_changes: fixture.can(Capability::FineChanges),
        }
    }

    /// Someone else; needs [`Capability::ChangeIdentity`].
    pub fn client(&self, uid: u32, gid: u32, groups: &[u32]) -> Client<'a> {
        Client::new(self.fs, Cred { uid, gid, groups: groups.into() })
    }
}
