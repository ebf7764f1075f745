// SPDX-License-Identifier: Apache-2.0
//! The canonical embedding in doubles, for norms only.

use std::f64::consts::PI;

/// max |m(ζ)|² over the primitive 2n-th roots of unity ζ; the length n is a power of two.
pub fn max_square(coefficients: &[f64]) -> f64 {
    let n = coefficients.len();
    // m(ζ^(2k+1)) = Σ (m_j ζ^j) ω^(jk): a cyclic transform of the twisted coefficients.
    let mut re: Vec<f64> = coefficients
        .iter()
        .enumerate()
        .map(|(j, c)| c * (PI * j as f64 / n as f64).cos())
        .collect();
    let mut im: Vec<f64> = coefficients
        .iter()
        .enumerate()
        .map(|(j, c)| c * (PI * j as f64 / n as f64).sin())
        .collect();
    // Decimation in frequency; the order of the outputs does not matter for a maximum.
    let mut half = n / 2;
    while half > 0 {
        let angles: Vec<(f64, f64)> = (0..half)
            .map(|j| (PI * j as f64 / half as f64).sin_cos())
            .collect();
        for start in (0..n).step_by(2 * half) {
            for (j, (sin, cos)) in angles.iter().enumerate() {
                let (a, b) = (start + j, start + j + half);
                let (dr, di) = (re[a] - re[b], im[a] - im[b]);
                (re[a], im[a]) = (re[a] + re[b], im[a] + im[b]);
                (re[b], im[b]) = (dr * cos - di * sin, dr * sin + di * cos);
            }
        }
        half /= 2;
    }
    re.iter()
        .zip(&im)
        .map(|(r, i)| r * r + i * i)
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_direct_evaluation() {
        let m: Vec<f64> = (0..16).map(|i| f64::from((i * i * 7) % 13) - 6.0).collect();
        let direct = (0..16)
            .map(|k| {
                let angle = PI * f64::from(2 * k + 1) / 16.0;
                let re: f64 = m
                    .iter()
                    .enumerate()
                    .map(|(j, c)| c * (angle * j as f64).cos())
                    .sum();
                let im: f64 = m
                    .iter()
                    .enumerate()
                    .map(|(j, c)| c * (angle * j as f64).sin())
                    .sum();
                re * re + im * im
            })
            .fold(0.0, f64::max);
        assert!((max_square(&m) - direct).abs() < 1e-9 * direct);
    }
}
