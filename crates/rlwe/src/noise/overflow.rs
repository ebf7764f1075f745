// SPDX-License-Identifier: Apache-2.0
//! How far a ciphertext wraps around its modulus, and how often further than a bootstrapping reckons with.
//!
//! With c0 and c1 centred modulo q, c0 + c1·s = m + q·I over the integers. c0 is the centred residue of m − c1·s, so I
//! rounds (c1·s − m)/q to the nearest integer. A coefficient of c1·s/q is a sum T of terms s_j·u_j with u_j uniform in
//! ±1/2 (c1 is pseudo-random after a key switch): for a secret of weight h a sum of h uniform terms, whose law is that
//! of Irwin and Hall. Hence |I| > k only if |T| ≥ k + 1/2 − |m/q|.
//!
//! Published bounds (ePrint 2020/1203, 2022/024) take h + 1 terms and compare with k + 1, which is the mean of this
//! tail over an interval of length 1 and 6 bits too small for h = 32, k = 15.

use crate::Error;
use crate::sampling::SecretDistribution;
use num_bigint::{BigInt, BigUint};
use std::f64::consts::LN_2;

/// Most terms whose tail is computed exactly; beyond them Chernoff's bound is used.
const EXACT_TERMS: u32 = 512;
/// Fractional bits of the places where tails are taken.
const FRACTION: u32 = 20;

/// log2 of a bound on the probability that some coefficient of I, of n, exceeds `most` in absolute value, for messages
/// with |m/q| at most `ratio` (noise included); −∞ where it is impossible, at most 0.
///
/// # Errors
/// [`Error::Parameter`] for secrets that are neither ternary, binary nor of fixed weight, and unless 0 ≤ `ratio` <
/// 1/2.
pub fn log2_overflow(
    n: usize,
    secret: SecretDistribution,
    most: u32,
    ratio: f64,
) -> Result<f64, Error> {
    if !(0.0..0.5).contains(&ratio) {
        return Err(Error::Parameter {
            what: "the ratio of the message to the modulus",
            got: ratio.to_string(),
            allowed: "0 or more, below 1/2".into(),
        });
    }
    let least = f64::from(most) + 0.5 - ratio;
    let tail = match secret {
        SecretDistribution::FixedWeight { weight } if weight <= EXACT_TERMS => {
            log2_irwin_hall_tail(weight, least)
        }
        SecretDistribution::FixedWeight { weight } => log2_chernoff(weight as usize, 1.0, least),
        SecretDistribution::Ternary => log2_chernoff(n, 2.0 / 3.0, least),
        SecretDistribution::Binary => log2_chernoff(n, 0.5, least),
        SecretDistribution::Binomial { .. } | SecretDistribution::Gaussian { .. } => {
            return Err(Error::Parameter {
                what: "the secret's distribution, for a bound on overflows,",
                got: format!("{secret:?}"),
                allowed: "ternary, binary, fixed weight".into(),
            });
        }
    };
    // Two signs, n coefficients.
    Ok((tail + 1.0 + (n as f64).log2()).min(0.0))
}

/// The least `most` for which [`log2_overflow`] is at most `log2_failure`.
///
/// # Errors
/// As [`log2_overflow`].
pub fn least_overflow(
    n: usize,
    secret: SecretDistribution,
    ratio: f64,
    log2_failure: f64,
) -> Result<u32, Error> {
    let (mut low, mut high) = (0, n as u32);
    while low < high {
        let middle = (low + high) / 2;
        if log2_overflow(n, secret, middle, ratio)? <= log2_failure {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

/// log2 of the probability that a sum of `terms` independent uniform numbers in ±1/2 is at least `x`:
/// `1/d! · Σ_i (−1)^i C(d, i) (d/2 − x − i)^d` over the positive bases, d the number of terms. Exact in integers, `x`
/// rounded down to a multiple of 2^-20.
pub fn log2_irwin_hall_tail(terms: u32, x: f64) -> f64 {
    let one = f64::from(FRACTION).exp2();
    let mut base = i64::from(terms) * (1 << (FRACTION - 1)) - (x * one).floor() as i64;
    let (mut sum, mut choose) = (BigInt::ZERO, BigInt::from(1));
    let mut i = 0;
    while base > 0 && i <= terms {
        let term = &choose * BigInt::from(base).pow(terms);
        sum += if i % 2 == 0 { term } else { -term };
        choose = choose * (terms - i) / (i + 1);
        base -= 1 << FRACTION;
        i += 1;
    }
    let factorial: BigUint = (1..=terms).product();
    log2(sum.magnitude()) - log2(&factorial) - f64::from(FRACTION * terms)
}

/// log2 of an integer, to the precision of doubles; −∞ of 0.
fn log2(x: &BigUint) -> f64 {
    let shift = x.bits().saturating_sub(64);
    let top = u64::try_from(x >> shift).expect("64 bits");
    (top as f64).log2() + shift as f64
}

/// log2 of Chernoff's bound on the probability that a sum of `terms` independent numbers, each 0 with probability 1 −
/// p and else uniform in ±1/2, is at least `x`: the least of `−λx + terms·ln(1 − p + p·sinh(λ/2)/(λ/2))`, which is
/// convex in λ. Every λ gives a bound, so that the search need not be exact.
fn log2_chernoff(terms: usize, p: f64, x: f64) -> f64 {
    let exponent = |lambda: f64| {
        let half = lambda / 2.0;
        terms as f64 * (p * (half.sinh() / half - 1.0)).ln_1p() - lambda * x
    };
    // Beyond λ = 1000 nothing is gained for any x that matters.
    let (mut low, mut high) = (1e-9, 1e3);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if exponent(a) < exponent(b) {
            high = b;
        } else {
            low = a;
        }
    }
    exponent(low).min(0.0) / LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    const fn weight(weight: u32) -> SecretDistribution {
        SecretDistribution::FixedWeight { weight }
    }

    #[test]
    fn the_published_figures_are_reproduced() {
        // 2n·tail(h + 1, K) as published for h = 32, K = 16 at n = 2^16 and 2^15, and for h = 192, K = 28.
        let published = |h: u32, k: f64, log_n: f64| 1.0 + log_n + log2_irwin_hall_tail(h + 1, k);
        assert!((published(32, 16.0, 16.0) + 138.7).abs() < 0.05);
        assert!((published(32, 16.0, 15.0) + 139.7).abs() < 0.05);
        assert!((published(192, 28.0, 16.0) + 23.0).abs() < 0.5);
    }

    #[test]
    fn small_sums_have_their_known_tails() {
        assert_eq!(log2_irwin_hall_tail(1, 0.25), -2.0);
        // Of two terms the density is a triangle.
        assert!((log2_irwin_hall_tail(2, 0.5) - 0.125f64.log2()).abs() < 1e-12);
        assert!((log2_irwin_hall_tail(48, 0.0) + 1.0).abs() < 1e-9);
        assert_eq!(log2_irwin_hall_tail(32, 16.0), f64::NEG_INFINITY);
    }

    #[test]
    fn the_bound_holds_for_drawn_sums_and_is_no_looser_than_it_says() {
        let (h, rounds) = (12u32, 200_000);
        let mut bytes = vec![0u8; 4 * h as usize];
        let mut stream = Seed::from_text("overflow").stream("t", 0);
        let mut beyond = [0.0; 3];
        for _ in 0..rounds {
            stream.fill(&mut bytes);
            let unit = |b: &[u8; 4]| f64::from(u32::from_le_bytes(*b)) / 2f64.powi(32) - 0.5;
            let sum: f64 = bytes.as_chunks::<4>().0.iter().map(unit).sum();
            for (k, count) in beyond.iter_mut().enumerate() {
                *count += f64::from(u8::from(sum.abs().round() > k as f64));
            }
        }
        for (k, count) in beyond.iter().enumerate() {
            let expected =
                log2_overflow(1, weight(h), k as u32, 0.0).unwrap().exp2() * f64::from(rounds);
            let slack = 5.0 * expected.sqrt();
            assert!((count - expected).abs() < slack, "{k}: {count} {expected}");
        }
    }

    #[test]
    fn what_cannot_happen_has_no_probability() {
        let log2 = |most| log2_overflow(1 << 16, weight(32), most, 2f64.powi(-8)).unwrap();
        assert_eq!(log2(16), f64::NEG_INFINITY);
        assert!((-133.0..-128.0).contains(&log2(15)), "{}", log2(15));
        assert_eq!(log2(0), 0.0);
        let values: Vec<f64> = (0..17).map(log2).collect();
        assert!(values.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn a_heavy_secret_with_a_small_bound_is_seen_through() {
        let log2 = |h, most| log2_overflow(1 << 16, weight(h), most, 0.0).unwrap();
        // K = 28 covers |I| < 28.
        assert!(log2(192, 27) > -24.0);
        assert_eq!(log2(192, 2), 0.0);
        assert!(least_overflow(1 << 16, weight(192), 0.0, -40.0).unwrap() > 28);
        for h in [32, 64, 192, 1024] {
            let most = least_overflow(1 << 16, weight(h), 0.001, -128.0).unwrap();
            let at = |k| log2_overflow(1 << 16, weight(h), k, 0.001).unwrap();
            assert!(at(most) <= -128.0 && at(most - 1) > -128.0, "{h}");
        }
    }

    #[test]
    fn chernoff_bounds_the_exact_tail() {
        for (h, x) in [(32, 8.5), (192, 27.5), (512, 60.5)] {
            let (bound, exact) = (
                log2_chernoff(h as usize, 1.0, x),
                log2_irwin_hall_tail(h, x),
            );
            assert!(exact < bound && bound < exact + 6.0, "{h}: {exact} {bound}");
        }
        let ternary = least_overflow(1 << 16, SecretDistribution::Ternary, 0.0, -128.0).unwrap();
        assert!((800..900).contains(&ternary), "{ternary}");
    }

    #[test]
    fn unknown_laws_and_ratios_are_refused() {
        let wide = SecretDistribution::Gaussian { sigma: 3.2 };
        assert!(log2_overflow(64, wide, 3, 0.0).is_err());
        for ratio in [-0.1, 0.5, f64::NAN] {
            assert!(log2_overflow(64, weight(8), 3, ratio).is_err(), "{ratio}");
        }
    }
}
