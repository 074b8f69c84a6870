//! Literal bytes: what the RFCs draw, word by word.
#![allow(missing_docs)]

mod mount_portmap;
mod nfs3;
mod nfs4;
mod nfs41;
mod nfs42;

use hayase_xdr::{Decode, Encode, from_bytes, to_vec};

/// A piece of wire data as a reader of the RFC would write it down.
pub(crate) enum Piece {
    Word(u32),
    Hyper(u64),
    Bytes(&'static [u8]),
}

pub(crate) fn wire(pieces: &[Piece]) -> Vec<u8> {
    let bytes = pieces.iter().map(|piece| match piece {
        Piece::Word(word) => word.to_be_bytes().to_vec(),
        Piece::Hyper(hyper) => hyper.to_be_bytes().to_vec(),
        Piece::Bytes(bytes) => bytes.to_vec(),
    });
    bytes.collect::<Vec<_>>().concat()
}

#[track_caller]
pub(crate) fn golden<'a, T>(value: T, bytes: &'a [u8])
where
    T: Encode + Decode<'a> + PartialEq + std::fmt::Debug,
{
    assert_eq!(to_vec(&value), bytes);
    assert_eq!(from_bytes(bytes), Ok(value));
}
