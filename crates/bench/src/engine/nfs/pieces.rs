//! Blocks that are larger than one READ or WRITE carries: several requests at once, as the kernel's
//! client makes of them.

use hayase_client::{Buffer, OpenFile, Request, Stable};

use crate::engine::recorder::Outcome;

/// A block on its way in pieces. Each has a buffer of its own, so that all can be under way at once.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The block's buffer; of a read it is filled as pieces arrive.
    buffer: Buffer,
    len: usize,
    piece: usize,
    is_read: bool,
    /// For each piece, the bytes that were moved; `None` is not answered.
    moved: Vec<Option<u32>>,
    left: usize,
}

/// A block to be moved in pieces.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) file: OpenFile,
    pub(super) offset: u64,
    pub(super) len: u32,
    /// Of a write, how safe it has to be; `None` is a read.
    pub(super) write: Option<Stable>,
    pub(super) buffer: Buffer,
}

impl Pieces {
    /// Cuts a block into requests of `piece` bytes at most; buffers come from `idle`, as long as there are any.
    pub(super) fn cut(whole: Whole, piece: u32, idle: &mut Vec<Buffer>) -> (Self, Vec<Request>) {
        let Whole { file, offset, len, write, buffer } = whole;
        let (len, piece) = (len as usize, piece.max(1) as usize);
        let requests: Vec<Request> = (0..len)
            .step_by(piece)
            .map(|at| {
                let here = piece.min(len - at);
                let mut own = idle.pop().unwrap_or_else(|| Buffer::unpooled(piece));
                let (file, offset, len) = (file.clone(), offset + at as u64, here as u32);
                match write {
                    None => Request::Read { file, offset, len, buffer: own },
                    Some(stable) => {
                        own[..here].copy_from_slice(&buffer[at..at + here]);
                        Request::Write { file, offset, len, stable, buffer: own }
                    }
                }
            })
            .collect();
        let left = requests.len();
        let (is_read, moved) = (write.is_none(), vec![None; left]);
        (Pieces { buffer, len, piece, is_read, moved, left }, requests)
    }

    /// Takes note of the answer to a piece. Without bytes it has failed.
    pub(super) fn answered(&mut self, number: usize, moved: u32, own: Option<&Buffer>) {
        let at = number * self.piece;
        let Some(place) = self.moved.get_mut(number) else { return };
        if place.replace(moved).is_none() {
            self.left -= 1;
        }
        let end = (at + moved as usize).min(self.len);
        if let (true, Some(own)) = (self.is_read, own) {
            self.buffer[at..end].copy_from_slice(&own[..end - at]);
        }
    }

    /// Whether all pieces are answered.
    pub(super) fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// What was moved: the pieces up to the first that is not whole.
    pub(super) fn finish(self) -> (Outcome, Buffer) {
        let mut bytes = 0;
        for moved in self.moved.iter().flatten() {
            let wanted = self.piece.min(self.len - bytes);
            bytes += (*moved as usize).min(wanted);
            if (*moved as usize) < wanted {
                break;
            }
        }
        (Outcome { bytes: bytes as u64, ..Outcome::default() }, self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_client::FileHandle;

    fn whole(write: Option<Stable>) -> Whole {
        let handle = FileHandle::from_bytes(b"handle").unwrap();
        let mut buffer = Buffer::unpooled(10);
        buffer.copy_from_slice(b"0123456789");
        Whole { file: OpenFile::anonymous(handle), offset: 100, len: 10, write, buffer }
    }

    #[test]
    fn writes_carry_their_part_of_the_block() {
        let (mut pieces, requests) = Pieces::cut(whole(Some(Stable::FileSync)), 4, &mut Vec::new());
        let seen: Vec<_> = requests
            .iter()
            .map(|request| match request {
                Request::Write { offset, len, stable: Stable::FileSync, buffer, .. } => {
                    (*offset, buffer[..*len as usize].to_vec())
                }
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [(100, &b"0123"[..]), (104, b"4567"), (108, b"89")];
        assert_eq!(seen, expected.map(|(offset, data)| (offset, data.to_vec())));
        for (number, moved) in [(2, 2), (0, 4), (1, 4)] {
            assert!(!pieces.is_complete());
            pieces.answered(number, moved, None);
        }
        assert!(pieces.is_complete());
        assert_eq!(pieces.finish().0.bytes, 10);
    }

    #[test]
    fn reads_are_put_together_up_to_the_first_gap() {
        for (moved, bytes, data) in [
            ([4, 4, 2], 10, b"aaaabbbbcc"),
            ([4, 3, 2], 7, b"aaaabbb7cc"),
            ([0, 4, 2], 0, b"0123bbbbcc"),
        ] {
            let (mut pieces, requests) = Pieces::cut(whole(None), 4, &mut Vec::new());
            assert_eq!(requests.len(), 3);
            for (number, moved) in moved.into_iter().enumerate() {
                let mut own = Buffer::unpooled(4);
                own.fill(b'a' + number as u8);
                pieces.answered(number, moved, Some(&own));
            }
            let (outcome, buffer) = pieces.finish();
            assert_eq!((outcome.bytes, &buffer[..10]), (bytes, &data[..]));
        }
    }
}
