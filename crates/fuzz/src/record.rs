//! Record marking: whatever the stream, and however it is cut, a connection answers the
//! records that are in it (RFC 5531 §11).

use hayase_rpc::record::{MARK_BYTES, Mark};
use hayase_transport::{Limits, fuzzing};

use crate::choices::Choices;

/// Longest stream that is tried.
const STREAM_BYTES: usize = 32 << 10;

/// The first byte says how many of the following say where the stream is cut, and whether the
/// stream is what is left or is built by it.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let head = choices.byte();
    let cuts = choices.take(usize::from(head & 0x0f));
    // Short pieces and long ones.
    let pieces = cuts.iter().map(|len| usize::from(*len) * usize::from(*len) / 16);
    let stream = if head & 0x80 == 0 { choices.rest().to_vec() } else { build(&mut choices) };
    let stream = &stream[..stream.len().min(STREAM_BYTES)];
    let limits =
        Limits { record_bytes: 3000, small_record_bytes: 64, buffers: 1, ..Limits::default() };

    let (expected, too_long) = records(stream, limits.record_bytes);
    let echoed = fuzzing::echo(stream, pieces, &limits);
    if too_long {
        assert!(expected.starts_with(&echoed.sent), "something else is sent");
    } else {
        assert!(!echoed.closed_early, "the connection ends for no reason");
        assert!(echoed.sent == expected, "not every record is answered as it came");
    }
}

/// A stream of fragments of chosen lengths.
fn build(choices: &mut Choices<'_>) -> Vec<u8> {
    let mut stream = Vec::new();
    while !choices.is_empty() && stream.len() < STREAM_BYTES {
        let kind = choices.byte();
        let len = match kind >> 1 & 3 {
            0 => usize::from(kind >> 3),
            1 => choices.below(256),
            2 => 16 * choices.below(256),
            _ => choices.word() as usize & 0xfff,
        };
        stream.extend(Mark { last: kind & 1 == 0, len }.encode());
        stream.extend((0..len).map(|at| kind.wrapping_add(at as u8)));
    }
    stream
}

/// What answers each complete record of a stream with itself, up to a record that is too long.
fn records(stream: &[u8], record_bytes: usize) -> (Vec<u8>, bool) {
    let (mut replies, mut record, mut rest) = (Vec::new(), Vec::new(), stream);
    while let Some((mark, data)) = rest.split_first_chunk::<MARK_BYTES>() {
        let mark = Mark::decode(*mark);
        assert_eq!(Mark::decode(mark.encode()), mark);
        if record.len() + mark.len > record_bytes {
            return (replies, true);
        }
        let Some((data, after)) = data.split_at_checked(mark.len) else { break };
        record.extend_from_slice(data);
        if mark.last {
            replies.extend(Mark { last: true, len: record.len() }.encode());
            replies.append(&mut record);
        }
        rest = after;
    }
    (replies, false)
}
