//! Which block is next.

/// Xorshift: fast, and good enough to spread accesses.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same seed draws the same numbers.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Draws a number.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Draws a number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }
}

/// In which order blocks are taken.
#[derive(Clone, Debug)]
pub enum Order {
    /// One after the other, then from the beginning.
    Sequential,
    /// By lot; a block may be drawn again before all were.
    Random(Random),
}

/// The blocks of files of equal length. Sequential blocks take the files in turns.
#[derive(Clone, Debug)]
pub struct Blocks {
    files: u64,
    per_file: u64,
    order: Order,
    next: u64,
}

impl Blocks {
    /// The blocks of `files` files with `per_file` blocks each; neither is 0.
    pub fn new(files: usize, per_file: u64, order: Order) -> Self {
        assert!(files > 0 && per_file > 0, "there is nothing to work on");
        Blocks { files: files as u64, per_file, order, next: 0 }
    }

    /// The next file and the number of the block in it.
    pub fn take(&mut self) -> (usize, u64) {
        let number = match &mut self.order {
            Order::Sequential => {
                let number = self.next;
                self.next = (number + 1) % (self.files * self.per_file);
                number
            }
            Order::Random(random) => random.below(self.files * self.per_file),
        };
        ((number % self.files) as usize, number / self.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_blocks_take_files_in_turns_and_start_again() {
        let mut blocks = Blocks::new(2, 2, Order::Sequential);
        let taken: Vec<_> = (0..5).map(|_| blocks.take()).collect();
        assert_eq!(taken, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 0)]);
    }

    #[test]
    fn random_blocks_reach_everything_and_nothing_else() {
        let mut blocks = Blocks::new(3, 5, Order::Random(Random::new(7)));
        let mut seen = [[0; 5]; 3];
        for _ in 0..1_500 {
            let (file, block) = blocks.take();
            seen[file][block as usize] += 1;
        }
        assert!(seen.iter().flatten().all(|count| (50..150).contains(count)), "{seen:?}");
    }
}
