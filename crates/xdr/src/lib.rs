//! XDR (RFC 4506): plain Rust types, decoded in place and encoded into one buffer.
//!
//! A [`Reader`] is a bounded cursor over received bytes. Variable-length data is
//! borrowed from it, never copied, so a hostile length can only run into the end
//! of what was really received. Encoding appends to a `Vec<u8>`.
//!
//! `#[derive(Xdr)]` writes both directions for structs (fields in order), for
//! enums of numbers (`#[repr(u32)]`), and for discriminated unions
//! (`#[xdr(N)]` on each variant).
//!
//! ```
//! use hayase_xdr::{Opaque, Xdr, from_bytes, to_vec};
//!
//! #[derive(Debug, PartialEq, Xdr)]
//! struct DirOpArgs<'a> {
//!     dir: Opaque<'a, 64>,
//!     name: Opaque<'a>,
//! }
//!
//! let args = DirOpArgs { dir: Opaque(b"hndl"), name: Opaque(b"a") };
//! let wire = to_vec(&args);
//! assert_eq!(wire, b"\0\0\0\x04hndl\0\0\0\x01a\0\0\0");
//! assert_eq!(from_bytes::<DirOpArgs>(&wire), Ok(args));
//! ```
#![forbid(unsafe_code)]

// The derive names this crate by its public name, also from inside it.
extern crate self as hayase_xdr;

mod data;
mod error;
mod list;
mod number;
mod reader;

pub use data::Opaque;
pub use error::Error;
pub use hayase_xdr_derive::Xdr;
pub use list::{Array, LinkedList};
pub use reader::Reader;

/// The result of decoding.
pub type Result<T> = std::result::Result<T, Error>;

/// A value that can be read from the wire, borrowing variable-length data.
pub trait Decode<'a>: Sized {
    /// Reads one value; on error the reader's position is unspecified.
    fn decode(from: &mut Reader<'a>) -> Result<Self>;
}

/// A value that can be written to the wire.
pub trait Encode {
    /// Appends the value.
    fn encode(&self, to: &mut Vec<u8>);
}

/// Decodes one value that fills `bytes` exactly (RFC 4506 has no trailing data).
pub fn from_bytes<'a, T: Decode<'a>>(bytes: &'a [u8]) -> Result<T> {
    let mut reader = Reader::new(bytes);
    let value = T::decode(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// Encodes one value into a new buffer.
pub fn to_vec<T: Encode + ?Sized>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    bytes
}

/// Bytes of padding after `len` bytes of variable-length data: 0 to 3 (RFC 4506 §4.10).
pub const fn padding(len: usize) -> usize {
    len.wrapping_neg() & 3
}
