//! Bitmaps of attributes, operations and notifications (RFC 8881 §3.2, `bitmap4`).

use std::fmt;
use std::ops::{BitAnd, BitOr, Sub};

use hayase_xdr::{Decode, Encode, Reader, Result};

use super::Attr;

/// Words kept of a bitmap.
const WORDS: usize = 4;
/// The longest bitmap that is read at all.
const MAX_WIRE_WORDS: u32 = 1024;

/// A set of small numbers (RFC 8881 §3.2, `bitmap4`).
///
/// Numbers up to 127 are kept, which is more than any bitmap of the protocol has
/// defined. Of higher ones in a received bitmap only remains
/// [that there were some](Bitmap::has_beyond): enough to answer that they are not
/// supported, or to ignore them. Encoding writes no zero word at the end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bitmap {
    words: [u32; WORDS],
    beyond: bool,
}

impl Bitmap {
    /// No number.
    pub const EMPTY: Bitmap = Bitmap { words: [0; WORDS], beyond: false };
    /// The numbers that can be held are smaller than this.
    pub const CAPACITY: u32 = 32 * WORDS as u32;

    /// The set of these attributes.
    pub const fn of(attrs: &[Attr]) -> Bitmap {
        let mut set = Bitmap::EMPTY;
        let mut i = 0;
        while i < attrs.len() {
            set.words[attrs[i] as usize / 32] |= 1 << (attrs[i] as u32 % 32);
            i += 1;
        }
        set
    }

    /// The set with these words, lowest first, as the RFCs write them.
    pub const fn from_words(words: [u32; WORDS]) -> Bitmap {
        Bitmap { words, beyond: false }
    }

    /// The words, lowest first.
    pub const fn words(&self) -> [u32; WORDS] {
        self.words
    }

    /// Adds a number below [`CAPACITY`](Bitmap::CAPACITY).
    pub fn insert(&mut self, number: impl Into<u32>) {
        let number = number.into();
        assert!(number < Bitmap::CAPACITY, "no bitmap of the protocol has a bit {number}");
        self.words[number as usize / 32] |= 1 << (number % 32);
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: impl Into<u32>) {
        let number = number.into();
        if let Some(word) = self.words.get_mut(number as usize / 32) {
            *word &= !(1 << (number % 32));
        }
    }

    /// Whether the number is in it.
    pub fn contains(&self, number: impl Into<u32>) -> bool {
        let number = number.into();
        self.words.get(number as usize / 32).is_some_and(|word| word & 1 << (number % 32) != 0)
    }

    /// Whether a received bitmap had numbers too high to be kept. All of them are unknown.
    pub const fn has_beyond(&self) -> bool {
        self.beyond
    }

    /// Whether there is no number, kept or not.
    pub fn is_empty(&self) -> bool {
        *self == Bitmap::EMPTY
    }

    /// How many numbers are kept.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether all numbers, kept or not, are in `other`.
    pub fn is_subset(&self, other: &Bitmap) -> bool {
        (*self - *other).is_empty()
    }

    /// The numbers kept, ascending.
    pub fn iter(&self) -> BitmapIter {
        BitmapIter { words: self.words, at: 0 }
    }

    /// The attributes, ascending, without unknown ones.
    pub fn attrs(&self) -> impl Iterator<Item = Attr> + use<> {
        self.iter().filter_map(|number| Attr::try_from(number).ok())
    }

    /// Bytes on the wire.
    pub fn encoded_len(&self) -> usize {
        4 + 4 * self.significant()
    }

    /// Words up to the last that is not zero.
    pub(super) fn significant(&self) -> usize {
        self.words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1)
    }
}

/// What is in either.
impl BitOr for Bitmap {
    type Output = Bitmap;

    fn bitor(self, other: Bitmap) -> Bitmap {
        let words = std::array::from_fn(|i| self.words[i] | other.words[i]);
        Bitmap { words, beyond: self.beyond | other.beyond }
    }
}

/// What is in both; never numbers that were not kept.
impl BitAnd for Bitmap {
    type Output = Bitmap;

    fn bitand(self, other: Bitmap) -> Bitmap {
        Bitmap::from_words(std::array::from_fn(|i| self.words[i] & other.words[i]))
    }
}

/// What is in the first and not in the second; numbers that were not kept remain.
impl Sub for Bitmap {
    type Output = Bitmap;

    fn sub(self, other: Bitmap) -> Bitmap {
        let words = std::array::from_fn(|i| self.words[i] & !other.words[i]);
        Bitmap { words, beyond: self.beyond }
    }
}

impl<T: Into<u32>> FromIterator<T> for Bitmap {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        let mut set = Bitmap::EMPTY;
        for number in numbers {
            set.insert(number);
        }
        set
    }
}

impl IntoIterator for &Bitmap {
    type Item = u32;
    type IntoIter = BitmapIter;

    fn into_iter(self) -> BitmapIter {
        self.iter()
    }
}

/// The numbers of a [`Bitmap`], ascending.
#[derive(Clone, Debug)]
pub struct BitmapIter {
    words: [u32; WORDS],
    at: usize,
}

impl Iterator for BitmapIter {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while let Some(word) = self.words.get_mut(self.at) {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some(32 * self.at as u32 + bit);
            }
            self.at += 1;
        }
        None
    }
}

impl Decode<'_> for Bitmap {
    fn decode(from: &mut Reader<'_>) -> Result<Self> {
        let mut set = Bitmap::EMPTY;
        for i in 0..from.length(MAX_WIRE_WORDS)? {
            let word = from.word()?;
            match set.words.get_mut(i) {
                Some(kept) => *kept = word,
                None => set.beyond |= word != 0,
            }
        }
        Ok(set)
    }
}

impl Encode for Bitmap {
    fn encode(&self, to: &mut Vec<u8>) {
        let words = &self.words[..self.significant()];
        (words.len() as u32).encode(to);
        for word in words {
            word.encode(to);
        }
    }
}

impl fmt::Debug for Bitmap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_set();
        set.entries(self.iter());
        if self.beyond { set.finish_non_exhaustive() } else { set.finish() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_xdr::{Error, from_bytes, to_vec};

    fn wire(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn zero_words_at_the_end_are_read_and_not_written() {
        for extra in 0..5 {
            let mut words = vec![2 + extra, 0, 1 << 4];
            words.extend((0..extra).map(|_| 0));
            let set: Bitmap = from_bytes(&wire(&words)).unwrap();
            assert_eq!(set, Bitmap::from_words([0, 1 << 4, 0, 0]));
            assert_eq!(to_vec(&set), wire(&[2, 0, 1 << 4]));
            assert_eq!(set.encoded_len(), 12);
        }
        assert_eq!(to_vec(&Bitmap::EMPTY), wire(&[0]));
    }

    #[test]
    fn high_numbers_are_told_but_not_kept() {
        let set: Bitmap = from_bytes(&wire(&[6, 2, 0, 0, 1 << 31, 0, 1])).unwrap();
        assert!(set.has_beyond());
        assert!(set.iter().eq([1, 127]));
        assert!(!set.contains(160_u32) && !set.contains(u32::MAX));
        let supported: Bitmap = [1_u32, 127].into_iter().collect();
        assert!(!set.is_subset(&supported), "160 is not supported");
        assert!((set & supported).is_subset(&supported), "ignoring is easy too");
        assert_eq!(format!("{set:?} {supported:?}"), "{1, 127, ..} {1, 127}");
    }

    #[test]
    fn absurd_lengths_are_refused_before_anything_is_read() {
        let error = Error::TooLong { len: 1025, max: 1024 };
        assert_eq!(from_bytes::<Bitmap>(&wire(&[1025])), Err(error));
        assert_eq!(from_bytes::<Bitmap>(&wire(&[1024, 0, 0])), Err(Error::Truncated));
    }

    #[test]
    fn sets_behave_like_sets() {
        let mut a = Bitmap::of(&[Attr::Size, Attr::Mode, Attr::SecLabel]);
        let b = Bitmap::of(&[Attr::Mode, Attr::Type]);
        assert!(a.attrs().eq([Attr::Size, Attr::Mode, Attr::SecLabel]));
        assert_eq!((a.len(), (a | b).len(), (a & b).len(), (a - b).len()), (3, 4, 1, 2));
        a.remove(Attr::Mode);
        a.remove(1000_u32);
        assert!(!a.contains(Attr::Mode) && a.contains(Attr::SecLabel));
        assert!((a & b).is_empty());
        assert!(a.into_iter().eq([4, 80]));
    }
}
