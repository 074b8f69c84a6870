//! From a byte stream to records (RFC 5531 §11): any number of fragments, any split.

use std::sync::Arc;

use hayase_buf::{ALIGNMENT, Buffer, Pool};
use hayase_rpc::record::{MARK_BYTES, Mark};

use crate::Limits;

/// The next thing in received bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A record of one fragment, all here: these bytes after the mark, then go on behind it.
    Whole { len: usize },
    /// The beginning of a small record, or of a mark: wait for the rest.
    Incomplete,
    /// The beginning of a large record of this length: receive it into a buffer of its own.
    Large { len: usize },
    /// A fragment of a record of several.
    Fragment(Mark),
    /// Longer than any record may be.
    TooLong,
}

/// Looks at `bytes`, which start with a record mark.
pub(crate) fn next(bytes: &[u8], limits: &Limits) -> Next {
    let Some((mark, data)) = bytes.split_first_chunk::<MARK_BYTES>() else {
        return Next::Incomplete;
    };
    let mark = Mark::decode(*mark);
    if mark.len > limits.record_bytes {
        Next::TooLong
    } else if !mark.last {
        Next::Fragment(mark)
    } else if data.len() >= mark.len {
        Next::Whole { len: mark.len }
    } else if mark.len > limits.small_record_bytes {
        Next::Large { len: mark.len }
    } else {
        Next::Incomplete
    }
}

/// What has been received of records that are not complete.
#[derive(Debug)]
pub(crate) enum Input {
    /// Bytes from a record mark on; none between records.
    Start(Vec<u8>),
    /// A large record on its way into a buffer.
    Large(Large),
    /// A record of several fragments, and received bytes that had to be kept back.
    Fragments(Fragments, Vec<u8>),
}

impl Input {
    /// Nothing received.
    pub(crate) const EMPTY: Input = Input::Start(Vec::new());

    /// Whether the peer owes us the rest of a record.
    pub(crate) fn is_unfinished(&self) -> bool {
        !matches!(self, Input::Start(bytes) if bytes.is_empty())
    }
}

/// A record that is received straight into a pooled buffer, its payload page-aligned.
#[derive(Debug)]
pub(crate) struct Large {
    buffer: Buffer,
    start: usize,
    len: usize,
    filled: usize,
}

impl Large {
    /// A pool whose buffers hold any record wherever its payload starts.
    pub(crate) fn pool(limits: &Limits) -> Arc<Pool> {
        Pool::new(limits.record_bytes + ALIGNMENT, limits.buffers)
    }

    /// Starts a record of `len` bytes with what is here of it.
    pub(crate) fn new(
        mut buffer: Buffer,
        len: usize,
        head: &[u8],
        payload_offset: Option<usize>,
    ) -> Self {
        let start = payload_offset.map_or(0, |at| at.wrapping_neg() % ALIGNMENT);
        buffer[start..start + head.len()].copy_from_slice(head);
        Large { buffer, start, len, filled: head.len() }
    }

    /// Where the next bytes go; empty when the record is complete.
    pub(crate) fn vacant(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start + self.filled..self.start + self.len]
    }

    /// Counts `len` more bytes as received.
    pub(crate) fn advance(&mut self, len: usize) {
        self.filled += len;
    }

    /// Whether all is here.
    pub(crate) fn is_complete(&self) -> bool {
        self.filled == self.len
    }

    /// The record.
    pub(crate) fn record(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.filled]
    }
}

/// A record of several fragments, joined as they arrive: in memory that follows what
/// has arrived while it is small, in a pooled buffer beyond.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    small: Vec<u8>,
    large: Option<Buffer>,
    len: usize,
    /// Bytes still to come of the present fragment.
    left: usize,
    last: bool,
    /// The beginning of the next mark.
    mark: Vec<u8>,
}

/// What came of feeding bytes to [`Fragments`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    /// The record is complete after this many of the bytes.
    Complete(usize),
    /// All bytes were used and more are needed.
    More,
    /// After this many bytes a buffer is needed, and none is free.
    Starved(usize),
    /// The record is longer than any may be.
    TooLong,
}

impl Fragments {
    /// Takes bytes up to the end of the record.
    pub(crate) fn feed(&mut self, bytes: &[u8], limits: &Limits, pool: &Arc<Pool>) -> Fed {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            let data = &rest[..rest.len().min(self.left)];
            if !self.append(data, limits, pool) {
                return Fed::Starved(used);
            }
            used += data.len();
            self.left -= data.len();
            if self.left == 0 && self.last {
                return Fed::Complete(used);
            }
            let rest = &bytes[used..];
            let taken = rest.len().min(MARK_BYTES - self.mark.len());
            self.mark.extend_from_slice(&rest[..taken]);
            used += taken;
            let Ok(mark) = <[u8; MARK_BYTES]>::try_from(&self.mark[..]) else {
                return Fed::More;
            };
            let mark = Mark::decode(mark);
            self.mark.clear();
            self.left = mark.len;
            self.last = mark.last;
            if self.len + mark.len > limits.record_bytes {
                return Fed::TooLong;
            }
        }
    }

    /// Adds data, unless that needs a buffer and none is free.
    fn append(&mut self, data: &[u8], limits: &Limits, pool: &Arc<Pool>) -> bool {
        let end = self.len + data.len();
        if self.large.is_none() && end > limits.small_record_bytes {
            let Some(mut buffer) = pool.take() else { return false };
            buffer[..self.len].copy_from_slice(&self.small);
            self.small = Vec::new();
            self.large = Some(buffer);
        }
        match &mut self.large {
            Some(buffer) => buffer[self.len..end].copy_from_slice(data),
            None => self.small.extend_from_slice(data),
        }
        self.len = end;
        true
    }

    /// The joined record.
    pub(crate) fn record(&self) -> &[u8] {
        match &self.large {
            Some(buffer) => &buffer[..self.len],
            None => &self.small,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { record_bytes: 1000, small_record_bytes: 100, ..Limits::default() }
    }

    fn mark(last: bool, len: usize) -> Vec<u8> {
        Mark { last, len }.encode().to_vec()
    }

    #[test]
    fn the_mark_decides_how_a_record_is_received() {
        let limits = limits();
        let with = |mark: Vec<u8>, data: usize| [mark, vec![0; data]].concat();
        assert_eq!(next(&[0x80, 0], &limits), Next::Incomplete);
        assert_eq!(next(&with(mark(true, 8), 9), &limits), Next::Whole { len: 8 });
        assert_eq!(next(&with(mark(true, 0), 0), &limits), Next::Whole { len: 0 });
        assert_eq!(next(&with(mark(true, 100), 8), &limits), Next::Incomplete);
        assert_eq!(next(&with(mark(true, 101), 8), &limits), Next::Large { len: 101 });
        assert_eq!(next(&with(mark(true, 1001), 0), &limits), Next::TooLong);
        let first = Mark { last: false, len: 8 };
        assert_eq!(next(&with(mark(false, 8), 8), &limits), Next::Fragment(first));
    }

    #[test]
    fn fragments_join_however_they_are_split() {
        let wire = [mark(false, 3), b"abc".to_vec(), mark(false, 0), mark(true, 2), b"de".to_vec()]
            .concat();
        let tail = b"next";
        for cut in 0..wire.len() {
            let mut fragments = Fragments::default();
            let (first, second) = wire.split_at(cut);
            let pool = Pool::new(1000, 0);
            assert_eq!(fragments.feed(first, &limits(), &pool), Fed::More, "cut at {cut}");
            let second = [second, tail].concat();
            let used = wire.len() - cut;
            assert_eq!(fragments.feed(&second, &limits(), &pool), Fed::Complete(used));
            assert_eq!(fragments.record(), b"abcde");
        }
    }

    #[test]
    fn many_fragments_wait_for_a_buffer() {
        let wire = [mark(false, 60), vec![1; 60], mark(true, 60), vec![2; 60]].concat();
        let pool = Pool::new(1000, 1);
        let taken = pool.take();
        let mut fragments = Fragments::default();
        assert_eq!(fragments.feed(&wire, &limits(), &pool), Fed::Starved(68));
        drop(taken);
        assert_eq!(fragments.feed(&wire[68..], &limits(), &pool), Fed::Complete(60));
        assert_eq!(fragments.record(), [vec![1; 60], vec![2; 60]].concat());
    }

    #[test]
    fn fragments_together_keep_the_limit() {
        let mut fragments = Fragments::default();
        let wire = [mark(false, 900), vec![0; 900], mark(true, 101)].concat();
        assert_eq!(fragments.feed(&wire, &limits(), &Pool::new(1000, 1)), Fed::TooLong);
    }

    #[test]
    fn a_large_record_lands_with_its_payload_aligned() {
        let pool = Large::pool(&limits());
        let record: Vec<u8> = (0..=255).cycle().take(600).map(|b: u8| b).collect();
        let mut large = Large::new(pool.take().unwrap(), 600, &record[..150], Some(136));
        let vacant = large.vacant();
        assert_eq!(vacant.len(), 450);
        vacant.copy_from_slice(&record[150..]);
        large.advance(450);
        assert!(large.is_complete());
        assert_eq!(large.record(), record);
        assert_eq!(large.record()[136..].as_ptr().align_offset(ALIGNMENT), 0);
    }
}
