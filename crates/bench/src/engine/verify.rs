//! Blocks that say what they are, so that a wrong one is noticed: header, noise that follows from the
//! header, and a CRC-32C over both.
//!
//! | byte | field, big-endian |
//! |---|---|
//! | 0 | `HayaseV1` |
//! | 8 | which file: a hash of its name |
//! | 16 | where in the file the block belongs |
//! | 24 | generation: how often the run has written the place; 0 when laid out for reading |
//! | 32 | bytes of the block |
//! | 36 | CRC-32C of all the block, with this field 0 |
//! | 40 | noise |

use std::fmt;

use super::course::mix;

/// Bytes of the header.
pub(crate) const HEADER: usize = 40;
const MAGIC: &[u8; 8] = b"HayaseV1";
const CRC: std::ops::Range<usize> = 36..HEADER;

/// Which block it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// [`file_id`] of its file.
    pub(crate) file: u64,
    pub(crate) offset: u64,
    pub(crate) generation: u64,
}

/// A hash of a file's name that stays the same.
pub(crate) fn file_id(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |id, byte| mix(id ^ u64::from(byte)))
}

/// A block that is not what it has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Where, from the start of the file.
    pub(crate) offset: u64,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { offset, expected, found } = self;
        write!(f, "verify failed at offset {offset}: expected {expected}, found {found}")
    }
}

/// Makes `data`, of at least [`HEADER`] bytes, that block.
pub(crate) fn stamp(data: &mut [u8], block: Block) {
    let (head, body) = data.split_at_mut(HEADER);
    head[..8].copy_from_slice(MAGIC);
    head[8..16].copy_from_slice(&block.file.to_be_bytes());
    head[16..24].copy_from_slice(&block.offset.to_be_bytes());
    head[24..32].copy_from_slice(&block.generation.to_be_bytes());
    head[32..36].copy_from_slice(&((HEADER + body.len()) as u32).to_be_bytes());
    head[CRC].fill(0);
    noise(body, seed(block));
    let crc = crc32c::crc32c_append(crc32c::crc32c(head), body);
    head[CRC].copy_from_slice(&crc.to_be_bytes());
}

/// Whether `data` is the block of that place; without a generation, any will do.
pub(crate) fn check(
    data: &[u8],
    file: u64,
    offset: u64,
    generation: Option<u64>,
) -> Result<(), Mismatch> {
    let differs = |at: u64, expected: String, found: String| {
        Err(Mismatch { offset: offset + at, expected, found })
    };
    let Some((head, body)) = data.split_at_checked(HEADER) else {
        return differs(data.len() as u64, "a whole block".to_owned(), "the end".to_owned());
    };
    if &head[..8] != MAGIC {
        let (expected, found) = (MAGIC.escape_ascii(), head[..8].escape_ascii());
        return differs(0, format!("{expected}, with which each block begins"), found.to_string());
    }
    let fields =
        [(8, "file", Some(file)), (16, "offset", Some(offset)), (24, "generation", generation)];
    for (at, what, expected) in fields {
        let found = word(head, at);
        let Some(expected) = expected.filter(|expected| *expected != found) else { continue };
        let show = |value| if at == 8 { format!("{value:#018x}") } else { format!("{value}") };
        return differs(
            at as u64,
            format!("the block of {what} {}", show(expected)),
            format!("that of {what} {}", show(found)),
        );
    }
    let mut zeroed = [0; HEADER];
    zeroed.copy_from_slice(head);
    zeroed[CRC].fill(0);
    let crc = crc32c::crc32c_append(crc32c::crc32c(&zeroed), body);
    if head[CRC] == crc.to_be_bytes() {
        return Ok(());
    }
    // Made again, to be told which byte it is.
    let mut made = vec![0; data.len()];
    stamp(&mut made, Block { file, offset, generation: word(head, 24) });
    let at = made.iter().zip(data).position(|(made, found)| made != found).unwrap_or(CRC.start);
    differs(at as u64, format!("byte {:#04x}", made[at]), format!("{:#04x}", data[at]))
}

fn word(head: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&head[at..at + 8]);
    u64::from_be_bytes(bytes)
}

fn seed(block: Block) -> u64 {
    mix(block.file ^ mix(block.offset ^ mix(block.generation)))
}

/// Fills with what does not compress and follows from the seed.
pub(crate) fn noise(data: &mut [u8], seed: u64) {
    let mut state = seed | 1;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let (words, rest) = data.as_chunks_mut::<8>();
    for word in words {
        *word = draw();
    }
    let last = draw();
    rest.copy_from_slice(&last[..rest.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Block = Block { file: 7, offset: 8192, generation: 3 };

    fn block(len: usize) -> Vec<u8> {
        let mut data = vec![0xff; len];
        stamp(&mut data, BLOCK);
        data
    }

    #[test]
    fn a_block_is_known_again() {
        for len in [HEADER, HEADER + 1, 4096, 5001] {
            assert_eq!(check(&block(len), 7, 8192, Some(3)), Ok(()));
            assert_eq!(check(&block(len), 7, 8192, None), Ok(()));
        }
    }

    #[test]
    fn every_byte_that_changes_is_found() {
        let whole = block(300);
        for at in 0..whole.len() {
            let mut data = whole.clone();
            data[at] ^= 0x10;
            let mismatch = check(&data, 7, 8192, None).unwrap_err();
            if at >= 36 {
                assert_eq!(mismatch.offset, 8192 + at as u64, "{mismatch}");
            }
        }
    }

    #[test]
    fn a_block_of_elsewhere_or_long_ago_is_named() {
        for (file, offset, generation, text) in [
            (8, 8192, 3, "expected the block of file 0x0000000000000008"),
            (7, 4096, 3, "expected the block of offset 4096, found that of offset 8192"),
            (7, 8192, 4, "expected the block of generation 4, found that of generation 3"),
        ] {
            let error = check(&block(4096), file, offset, Some(generation)).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
        let error = check(&[0; 4096], 7, 0, None).unwrap_err().to_string();
        assert!(error.contains("HayaseV1") && error.contains(r"\x00"), "{error}");
        assert!(check(&[0; 10], 7, 0, None).is_err());
    }
}
