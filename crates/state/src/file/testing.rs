//! What tests share.

/// A small generator of numbers that look random: the same seed gives the same run.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Seeds for `count` runs: fixed ones, or the one in `HAYASE_SEED`.
    pub(crate) fn seeds(count: u64) -> Vec<u64> {
        match std::env::var("HAYASE_SEED").ok().and_then(|seed| seed.parse().ok()) {
            Some(seed) => vec![seed],
            None => (1..=count).collect(),
        }
    }

    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below the bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound
    }

    /// Puts them in some other order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}
