//! What a file system has room for, and what its files can be.

use crate::Time;

/// Space of a file system in bytes and in files (RFC 1813 §3.3.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsStat {
    /// Size.
    pub total_bytes: u64,
    /// Unused.
    pub free_bytes: u64,
    /// Unused and open to ordinary users.
    pub avail_bytes: u64,
    /// Files there can be.
    pub total_files: u64,
    /// Files there can still be.
    pub free_files: u64,
    /// Files that ordinary users can still make.
    pub avail_files: u64,
}

/// What a file system can do (RFC 1813 §3.3.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsInfo {
    /// Largest file in bytes.
    pub max_file_bytes: u64,
    /// Resolution of time stamps.
    pub time_delta: Time,
    /// Whether there are hard links.
    pub hard_links: bool,
    /// Whether there are symbolic links.
    pub symlinks: bool,
}

/// Limits on names (RFC 1813 §3.3.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathConf {
    /// Most hard links of a file.
    pub link_max: u32,
    /// Longest name in bytes.
    pub name_max: u32,
    /// Whether only the superuser may give files away.
    pub chown_restricted: bool,
    /// Whether names that differ in case are the same.
    pub case_insensitive: bool,
}
