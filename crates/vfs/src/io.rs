//! Reading and writing data.

use hayase_buf::Payload;

use crate::Attr;

/// Where READ data is.
#[derive(Debug)]
pub enum ReadData {
    /// Appended to the buffer that was passed in: this many bytes.
    Inline(usize),
    /// In a payload.
    Payload(Payload),
}

impl ReadData {
    /// Bytes read.
    pub fn len(&self) -> usize {
        match self {
            ReadData::Inline(len) => *len,
            ReadData::Payload(payload) => payload.len(),
        }
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The result of a read.
#[derive(Debug)]
pub struct Read {
    /// The data.
    pub data: ReadData,
    /// Whether the data ends at the file's end.
    pub eof: bool,
    /// The file's attributes.
    pub attr: Attr,
}

/// How stable written data is to be, or is (RFC 1813 §3.3.7). Later is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stability {
    /// May be lost in a crash until a commit.
    Unstable,
    /// The data, and what is needed to find it again, is on stable storage.
    DataSync,
    /// Data and all attributes are.
    FileSync,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes written, from the first on.
    pub count: u32,
    /// How stable they are: at least as asked.
    pub stability: Stability,
}
