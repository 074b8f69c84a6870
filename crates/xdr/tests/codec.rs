//! Golden bytes, round trips, truncation and hostile lengths.
#![allow(missing_docs)]

use hayase_xdr::{Array, Decode, Encode, Error, LinkedList, Opaque, Xdr, from_bytes, to_vec};

#[derive(Clone, Copy, Debug, PartialEq, Xdr)]
#[repr(u32)]
enum Kind {
    Reg = 1,
    Dir = 2,
}

#[derive(Debug, PartialEq, Xdr)]
enum SetTime {
    #[xdr(0)]
    DontChange,
    #[xdr(2)]
    Client { secs: u32, nanos: u32 },
}

#[derive(Debug, PartialEq, Xdr)]
struct Everything<'a> {
    kind: Kind,
    when: SetTime,
    name: Opaque<'a, 8>,
    verifier: [u8; 5],
    next: Option<u64>,
    gids: Array<u32, 3>,
    chain: LinkedList<i32, 3>,
    flag: bool,
}

fn sample() -> Everything<'static> {
    Everything {
        kind: Kind::Dir,
        when: SetTime::Client { secs: 7, nanos: 9 },
        name: Opaque(b"abcde"),
        verifier: *b"VERIF",
        next: Some(1 << 40),
        gids: Array(vec![1, 2]),
        chain: LinkedList(vec![-1]),
        flag: true,
    }
}

#[test]
fn bytes_are_as_the_rfc_draws_them() {
    let expected: &[&[u8]] = &[
        &[0, 0, 0, 2],                         // kind
        &[0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 9], // when
        &[0, 0, 0, 5, b'a', b'b', b'c', b'd', b'e', 0, 0, 0],
        &[b'V', b'E', b'R', b'I', b'F', 0, 0, 0],
        &[0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0], // next
        &[0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2], // gids
        &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0],
        &[0, 0, 0, 1],
    ];
    assert_eq!(to_vec(&sample()), expected.concat());
}

#[test]
fn a_round_trip_changes_nothing() {
    assert_eq!(from_bytes(&to_vec(&sample())), Ok(sample()));
}

#[test]
fn every_truncation_is_found() {
    let wire = to_vec(&sample());
    for len in 0..wire.len() {
        assert_eq!(from_bytes::<Everything>(&wire[..len]), Err(Error::Truncated), "at {len}");
    }
}

#[test]
fn trailing_bytes_are_found() {
    let mut wire = to_vec(&sample());
    wire.push(0);
    assert_eq!(from_bytes::<Everything>(&wire), Err(Error::Trailing(1)));
}

#[test]
fn hostile_lengths_are_refused_before_any_memory_follows() {
    fn decode<'a, T: Decode<'a>>(wire: &'a [u8]) -> Option<Error> {
        from_bytes::<T>(wire).err()
    }
    let huge = [0xff, 0xff, 0xff, 0xf0];
    assert_eq!(decode::<Opaque<'_, 64>>(&huge), Some(Error::TooLong { len: 0xffff_fff0, max: 64 }));
    assert_eq!(decode::<Opaque<'_>>(&huge), Some(Error::Truncated));
    assert_eq!(decode::<Array<u32, { u32::MAX }>>(&huge), Some(Error::Truncated));
    assert_eq!(decode::<Array<u32, 16>>(&[0, 0, 0, 17]), Some(Error::TooLong { len: 17, max: 16 }));
    let endless = LinkedList::<u32, 4>(vec![0; 4]);
    assert_eq!(
        decode::<LinkedList<u32, 3>>(&to_vec(&endless)),
        Some(Error::TooLong { len: 4, max: 3 })
    );
}

#[test]
fn unknown_numbers_are_refused() {
    assert_eq!(from_bytes::<Kind>(&[0, 0, 0, 3]), Err(Error::UnknownValue(3)));
    assert_eq!(from_bytes::<SetTime>(&[0, 0, 0, 1]), Err(Error::UnknownValue(1)));
    assert_eq!(from_bytes::<bool>(&[0, 0, 0, 2]), Err(Error::UnknownValue(2)));
}

#[test]
fn opaque_without_its_padding_is_truncated() {
    assert_eq!(from_bytes::<Opaque<'_>>(&[0, 0, 0, 1, b'x']), Err(Error::Truncated));
    let mut wire = Vec::new();
    Opaque::<8>(b"x").encode(&mut wire);
    assert_eq!(wire, [0, 0, 0, 1, b'x', 0, 0, 0]);
}
