//! Numbers that look random and are the same in every run.

/// A generator after Marsaglia's xorshift64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; every seed gives other numbers.
    pub fn new(seed: u64) -> Self {
        // Spread by a constant, since small seeds make for many zeros at first.
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    /// Up to `most` bytes. Half of the runs hold small numbers only, as lengths and
    /// choices are.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let len = self.below(most + 1);
        let top = [256, 16][self.below(2)];
        (0..len).map(|_| self.below(top) as u8).collect()
    }

    /// The bytes with a few changes: some set, some removed, some put in.
    pub fn mutate(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(4) {
                0 => bytes.insert(at, self.below(256) as u8),
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 if at < bytes.len() => bytes[at] = self.below(256) as u8,
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
        bytes
    }
}
