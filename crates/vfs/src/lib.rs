//! What a file system offers to the NFS procedures: the [`Vfs`] trait, and the
//! types it speaks in. No wire types, no sockets.
#![forbid(unsafe_code)]

pub mod acl;
mod attr;
mod cx;
mod entry;
mod error;
mod features;
mod fs;
mod handle;
mod io;
mod label;
mod limits;
mod lock;
mod name;
mod node;
mod quota;
mod range;
#[cfg(feature = "testing")]
pub mod testing;
mod waiting;
mod watch;
mod xattr;

pub use acl::{Acl, Perm, PosixAcl};
pub use attr::{Attr, FileType, SetAttr, SetTime, Time};
pub use cx::{Cred, Cx, Durability, Wait};
pub use entry::{DirEntry, DirRead, EntrySink, NewNode, Open};
pub use error::{Error, Result};
pub use features::{ChangeKind, Features};
pub use fs::Vfs;
pub use handle::Handle;
pub use io::{Read, ReadData, Stability, Written};
pub use label::LABEL_MAX;
pub use limits::{FsInfo, FsStat, PathConf};
pub use lock::{LocalLock, LockMode, LockRange};
pub use name::Name;
pub use node::{Access, Node, Wcc};
pub use quota::{Quota, QuotaOf};
pub use range::{Advice, Copied, Seek, Sought, Source};
pub use waiting::{Waiting, disk_time_of, tell_of_waiting, wait_for, wait_for_disk};
pub use watch::{ConflictListener, Watch};
pub use xattr::{SetXattr, XATTR_VALUE_MAX, XattrName, XattrSink, list_xattr_names};
