//! Counted arrays and linked lists, both bounded.

use crate::{Decode, Encode, Error, Reader, Result};

/// A counted array of at most `MAX` elements (RFC 4506 §4.13).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Array<T, const MAX: u32>(pub Vec<T>);

impl<'a, T: Decode<'a>, const MAX: u32> Decode<'a> for Array<T, MAX> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        let count = from.length(MAX)?;
        // No capacity from the wire: memory follows the elements that really arrive.
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(T::decode(from)?);
        }
        Ok(Array(elements))
    }
}

impl<T: Encode, const MAX: u32> Encode for Array<T, MAX> {
    fn encode(&self, to: &mut Vec<u8>) {
        (self.0.len() as u32).encode(to);
        for element in &self.0 {
            element.encode(to);
        }
    }
}

/// A linked list by optional-data (RFC 4506 §4.19), at most `MAX` elements, read without recursion.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LinkedList<T, const MAX: u32>(pub Vec<T>);

impl<'a, T: Decode<'a>, const MAX: u32> Decode<'a> for LinkedList<T, MAX> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        let mut elements = Vec::new();
        while bool::decode(from)? {
            if elements.len() >= MAX as usize {
                return Err(Error::TooLong { len: MAX.saturating_add(1), max: MAX });
            }
            elements.push(T::decode(from)?);
        }
        Ok(LinkedList(elements))
    }
}

impl<T: Encode, const MAX: u32> Encode for LinkedList<T, MAX> {
    fn encode(&self, to: &mut Vec<u8>) {
        for element in &self.0 {
            true.encode(to);
            element.encode(to);
        }
        false.encode(to);
    }
}
