//! Where more stops to help.
//!
//! The knee is the point of a rising curve that lies farthest above the straight line from its
//! first point to its top: from there on, a step brings less than the steps brought on average
//! (Satopää and others, "Finding a Kneedle in a Haystack", 2011, for curves that are known
//! whole). The steps are those of the sweep, so that 1, 2, 4, 8 are equally far apart, as whoever chose
//! them meant them to be. A measurement below an earlier one counts as that one: noise makes no knee.

use serde::{Deserialize, Serialize};

/// How far above the line, in parts of the whole rise, a point has to lie to be called a knee.
const BEND: f64 = 0.1;
/// The least rise, in parts of the top, that is more than noise.
const RISE: f64 = 0.1;

/// What a curve does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
pub enum Knee {
    /// It bends at the measurement of this index.
    At {
        /// Counted from 0.
        index: usize,
    },
    /// It rises to its end: its knee, if it has one, lies beyond.
    Rising,
    /// It hardly rises at all: the first value does as well as any.
    Flat,
    /// Fewer than three measurements, of which nothing can be said.
    TooShort,
}

impl Knee {
    /// The measurement at which the curve bends.
    pub fn index(self) -> Option<usize> {
        match self {
            Knee::At { index } => Some(index),
            Knee::Rising | Knee::Flat | Knee::TooShort => None,
        }
    }
}

/// Where `rates`, in the order of the sweep, stop to rise.
pub fn knee(rates: &[f64]) -> Knee {
    if rates.len() < 3 {
        return Knee::TooShort;
    }
    let envelope: Vec<f64> = rates
        .iter()
        .scan(f64::MIN, |most, rate| {
            *most = most.max(*rate);
            Some(*most)
        })
        .collect();
    let (first, top) = (envelope[0], envelope[envelope.len() - 1]);
    let rise = top - first;
    if top <= 0.0 || rise < RISE * top {
        return Knee::Flat;
    }
    let last = crate::units::float(envelope.len() as u64 - 1);
    let above =
        |index: usize| (envelope[index] - first) / rise - crate::units::float(index as u64) / last;
    // The first of equals: less of the parameter for the same.
    let index = (1..envelope.len()).fold(0, |best, index| {
        if above(index) > above(best) + f64::EPSILON { index } else { best }
    });
    if above(index) < BEND { Knee::Rising } else { Knee::At { index } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_that_saturates_has_its_knee_where_it_does() {
        // Doubling depths against a device that has room for eight at once.
        assert_eq!(knee(&[1.0, 2.0, 4.0, 8.0, 8.2, 8.3, 8.2]), Knee::At { index: 3 });
        assert_eq!(knee(&[10.0, 100.0, 101.0]), Knee::At { index: 1 });
    }

    #[test]
    fn a_fall_after_the_top_does_not_move_the_knee() {
        assert_eq!(knee(&[1.0, 3.0, 6.0, 9.0, 7.0, 4.0, 2.0]), Knee::At { index: 3 });
    }

    #[test]
    fn a_dip_on_the_way_is_noise() {
        assert_eq!(knee(&[1.0, 4.0, 8.0, 3.0, 8.1, 8.2]), Knee::At { index: 2 });
    }

    #[test]
    fn straight_and_steepening_curves_have_none_yet() {
        assert_eq!(knee(&[1.0, 2.0, 3.0, 4.0, 5.0]), Knee::Rising);
        assert_eq!(knee(&[1.0, 2.0, 4.0, 8.0, 16.0]), Knee::Rising);
    }

    #[test]
    fn flat_falling_empty_and_short_curves_are_named() {
        assert_eq!(knee(&[100.0, 101.0, 99.0, 104.0]), Knee::Flat);
        assert_eq!(knee(&[9.0, 5.0, 2.0, 1.0]), Knee::Flat);
        assert_eq!(knee(&[0.0, 0.0, 0.0]), Knee::Flat);
        assert_eq!(knee(&[1.0, 2.0]), Knee::TooShort);
        assert_eq!(knee(&[]), Knee::TooShort);
    }
}
