//! Which block or name is next.

/// In which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// One after the other.
    Sequential,
    /// By lot, each once in a pass.
    Shuffled,
    /// By lot, whatever was drawn before.
    Drawn,
}

/// One of several that share the same work: the `number`th of `of`, who takes every `of`th step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) number: u64,
    pub(crate) of: u64,
}

#[cfg(test)]
impl Share {
    /// Who has it all.
    pub(crate) const WHOLE: Share = Share { number: 0, of: 1 };
}

/// Walks over a share of `total` places, again and again if it is to. The places of different shares
/// are never the same.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    len: u64,
    share: Share,
    order: Order,
    seed: u64,
    step: u64,
    pass: u64,
    repeat: bool,
}

impl Course {
    /// `seed` makes the same lots when it is the same.
    pub(crate) fn new(total: u64, share: Share, order: Order, seed: u64, repeat: bool) -> Self {
        let len = total.saturating_sub(share.number).div_ceil(share.of);
        Course { len, share, order, seed, step: 0, pass: 0, repeat }
    }

    /// The same again from the beginning, one place after the other, once.
    pub(crate) fn once_more(&self) -> Self {
        Course { order: Order::Sequential, step: 0, pass: 0, repeat: false, ..self.clone() }
    }

    /// In which pass the last place was.
    pub(crate) fn pass(&self) -> u64 {
        self.pass
    }

    /// Whether the next place begins another pass.
    pub(crate) fn at_turn(&self) -> bool {
        self.step >= self.len
    }

    /// How many places are in a pass.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Which of the places of this share it is.
    pub(crate) fn index_of(&self, place: u64) -> usize {
        (place / self.share.of) as usize
    }

    /// The next place; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<u64> {
        if self.at_turn() {
            // Of fewer places than shares some have none.
            if !self.repeat || self.len == 0 {
                return None;
            }
            self.step = 0;
            self.pass += 1;
        }
        let step = self.step;
        self.step += 1;
        let seed = mix(self.seed ^ mix(self.pass ^ mix(self.share.number)));
        let own = match self.order {
            Order::Sequential => step,
            Order::Shuffled => shuffled(step, self.len, seed),
            Order::Drawn => below(mix(seed ^ step), self.len),
        };
        Some(own * self.share.of + self.share.number)
    }
}

/// Where `place` of `total` goes when all are shuffled: a Feistel network over the next even power of
/// two, walked until it comes out below `total`.
fn shuffled(place: u64, total: u64, seed: u64) -> u64 {
    let half = (u64::BITS - total.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1 << half) - 1;
    let mut at = place;
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..4 {
            (left, right) = (right, left ^ (mix(right ^ seed.rotate_left(round * 16)) & mask));
        }
        at = left << half | right;
        if at < total {
            return at;
        }
    }
}

/// Scatters bits (the finalizer of splitmix64).
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A scattered value as one below `bound`.
pub(crate) fn below(scattered: u64, bound: u64) -> u64 {
    ((u128::from(scattered) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(course: &mut Course) -> Vec<u64> {
        std::iter::from_fn(|| course.next()).collect()
    }

    #[test]
    fn shares_are_all_the_places_each_once() {
        for order in [Order::Sequential, Order::Shuffled] {
            for total in [1, 2, 3, 7, 64, 1000] {
                let mut seen: Vec<u64> = (0..3)
                    .flat_map(|number| {
                        let share = Share { number, of: 3 };
                        let mut course = Course::new(total, share, order, 1, false);
                        let len = course.len();
                        let places = all(&mut course);
                        assert_eq!(places.len() as u64, len);
                        places
                    })
                    .collect();
                seen.sort_unstable();
                assert_eq!(seen, (0..total).collect::<Vec<_>>(), "{order:?} {total}");
            }
        }
    }

    #[test]
    fn a_sequence_starts_again_only_if_it_may() {
        let course = Course::new(3, Share::WHOLE, Order::Sequential, 0, false);
        assert_eq!(all(&mut course.clone()), [0, 1, 2]);
        let mut again = Course { repeat: true, ..course.clone() };
        assert_eq!(all(&mut again.once_more()), [0, 1, 2]);
        let places: Vec<_> = (0..5).map(|_| (again.next(), again.pass())).collect();
        let expected = [(Some(0), 0), (Some(1), 0), (Some(2), 0), (Some(0), 1), (Some(1), 1)];
        assert_eq!(places, expected);
        let share = Share { number: 3, of: 4 };
        assert_eq!(Course::new(3, share, Order::Sequential, 0, true).next(), None);
    }

    #[test]
    fn lots_differ_by_pass_and_seed_and_reach_everything() {
        let of = |seed| all(&mut Course::new(500, Share::WHOLE, Order::Shuffled, seed, false));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_ne!(of(1), (0..500).collect::<Vec<_>>());
        let mut course = Course::new(10, Share::WHOLE, Order::Drawn, 3, true);
        let mut seen = [0; 10];
        for _ in 0..1000 {
            seen[course.next().unwrap() as usize] += 1;
        }
        assert!(seen.iter().all(|count| (50..200).contains(count)), "{seen:?}");
    }
}
