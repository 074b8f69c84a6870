//! Access control lists (RFC 8881 §6.2.1).

use hayase_xdr::{Array, Opaque, Xdr};

/// The most entries of an access control list that are read.
pub const MAX_ACES: u32 = 4096;

/// An entry of an access control list (RFC 8881 §6.2.1, `nfsace4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NfsAce<'a> {
    /// What the entry does: one of [`ace_type`].
    pub ace_type: u32,
    /// How it is inherited and read: bits of [`ace_flag`].
    pub flag: u32,
    /// What it is about: bits of [`ace_mask`].
    pub access_mask: u32,
    /// Whom it is about: `user@domain`, or a special name like `OWNER@`.
    pub who: Opaque<'a>,
}

/// An access control list (RFC 8881 §6.2.1).
pub type Acl<'a> = Array<NfsAce<'a>, MAX_ACES>;

/// An access control list with flags of its own (RFC 8881 §6.4.3.2, `nfsacl41`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct NfsAcl41<'a> {
    /// Bits of [`acl_flag`].
    pub flag: u32,
    /// The entries.
    pub aces: Acl<'a>,
}

/// Bits of `aclsupport` (RFC 8881 §6.2.1.2).
pub mod acl_support {
    /// Entries that allow.
    pub const ALLOW: u32 = 0x1;
    /// Entries that deny.
    pub const DENY: u32 = 0x2;
    /// Entries that audit.
    pub const AUDIT: u32 = 0x4;
    /// Entries that alarm.
    pub const ALARM: u32 = 0x8;
}

/// What an entry does (RFC 8881 §6.2.1.1).
pub mod ace_type {
    /// Allows.
    pub const ALLOWED: u32 = 0;
    /// Denies.
    pub const DENIED: u32 = 1;
    /// Writes a log.
    pub const AUDIT: u32 = 2;
    /// Raises an alarm.
    pub const ALARM: u32 = 3;
}

/// How an entry is inherited and read (RFC 8881 §6.2.1.4).
pub mod ace_flag {
    /// New files inherit it.
    pub const FILE_INHERIT: u32 = 0x01;
    /// New directories inherit it.
    pub const DIRECTORY_INHERIT: u32 = 0x02;
    /// What inherits it does not pass it on.
    pub const NO_PROPAGATE_INHERIT: u32 = 0x04;
    /// It counts only where it is inherited.
    pub const INHERIT_ONLY: u32 = 0x08;
    /// Audit or alarm when access is allowed.
    pub const SUCCESSFUL_ACCESS: u32 = 0x10;
    /// Audit or alarm when access is denied.
    pub const FAILED_ACCESS: u32 = 0x20;
    /// `who` is a group.
    pub const IDENTIFIER_GROUP: u32 = 0x40;
    /// It was inherited.
    pub const INHERITED: u32 = 0x80;
}

/// What an entry is about (RFC 8881 §6.2.1.3).
pub mod ace_mask {
    /// Reading a file's data.
    pub const READ_DATA: u32 = 0x0000_0001;
    /// Listing a directory.
    pub const LIST_DIRECTORY: u32 = 0x0000_0001;
    /// Writing a file's data.
    pub const WRITE_DATA: u32 = 0x0000_0002;
    /// Making files in a directory.
    pub const ADD_FILE: u32 = 0x0000_0002;
    /// Writing at a file's end.
    pub const APPEND_DATA: u32 = 0x0000_0004;
    /// Making directories in a directory.
    pub const ADD_SUBDIRECTORY: u32 = 0x0000_0004;
    /// Reading named attributes.
    pub const READ_NAMED_ATTRS: u32 = 0x0000_0008;
    /// Writing named attributes.
    pub const WRITE_NAMED_ATTRS: u32 = 0x0000_0010;
    /// Executing a file, passing through a directory.
    pub const EXECUTE: u32 = 0x0000_0020;
    /// Removing from a directory.
    pub const DELETE_CHILD: u32 = 0x0000_0040;
    /// Reading attributes.
    pub const READ_ATTRIBUTES: u32 = 0x0000_0080;
    /// Setting times.
    pub const WRITE_ATTRIBUTES: u32 = 0x0000_0100;
    /// Setting how long the file must be kept.
    pub const WRITE_RETENTION: u32 = 0x0000_0200;
    /// Setting reasons to keep the file without end.
    pub const WRITE_RETENTION_HOLD: u32 = 0x0000_0400;
    /// Removing the object itself.
    pub const DELETE: u32 = 0x0001_0000;
    /// Reading the access control list.
    pub const READ_ACL: u32 = 0x0002_0000;
    /// Setting mode and access control list.
    pub const WRITE_ACL: u32 = 0x0004_0000;
    /// Setting owner and group.
    pub const WRITE_OWNER: u32 = 0x0008_0000;
    /// Using the object at the server itself.
    pub const SYNCHRONIZE: u32 = 0x0010_0000;
    /// All that reading needs.
    pub const GENERIC_READ: u32 = 0x0012_0081;
    /// All that writing needs.
    pub const GENERIC_WRITE: u32 = 0x0016_0106;
    /// All that executing needs.
    pub const GENERIC_EXECUTE: u32 = 0x0012_00a0;
}

/// Flags of a list as a whole (RFC 8881 §6.4.3.2).
pub mod acl_flag {
    /// Changes of a directory's list reach what is in it.
    pub const AUTO_INHERIT: u32 = 0x1;
    /// The list is not changed by its directory's.
    pub const PROTECTED: u32 = 0x2;
    /// The list was made by a default rule.
    pub const DEFAULTED: u32 = 0x4;
}
