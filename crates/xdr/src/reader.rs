//! The bounded cursor that all decoding goes through.

use crate::{Error, Result, padding};

/// A cursor over received bytes. Copy it to look ahead.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes the next `len` bytes, with no padding.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes `len` bytes and the padding after them. Padding is not required to be zero.
    pub fn take_padded(&mut self, len: usize) -> Result<&'a [u8]> {
        let taken = self.take(len)?;
        self.take(padding(len))?;
        Ok(taken)
    }

    /// Takes one big-endian 32-bit word.
    pub fn word(&mut self) -> Result<u32> {
        let (word, rest) = self.rest.split_first_chunk().ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(u32::from_be_bytes(*word))
    }

    /// Takes a length and checks it against the type's limit.
    pub fn length(&mut self, max: u32) -> Result<usize> {
        let len = self.word()?;
        if len > max {
            return Err(Error::TooLong { len, max });
        }
        Ok(len as usize)
    }

    /// Fails if anything is left.
    pub fn finish(self) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(Error::Trailing(left)),
        }
    }
}
