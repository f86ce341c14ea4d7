//! The exponent of growth: the slope of a line through the logarithms.

/// Fits the last three points, where constant cost matters least. Returns `None` for fewer than two points.
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let last = &points[points.len().saturating_sub(3)..];
    if last.len() < 2 {
        return None;
    }
    let logs: Vec<(f64, f64)> = last.iter().map(|(size, cost)| (size.ln(), cost.max(f64::MIN_POSITIVE).ln())).collect();
    let count = logs.len() as f64;
    let (sum_x, sum_y) = logs.iter().fold((0.0, 0.0), |(sum_x, sum_y), (x, y)| (sum_x + x, sum_y + y));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let above: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let below: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    Some(above / below)
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[test]
    fn fits_a_power_and_a_constant() {
        let square: Vec<(f64, f64)> = [1.0, 10.0, 100.0, 1000.0].map(|x| (x, 7.0 * x * x)).into();
        assert!((exponent(&square).unwrap() - 2.0).abs() < 1e-9);
        assert!(exponent(&[(10.0, 5.0), (100.0, 5.0)]).unwrap().abs() < 1e-9);
        assert_eq!(exponent(&[(10.0, 5.0)]), None);
    }
}
