// SPDX-License-Identifier: Apache-2.0
//! The canonical embedding in doubles, for norms only.

use std::f64::consts::PI;

/// max |m(ζ)|² over the primitive 2n-th roots of unity ζ; the length n is a power of two, 2 or more.
pub fn max_square(coefficients: &[f64]) -> f64 {
    let n = coefficients.len();
    // At the roots with ζ^(n/2) = i, m(ζ) = Σ (m_j + i m_(j+n/2)) ζ^j over the first half; the others are their
    // conjugates. These roots are ζ·ω^k, ω of order n/2: a cyclic transform of the twisted half.
    let (low, high) = coefficients.split_at(n / 2);
    let twisted = |(j, (re, im)): (usize, (&f64, &f64))| {
        let (sin, cos) = (PI * j as f64 / n as f64).sin_cos();
        (re * cos - im * sin, re * sin + im * cos)
    };
    let halves = low.iter().zip(high).enumerate();
    let (mut re, mut im): (Vec<f64>, Vec<f64>) = halves.map(twisted).unzip();
    // Decimation in frequency; the order of the outputs does not matter for a maximum.
    let mut half = n / 4;
    while half > 0 {
        let angles: Vec<(f64, f64)> = (0..half)
            .map(|j| (PI * j as f64 / half as f64).sin_cos())
            .collect();
        for start in (0..n / 2).step_by(2 * half) {
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
