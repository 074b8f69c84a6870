//! What can be wrong with received XDR.

use std::fmt;

/// Why bytes could not be decoded. Always the peer's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The data ends before the value does.
    Truncated,
    /// A length exceeds what the type allows.
    TooLong {
        /// The length on the wire.
        len: u32,
        /// The largest length the type allows.
        max: u32,
    },
    /// A number that is none of the enum's or union's.
    UnknownValue(u32),
    /// Bytes are left after the value.
    Trailing(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Truncated => write!(f, "the data ends before the value does"),
            Error::TooLong { len, max } => write!(f, "length {len} exceeds the limit of {max}"),
            Error::UnknownValue(value) => write!(f, "{value} is not a value of this type"),
            Error::Trailing(len) => write!(f, "{len} bytes are left after the value"),
        }
    }
}

impl std::error::Error for Error {}
