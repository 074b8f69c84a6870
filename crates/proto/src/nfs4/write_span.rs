//! Finding a WRITE's data before a compound has arrived whole.

use hayase_xdr::{Decode, Reader, Result};

use super::{CompoundHead, DataSpan, Op, OpSet, WriteArgsHead};

/// Operations before a WRITE that are looked through.
const MAX_BEFORE_WRITE: u32 = 8;

/// Finds the data of the first WRITE in a COMPOUND, given the compound's arguments as
/// far as they have arrived (RFC 8881 §16.2, §18.32).
///
/// `None` means that there is none, or that it comes after operations that do not
/// usually come before one: receive the rest as it comes.
/// [`Truncated`](hayase_xdr::Error::Truncated) means that more bytes are needed; any other error
/// will not go away. This is a hint about where to receive to: the operations
/// before the WRITE have still to run, and may fail.
pub fn write_data_span(compound: &[u8]) -> Result<Option<DataSpan>> {
    let mut reader = Reader::new(compound);
    let head = CompoundHead::decode(&mut reader)?;
    for _ in 0..head.count.min(MAX_BEFORE_WRITE + 1) {
        let Ok(op) = Op::try_from(reader.word()?) else { return Ok(None) };
        if op == Op::Write {
            let write = WriteArgsHead::decode(&mut reader)?;
            let offset = compound.len() - reader.rest().len();
            return Ok(Some(DataSpan { offset, len: write.data_len }));
        }
        if !usually_comes_before_write(op) {
            return Ok(None);
        }
        op.skip_args(&mut reader)?;
    }
    Ok(None)
}

const fn usually_comes_before_write(op: Op) -> bool {
    matches!(
        op,
        Op::Sequence
            | Op::PutFh
            | Op::PutRootFh
            | Op::SaveFh
            | Op::RestoreFh
            | Op::Lookup
            | Op::Access
            | Op::GetAttr
            | Op::GetFh
            | Op::Verify
            | Op::NVerify
            | Op::Renew
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs4::{
        Attr, Bitmap, CompoundWriter, GetAttrArgs, GetFhArgs, PutFhArgs, ReadArgs, RemoveArgs,
        SequenceArgs, StableHow, StateId, WriteArgs,
    };
    use hayase_xdr::{Error, Opaque};

    const SEQUENCE: SequenceArgs = SequenceArgs {
        sessionid: [7; 16],
        sequenceid: 1,
        slotid: 0,
        highest_slotid: 0,
        cachethis: false,
    };
    const GETATTR: GetAttrArgs = GetAttrArgs { attr_request: Bitmap::of(&[Attr::Change]) };
    const PUTFH: PutFhArgs<'static> = PutFhArgs { object: Opaque(b"handle of odd length!") };
    const REMOVE: RemoveArgs<'static> = RemoveArgs { target: Opaque(b"a") };
    const READ: ReadArgs = ReadArgs { stateid: StateId::ANONYMOUS, offset: 0, count: 1 };
    const WRITE: WriteArgs<'static> = WriteArgs {
        stateid: StateId::ANONYMOUS,
        offset: 1 << 33,
        stable: StableHow::Unstable,
        data: Opaque(b"0123456789"),
    };

    type Pushes = for<'w, 'b> fn(&'w mut CompoundWriter<'b>) -> &'w mut CompoundWriter<'b>;

    fn compound(push: Pushes) -> Vec<u8> {
        let mut wire = Vec::new();
        let mut writer = CompoundWriter::begin(&mut wire, b"tag", 1);
        push(&mut writer);
        writer.finish();
        wire
    }

    #[test]
    fn the_data_is_found_as_soon_as_the_heads_are_there() {
        let wire = compound(|to| to.push(&SEQUENCE).push(&PUTFH).push(&WRITE).push(&GETATTR));
        let data_at = wire.windows(10).position(|window| window == b"0123456789").unwrap();
        for len in 0..data_at {
            assert_eq!(write_data_span(&wire[..len]), Err(Error::Truncated));
        }
        for len in data_at..=wire.len() {
            let span = DataSpan { offset: data_at, len: 10 };
            assert_eq!(write_data_span(&wire[..len]), Ok(Some(span)));
        }
    }

    #[test]
    fn other_compounds_have_no_data_to_find() {
        let none = [
            compound(|to| to),
            compound(|to| to.push(&SEQUENCE).push(&READ).push(&WRITE)),
            compound(|to| to.push(&PUTFH).push(&REMOVE).push(&WRITE)),
            compound(|to| to.push(&SEQUENCE).push(&GETATTR)),
            compound(|to| (0..9).fold(to, |to, _| to.push(&GetFhArgs)).push(&WRITE)),
            [&[0; 8][..], &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]].concat(),
        ];
        for wire in none {
            assert_eq!(write_data_span(&wire), Ok(None), "{wire:?}");
        }
        let mut bad = compound(|to| to.push(&PUTFH).push(&WRITE));
        bad[23] = 200;
        let error = Error::TooLong { len: 200, max: 128 };
        assert_eq!(write_data_span(&bad), Err(error));
    }
}
