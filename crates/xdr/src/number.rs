//! Numbers, booleans, optional values and fixed-length data.

use crate::{Decode, Encode, Error, Reader, Result, padding};

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Decode<'_> for $type {
            fn decode(from: &mut Reader<'_>) -> Result<Self> {
                const LEN: usize = size_of::<$type>();
                let mut bytes = [0; LEN];
                bytes.copy_from_slice(from.take(LEN)?);
                Ok(<$type>::from_be_bytes(bytes))
            }
        }
        impl Encode for $type {
            fn encode(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_be_bytes());
            }
        }
    )*};
}

number!(u32, i32, u64, i64);

impl Decode<'_> for bool {
    fn decode(from: &mut Reader<'_>) -> Result<Self> {
        match from.word()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Error::UnknownValue(other)),
        }
    }
}

impl Encode for bool {
    fn encode(&self, to: &mut Vec<u8>) {
        u32::from(*self).encode(to);
    }
}

impl Decode<'_> for () {
    fn decode(_: &mut Reader<'_>) -> Result<Self> {
        Ok(())
    }
}

impl Encode for () {
    fn encode(&self, _: &mut Vec<u8>) {}
}

/// Optional-data (RFC 4506 §4.19): a boolean, then the value if true.
impl<'a, T: Decode<'a>> Decode<'a> for Option<T> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        Ok(if bool::decode(from)? { Some(T::decode(from)?) } else { None })
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, to: &mut Vec<u8>) {
        self.is_some().encode(to);
        if let Some(value) = self {
            value.encode(to);
        }
    }
}

/// Fixed-length opaque data (RFC 4506 §4.9).
impl<const N: usize> Decode<'_> for [u8; N] {
    fn decode(from: &mut Reader<'_>) -> Result<Self> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(from.take_padded(N)?);
        Ok(bytes)
    }
}

impl<const N: usize> Encode for [u8; N] {
    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
        to.extend_from_slice(&[0; 3][..padding(N)]);
    }
}
