//! Hashing: quick for numbers we make ourselves, keyed for what comes from outside.

use std::hash::{BuildHasher, Hasher};

use siphasher::sip::SipHasher13;

/// Hashes our own numbers and ids, which nobody can choose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers;

/// State of [`Numbers`].
#[derive(Debug, Default)]
pub(crate) struct NumberHasher(u64);

impl BuildHasher for Numbers {
    type Hasher = NumberHasher;

    fn build_hasher(&self) -> NumberHasher {
        NumberHasher(0)
    }
}

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The table takes its bits from both ends; the multiplication fills the upper one.
        let product = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}

/// Hashes with a key, so that nobody outside can make all keys fall into one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keyed(u64, u64);

impl Keyed {
    /// A hash with a key from the latter half of the seed; the first makes session ids.
    pub(crate) fn new(seed: &[u8; 32]) -> Self {
        let word = |at: usize| seed[at..at + 8].iter().fold(0, |n, b| n << 8 | u64::from(*b));
        Keyed(word(16), word(24))
    }
}

impl BuildHasher for Keyed {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_numbers_fall_apart() {
        let hashes: Vec<u64> = (0..1000u64).map(|n| Numbers.hash_one(n)).collect();
        let distinct = |shift: u32| {
            let mut parts: Vec<u64> = hashes.iter().map(|hash| hash >> shift & 0x7f).collect();
            parts.sort_unstable();
            parts.dedup();
            parts.len()
        };
        assert!(distinct(57) > 100 && distinct(0) > 100);
    }

    #[test]
    fn the_key_matters() {
        let hash = |seed: u8| Keyed::new(&[seed; 32]).hash_one(5u8);
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
    }
}
