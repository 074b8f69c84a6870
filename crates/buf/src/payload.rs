//! Data on its way from a file system to a client.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::Buffer;

/// A range of an open file, sent by the kernel without passing through our memory.
#[derive(Clone, Debug)]
pub struct Span {
    /// The file; kept open until the data is sent.
    pub file: Arc<OwnedFd>,
    /// The first byte.
    pub offset: u64,
    /// How many bytes, all inside the file when the span was made.
    pub len: usize,
}

/// READ data that is not worth copying into the reply.
#[derive(Debug)]
pub enum Payload {
    /// The first `len` bytes of a pooled buffer.
    Buffer {
        /// Goes back to its pool when the data is sent.
        buffer: Buffer,
        /// Bytes of it that count.
        len: usize,
    },
    /// A range of an open file.
    Span(Span),
}

impl Payload {
    /// Bytes on the wire, without padding.
    pub fn len(&self) -> usize {
        match self {
            Payload::Buffer { len, .. } => *len,
            Payload::Span(span) => span.len,
        }
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
