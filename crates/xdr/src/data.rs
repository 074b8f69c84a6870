//! Variable-length opaque data and strings, borrowed from where they were received.

use std::fmt;

use crate::{Decode, Encode, Reader, Result, padding};

/// Variable-length opaque data or a string of at most `MAX` bytes (RFC 4506 §4.10, §4.11).
///
/// Strings are bytes here: file names have no encoding on the wire of NFSv3.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Opaque<'a, const MAX: u32 = { u32::MAX }>(pub &'a [u8]);

impl<'a, const MAX: u32> Decode<'a> for Opaque<'a, MAX> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        let len = from.length(MAX)?;
        Ok(Opaque(from.take_padded(len)?))
    }
}

impl<const MAX: u32> Encode for Opaque<'_, MAX> {
    fn encode(&self, to: &mut Vec<u8>) {
        (self.0.len() as u32).encode(to);
        to.extend_from_slice(self.0);
        to.extend_from_slice(&[0; 3][..padding(self.0.len())]);
    }
}

impl<const MAX: u32> fmt::Debug for Opaque<'_, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}
