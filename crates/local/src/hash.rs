//! A fast, seeded hash for keys that nobody outside can choose freely.

use std::hash::{BuildHasher, Hasher};

/// Mixes a word into a hash: the two halves of a 128-bit product, folded.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15;
    ((product >> 64) as u64 ^ product as u64).wrapping_add(0xff51_afd7_ed55_8ccd)
}

/// A hash that never changes, for numbers that outlive us (FNV-1a).
pub(crate) fn stable(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Builds hashers with one seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeded(pub u64);

/// The hasher.
#[derive(Debug)]
pub(crate) struct Mixer(u64);

impl BuildHasher for Seeded {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(self.0)
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = mix(self.0, u64::from_ne_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = mix(self.0, value);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn near_keys_spread() {
        let tops: HashSet<u64> =
            (0..4096u64).map(|n| Seeded(7).hash_one(n.to_le_bytes()) >> 52).collect();
        let lows: HashSet<u64> =
            (0..4096u64).map(|n| Seeded(7).hash_one(n.to_le_bytes()) & 4095).collect();
        assert!(tops.len() > 2300 && lows.len() > 2300, "{} {}", tops.len(), lows.len());
    }

    #[test]
    fn the_stable_hash_is_stable() {
        assert_eq!(stable(b"hayase"), 0x2e20_023a_31e9_32c4);
    }
}
