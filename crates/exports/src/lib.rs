//! exports(5): what is exported, to whom, and how.
//!
//! This crate reads the grammar of `/etc/exports` ([`parse`]), decides which client rule of an
//! export applies to an address ([`Rules`]), and says what the options of that rule mean for a
//! request ([`ExportOptions`]). It opens no files and no sockets of its own; names are looked up
//! through the [`Names`] trait, whose implementation for a real host is [`SystemNames`].
//!
//! Where exports(5) leaves room, nfs-utils decides: a file that works there means the same here.
//! Where a file is wrong, or asks for something that Hayase does not do, parsing fails and says
//! everything that is wrong at once. There are no warnings: what is accepted has its effect.
//!
//! ```
//! use std::path::Path;
//!
//! let text = "/srv/data  10.0.0.0/8(rw,no_root_squash) *.example.com(ro)";
//! let entries = hayase_exports::parse(text.as_bytes(), Path::new("/etc/exports")).unwrap();
//! assert_eq!(entries[0].grants[0].client.to_string(), "10.0.0.0/8");
//! assert!(!entries[0].grants[0].options.ro);
//! ```

#![forbid(unsafe_code)]

mod client;
mod diagnostic;
mod entry;
mod fsid;
mod ids;
mod io;
mod lexer;
mod listing;
mod locations;
mod mountpoint;
mod names;
mod nearest;
mod option_list;
mod options;
mod parse;
mod pattern;
mod rules;
mod sec;
mod squash;
mod system_names;
mod words;

pub use client::{Class, Client};
pub use diagnostic::{Diagnostic, Problem};
pub use entry::{Entry, Grant};
pub use fsid::Fsid;
pub use ids::IdRanges;
pub use io::Io;
pub use listing::{Style, exportfs, options as exportfs_options};
pub use locations::{Location, Locations};
pub use mountpoint::MountPoint;
pub use names::Names;
pub use nearest::nearest;
pub use options::ExportOptions;
pub use parse::{is_extra_table, parse, parse_tables};
pub use pattern::Pattern;
pub use rules::{Match, Rules, Unresolved};
pub use sec::{Flavor, Flavors, Treatment};
pub use squash::Identity;
pub use system_names::SystemNames;
pub use words::{Described, described, reference};
