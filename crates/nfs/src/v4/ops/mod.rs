//! The operations, one file each.
#![allow(clippy::needless_pass_by_value)] // an operation owns what was decoded for it

pub(super) mod access;
pub(super) mod advise;
pub(super) mod clients40;
pub(super) mod clone;
pub(super) mod close;
pub(super) mod commit;
pub(super) mod copy;
pub(super) mod copy_notify;
pub(super) mod create;
pub(super) mod exchange_id;
pub(super) mod getattr;
pub(super) mod getfh;
pub(super) mod link;
pub(super) mod lock;
pub(super) mod lookup;
pub(super) mod lookupp;
pub(super) mod offload;
pub(super) mod open;
pub(super) mod openattr;
pub(super) mod putfh;
pub(super) mod putrootfh;
pub(super) mod read;
pub(super) mod read_plus;
pub(super) mod readdir;
pub(super) mod readlink;
pub(super) mod remove;
pub(super) mod rename;
pub(super) mod savefh;
pub(super) mod secinfo;
pub(super) mod seek;
pub(super) mod sequence;
pub(super) mod sessions;
pub(super) mod setattr;
pub(super) mod space;
pub(super) mod stateids;
pub(super) mod verify;
pub(super) mod write;
pub(super) mod xattr;

use hayase_proto::nfs4::Status;
use hayase_vfs::{Error, FileType};

use crate::call::Target;
use crate::v4::fault::Fault;

/// Says of an error on what should be a regular file whether it is none, and if so, what it
/// is (RFC 8881 §18.22.4, §18.32.4).
fn not_regular(file: &Target, error: Error) -> Fault {
    if !matches!(error, Error::Invalid | Error::WrongType | Error::IsDirectory) {
        return error.into();
    }
    match file.vfs().attr(&file.cx(), &file.handle).map(|attr| attr.kind) {
        Ok(FileType::Regular) => error.into(),
        Ok(kind) => wrong_kind(kind).into(),
        Err(other) => other.into(),
    }
}

/// The status for a file that should be a regular one.
fn wrong_kind(kind: FileType) -> Status {
    match kind {
        FileType::Directory => Status::IsDir,
        FileType::Symlink => Status::Symlink,
        _ => Status::WrongType,
    }
}
