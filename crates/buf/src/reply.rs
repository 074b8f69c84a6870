//! The replies that wait to be sent on one connection.

use std::collections::VecDeque;

use crate::Payload;

/// A run of encoded replies, with payloads in between that are sent from where they are.
#[derive(Debug, Default)]
pub struct ReplyBuf {
    bytes: Vec<u8>,
    /// Each payload goes before the byte of this index.
    payloads: VecDeque<(usize, Payload)>,
    payload_bytes: usize,
}

/// A place in a [`ReplyBuf`] to go back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    bytes: usize,
    payloads: usize,
    payload_bytes: usize,
}

/// What is to be sent next.
#[derive(Debug)]
pub enum Segment<'a> {
    /// Encoded bytes.
    Bytes(&'a [u8]),
    /// A payload.
    Payload(&'a Payload),
}

impl ReplyBuf {
    /// An empty batch.
    pub fn new() -> Self {
        ReplyBuf::default()
    }

    /// Where encoding appends.
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The encoded bytes, without payloads.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Puts a payload after what is encoded so far. Length word and padding are the encoder's.
    pub fn push_payload(&mut self, payload: Payload) {
        if !payload.is_empty() {
            self.payload_bytes += payload.len();
            self.payloads.push_back((self.bytes.len(), payload));
        }
    }

    /// The present end.
    pub fn mark(&self) -> Mark {
        Mark {
            bytes: self.bytes.len(),
            payloads: self.payloads.len(),
            payload_bytes: self.payload_bytes,
        }
    }

    /// Forgets everything after `mark`.
    pub fn rollback(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.payloads.truncate(mark.payloads);
        self.payload_bytes = mark.payload_bytes;
    }

    /// Bytes on the wire since `mark`.
    pub fn len_since(&self, mark: Mark) -> usize {
        self.bytes.len() - mark.bytes + self.payload_bytes - mark.payload_bytes
    }

    /// What was encoded since `mark`, without payloads.
    pub fn bytes_since_mut(&mut self, mark: Mark) -> &mut [u8] {
        &mut self.bytes[mark.bytes..]
    }

    /// What was encoded since `mark`, or nothing if a payload is among it.
    pub fn encoded_since(&self, mark: Mark) -> Option<&[u8]> {
        (self.payloads.len() == mark.payloads).then(|| &self.bytes[mark.bytes..])
    }

    /// Puts bytes in between: `at` bytes after `mark`, before which no payload may have been put since.
    /// What was encoded from there on moves.
    pub fn insert(&mut self, mark: Mark, at: usize, bytes: &[u8]) {
        let place = mark.bytes + at;
        self.bytes.splice(place..place, bytes.iter().copied());
        for (before, _) in self.payloads.range_mut(mark.payloads..) {
            *before += bytes.len();
        }
    }

    /// Bytes on the wire in all.
    pub fn len(&self) -> usize {
        self.bytes.len() + self.payload_bytes
    }

    /// Whether nothing is waiting.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts another batch behind this one.
    pub fn append(&mut self, mut other: ReplyBuf) {
        let base = self.bytes.len();
        self.bytes.append(&mut other.bytes);
        self.payloads.extend(other.payloads.drain(..).map(|(at, payload)| (base + at, payload)));
        self.payload_bytes += other.payload_bytes;
    }

    /// Bytes that can be encoded without more memory.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.payloads.clear();
        self.payload_bytes = 0;
    }

    /// What follows the first `sent` encoded bytes; a payload stays in front until it is popped.
    /// The flag tells whether more follows this segment.
    pub fn next_segment(&self, sent: usize) -> Option<(Segment<'_>, bool)> {
        match self.payloads.front() {
            Some((at, payload)) if *at == sent => {
                let more = self.payloads.len() > 1 || self.bytes.len() > sent;
                Some((Segment::Payload(payload), more))
            }
            Some((at, _)) => Some((Segment::Bytes(&self.bytes[sent..*at]), true)),
            None if sent < self.bytes.len() => Some((Segment::Bytes(&self.bytes[sent..]), false)),
            None => None,
        }
    }

    /// Takes the payload that has been sent out of the queue.
    pub fn pop_payload(&mut self) {
        if let Some((_, payload)) = self.payloads.pop_front() {
            self.payload_bytes -= payload.len();
        }
    }

    /// Gives up the first `sent` encoded bytes, whose payloads have been popped.
    pub fn consume(&mut self, sent: usize) {
        self.bytes.drain(..sent);
        for (at, _) in &mut self.payloads {
            *at -= sent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buffer;

    fn payload(len: usize) -> Payload {
        Payload::Buffer { buffer: Buffer::unpooled(len), len }
    }

    /// Sends everything in steps of at most `step` bytes and returns the sizes seen.
    fn drain(mut batch: ReplyBuf) -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut payloads, mut sent) = (Vec::new(), Vec::new(), 0);
        loop {
            match batch.next_segment(sent) {
                Some((Segment::Bytes(next), _)) => {
                    let step = next.len().min(2);
                    bytes.extend_from_slice(&next[..step]);
                    sent += step;
                }
                Some((Segment::Payload(next), _)) => {
                    payloads.push(next.len());
                    batch.pop_payload();
                }
                None => return (bytes, payloads),
            }
        }
    }

    #[test]
    fn segments_come_in_order() {
        let mut batch = ReplyBuf::new();
        batch.bytes_mut().extend_from_slice(b"head");
        batch.push_payload(payload(7));
        batch.bytes_mut().extend_from_slice(b"pad");
        let mut second = ReplyBuf::new();
        second.push_payload(payload(9));
        second.bytes_mut().push(b'!');
        batch.append(second);
        assert_eq!(batch.len(), 4 + 7 + 3 + 9 + 1);
        assert_eq!(drain(batch), (b"headpad!".to_vec(), vec![7, 9]));
    }

    #[test]
    fn rolling_back_forgets_payloads_too() {
        let mut batch = ReplyBuf::new();
        batch.bytes_mut().push(1);
        let mark = batch.mark();
        batch.bytes_mut().push(2);
        assert_eq!(batch.encoded_since(mark), Some(&[2][..]));
        batch.push_payload(payload(5));
        assert_eq!(batch.len_since(mark), 6);
        assert_eq!(batch.encoded_since(mark), None);
        batch.rollback(mark);
        assert_eq!(drain(batch), (vec![1], vec![]));
    }

    #[test]
    fn what_is_put_in_between_moves_what_is_behind() {
        let mut batch = ReplyBuf::new();
        batch.push_payload(payload(3));
        batch.bytes_mut().extend_from_slice(b"first");
        batch.push_payload(payload(4));
        let mark = batch.mark();
        batch.bytes_mut().extend_from_slice(b"headtail");
        batch.push_payload(payload(5));
        batch.bytes_mut().push(b'!');
        batch.insert(mark, 4, b"+neck+");
        assert_eq!(batch.len_since(mark), 4 + 6 + 4 + 5 + 1);
        batch.pop_payload();
        batch.consume(5);
        batch.pop_payload();
        let Some((Segment::Bytes(bytes), true)) = batch.next_segment(0) else { panic!("no bytes") };
        assert_eq!(bytes, b"head+neck+tail");
        assert_eq!(drain(batch), (b"head+neck+tail!".to_vec(), vec![5]));
    }

    #[test]
    fn consuming_keeps_payload_positions() {
        let mut batch = ReplyBuf::new();
        batch.bytes_mut().extend_from_slice(b"abcdef");
        batch.push_payload(payload(3));
        batch.bytes_mut().extend_from_slice(b"gh");
        batch.consume(4);
        assert_eq!(drain(batch), (b"efgh".to_vec(), vec![3]));
    }
}
