//! The middle of a row of figures, and how far they lie apart.

/// The median; `None` of nothing.
pub fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[n / 2]),
        n => Some(f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])),
    }
}

/// The distance of the largest from the smallest, as a part of the median: 0.1 where rounds lie
/// within ten per cent. `None` of nothing, and where the median is not above 0.
pub fn spread(figures: &[f64]) -> Option<f64> {
    let middle = median(figures).filter(|middle| *middle > 0.0)?;
    let most = figures.iter().copied().fold(f64::MIN, f64::max);
    let least = figures.iter().copied().fold(f64::MAX, f64::min);
    Some((most - least) / middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        for (figures, expected) in
            [(&[3.0][..], 3.0), (&[9.0, 1.0, 2.0], 2.0), (&[4.0, 2.0], 3.0), (&[5.0, 5.0], 5.0)]
        {
            assert!((median(figures).unwrap() - expected).abs() < 1e-9, "{figures:?}");
        }
    }

    #[test]
    fn the_spread_is_a_part_of_the_median() {
        assert!((spread(&[90.0, 100.0, 120.0]).unwrap() - 0.3).abs() < 1e-9);
        assert!(spread(&[7.0]).unwrap().abs() < 1e-9);
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[0.0, 0.0]), None);
    }
}
