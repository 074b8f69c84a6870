//! Security labels (RFC 7862 §9.6): bytes that mean something to a security module, and are passed
//! through.

/// The longest label in bytes. Those of `SELinux` are far shorter.
pub const LABEL_MAX: usize = 4096;
