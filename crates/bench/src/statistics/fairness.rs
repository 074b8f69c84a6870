//! Whether clients got the same.

use serde::{Deserialize, Serialize};

/// How evenly something was shared out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Jain's index: the square of the sum over n times the sum of the squares. 1 where all got the same;
    /// 1/n where one got all; k/n where k of them shared equally and the others got nothing.
    pub jain: f64,
    /// What the slowest got.
    pub slowest: f64,
    /// What the fastest got.
    pub fastest: f64,
}

impl Fairness {
    /// Slowest by fastest, from 0 to 1.
    pub fn ratio(&self) -> f64 {
        self.slowest / self.fastest
    }
}

/// How evenly `shares` are shared out. `None` where there are none, or all are 0: nothing was
/// shared, be it fairly or not.
pub fn fairness(shares: &[f64]) -> Option<Fairness> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if sum <= 0.0 || squares <= 0.0 {
        return None;
    }
    let slowest = shares.iter().copied().fold(f64::MAX, f64::min);
    let fastest = shares.iter().copied().fold(f64::MIN, f64::max);
    let count = crate::units::float(shares.len() as u64);
    Some(Fairness { jain: sum * sum / (count * squares), slowest, fastest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jain(shares: &[f64]) -> f64 {
        fairness(shares).unwrap().jain
    }

    #[test]
    fn equal_shares_are_fair_and_one_for_all_is_not() {
        assert!((jain(&[5.0, 5.0, 5.0]) - 1.0).abs() < 1e-12);
        assert!((jain(&[8.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-12);
        assert!((jain(&[3.0, 3.0, 0.0, 0.0]) - 0.5).abs() < 1e-12);
        assert!((jain(&[1.0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn three_of_six_clients_on_one_target_of_four_are_seen() {
        // One target each for three of them, a third of one for the others.
        let third = 1.0 / 3.0;
        let found = fairness(&[1.0, 1.0, 1.0, third, third, third]).unwrap();
        assert!((found.jain - 0.8).abs() < 1e-9, "{found:?}");
        assert!((found.ratio() - third).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_neither_fair_nor_unfair() {
        assert_eq!(fairness(&[]), None);
        assert_eq!(fairness(&[0.0, 0.0]), None);
    }
}
