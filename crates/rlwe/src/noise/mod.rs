// SPDX-License-Identifier: Apache-2.0
//! Noise bounds that fail with a stated probability, from the variance of a coefficient.
//!
//! A noise polynomial v is described by a second moment V and by the powers d of the secret it holds: at every root ζ,
//! E|v(ζ)|² ≤ nV. In the canonical embedding a random polynomial a with coefficient second moment V is close to a
//! complex Gaussian of E|a(ζ)|² = nV, hence E|a(ζ)|^{2k} = k!·(nV)^k: multiplying noise that already holds d powers by
//! one more of the same multiplies the variance by at most (d+1)·nV. The (d+1) is what an independence heuristic leaves
//! out. Sums of ciphertexts add standard deviations, since the summands may be the same.
//!
//! Tails: |a(ζ)|²/nV exceeds x with probability e^-x. A bound may fail with e^-T in all, T = ln 2n + ln 2 · failure
//! bits (n places, two signs), so the factors of a product share T. For one factor times the d-th power of another the
//! worst share gives `x·y^d <= d^d (T/(d+1))^(d+1)` ([`NoiseModel::log2_embedding_bound`]). A coefficient is a mean
//! over the roots: either of them all, a Gaussian of variance V, or of one pair of roots that is large by itself, as a
//! plaintext or message made to that end can bring about ([`NoiseModel::log2_bound`]).

mod affine;
mod embedding;
mod overflow;

pub use affine::{Affine, Draw, Norms, Place, Term};
pub use overflow::{least_overflow, log2_irwin_hall_tail, log2_overflow};

use crate::sampling::{ErrorDistribution, SecretDistribution};
use std::f64::consts::{LN_2, PI};

/// A bound fails with probability below 2^-128 unless [`NoiseModel::with_failure_bits`] says otherwise: as seldom as a
/// key of 128 bits is guessed, so that a search for the one ciphertext that exceeds it costs as much as the key.
pub const FAILURE_BITS: u32 = 128;

/// A plaintext of unstructured values exceeds what is reckoned for ordinary ones with probability below 2^-40. It is
/// measured before it is used and refused then, never wrong, so that this is no probability of failure.
pub const REFUSED_BITS: u32 = 40;

/// log2(2^a + 2^b).
pub fn log2_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        high
    } else {
        high + (low - high).exp2().ln_1p() / LN_2
    }
}

/// An upper estimate of a noise polynomial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// log2 of the variance of a coefficient (−∞: no noise).
    pub log2_variance: f64,
    /// How many powers of the secret the noise holds; besides them one component of a ciphertext for each product.
    pub factors: u32,
}

impl Noise {
    /// No noise.
    pub const NONE: Self = Self {
        log2_variance: f64::NEG_INFINITY,
        factors: 0,
    };

    /// Noise of this variance.
    pub fn of_variance(variance: f64, factors: u32) -> Self {
        Self {
            log2_variance: variance.log2(),
            factors,
        }
    }

    /// The sum of two noises that may depend on each other: deviations add.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let log2_deviation = log2_add(self.log2_variance / 2.0, other.log2_variance / 2.0);
        Self {
            log2_variance: 2.0 * log2_deviation,
            factors: self.factors.max(other.factors),
        }
    }

    /// The sum of `count` noises like this one.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        self.scaled((count as f64).log2())
    }

    /// The sum with independent noise: variances add.
    #[must_use]
    pub fn plus_independent(self, other: Self) -> Self {
        let log2_variance = log2_add(self.log2_variance, other.log2_variance);
        Self {
            log2_variance,
            factors: self.factors.max(other.factors),
        }
    }

    /// Multiplied by the number 2^log2_factor.
    #[must_use]
    pub fn scaled(self, log2_factor: f64) -> Self {
        Self {
            log2_variance: self.log2_variance + 2.0 * log2_factor,
            ..self
        }
    }

    /// Multiplied by a polynomial whose gain (see [`Gain`]) is known.
    #[must_use]
    pub fn through(self, gain: Gain) -> Self {
        Self {
            log2_variance: self.log2_variance + gain.log2,
            ..self
        }
    }
}

/// Facts about a giant step of a linear transform: whether it rotates, and for each of its terms whether it rotates and
/// the facts about its plaintext, if any.
pub type GiantFacts<P> = (bool, Vec<(bool, Option<P>)>);

/// Growth of the variance by a product with a known polynomial m: max over the roots ζ of |m(ζ)|², as log2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// log2 of the gain.
    pub log2: f64,
}

impl Gain {
    /// Any polynomial with coefficients at most `bound` in absolute value: |m(ζ)| ≤ bound / sin(π/2n) < bound·(2n/π +
    /// 1).
    pub fn worst_case(n: usize, bound: f64) -> Self {
        Self {
            log2: 2.0 * (bound * (2.0 * n as f64 / PI + 1.0)).log2(),
        }
    }

    /// Limit for a polynomial with coefficients uniform within ±bound, such as an encoding of unstructured slots:
    /// |m(ζ)|² is exponential with mean n·bound²/3; its maximum over the n roots stays below (ln n + 40 ln 2) times
    /// that. A contrived polynomial exceeds it: only for plaintexts whose own gain is checked before they are used.
    pub fn random(n: usize, bound: f64) -> Self {
        let mean = n as f64 * bound * bound / 3.0;
        Self {
            log2: (mean * ((n as f64).ln() + f64::from(REFUSED_BITS) * LN_2)).log2(),
        }
    }

    /// This very polynomial: the maximum over the roots, computed in doubles.
    pub fn of_coefficients(coefficients: &[f64]) -> Self {
        Self {
            log2: embedding::max_square(coefficients).log2(),
        }
    }
}

/// Parameters of noise besides the moduli.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseModel {
    n: usize,
    secret: SecretDistribution,
    error_variance: f64,
    failure_bits: u32,
}

/// d^d / d!: by how much a d-th power may exceed its mean in the worst share of the tail.
fn power_excess(d: u32) -> f64 {
    (1..=d).map(|i| f64::from(d) / f64::from(i)).product()
}

impl NoiseModel {
    /// The model of a set with degree `n`.
    pub fn new(n: usize, secret: SecretDistribution, error: &ErrorDistribution) -> Self {
        Self {
            n,
            secret,
            error_variance: error.variance(),
            failure_bits: FAILURE_BITS,
        }
    }

    /// The model whose bounds fail with probability below 2^-bits.
    #[must_use]
    pub fn with_failure_bits(self, bits: u32) -> Self {
        Self {
            failure_bits: bits,
            ..self
        }
    }

    /// log2 of the inverse failure probability.
    pub fn failure_bits(&self) -> u32 {
        self.failure_bits
    }

    /// T: what happens at one place with probability e^-T happens at any of the n with less than the failure
    /// probability.
    fn tail(&self) -> f64 {
        (2.0 * self.n as f64).ln() + f64::from(self.failure_bits) * LN_2
    }

    /// (T/k)^k: k factors of a product all at once as large as the tail allows.
    fn share(&self, k: u32) -> f64 {
        (self.tail() / f64::from(k)).max(1.0).powi(k as i32)
    }

    /// log2 of the bound on the largest coefficient in absolute value.
    pub fn log2_bound(&self, noise: Noise) -> f64 {
        let d = noise.factors;
        // One pair of roots: |coefficient| ≤ 2/n |v(ζ)|, of d powers of the secret, d − 1 components and the error
        // itself.
        let components = d.saturating_sub(1);
        let pair = power_excess(d) * power_excess(components) * self.share(d + components + 1);
        let all = 2.0 * self.tail();
        0.5 * (noise.log2_variance + (all + 4.0 / self.n as f64 * pair).log2())
    }

    /// log2 of the bound on |v(ζ)| at every root ζ, for noise that is no product with a ciphertext's component.
    pub fn log2_embedding_bound(&self, noise: Noise) -> f64 {
        let d = noise.factors;
        let peak = self.n as f64 * power_excess(d) * self.share(d + 1);
        0.5 * (noise.log2_variance + peak.log2())
    }

    /// Ring degree.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Variance of an error coefficient.
    pub fn error_variance(&self) -> f64 {
        self.error_variance
    }

    /// Factor by which the secret raises the variance of a polynomial that already holds `factors` powers of it.
    ///
    /// A binary secret has mean 1/2 and a peak: |s(ζ)| ≤ n/π at the first root, and what is left after the mean.
    pub fn secret_gain(&self, factors: u32) -> f64 {
        let n = self.n as f64;
        match self.secret {
            SecretDistribution::Binary => (n / PI + 1.0 + (n * self.tail()).sqrt() / 2.0).powi(2),
            _ => n * self.secret.second_moment(self.n) * f64::from(factors + 1),
        }
    }

    /// 1 + |s|² + |s²|² + …, `size` terms, on top of `factors` powers of the secret.
    pub fn powers_gain(&self, factors: u32, size: usize) -> f64 {
        let (mut power, mut sum) = (1.0, 1.0);
        for j in 1..size as u32 {
            power *= self.secret_gain(factors + j - 1);
            sum += power;
        }
        sum
    }

    /// Fresh encryption under the secret key: e.
    pub fn fresh_symmetric(&self) -> Noise {
        Noise::of_variance(self.error_variance, 0)
    }

    /// Fresh encryption under the public key: e·u + e0 + e1·s, u ternary.
    pub fn fresh_public(&self) -> Noise {
        let n = self.n as f64;
        Noise::of_variance(
            self.error_variance * (1.0 + n * 2.0 / 3.0 + self.secret_gain(0)),
            1,
        )
    }

    /// Fresh encryption under an extended public key: that of a public one divided by P = 2^`log2_special`, and the
    /// rounding.
    pub fn fresh_extended(&self, log2_special: f64) -> Noise {
        self.mod_switch(self.fresh_public(), log2_special, 2)
    }

    /// Rounding the `size` parts of a ciphertext to integers: r0 + r1·s + r2·s² + …, each r uniform in ±1/2.
    pub fn rounding(&self, size: usize) -> Noise {
        Noise::of_variance(self.powers_gain(0, size) / 12.0, size as u32 - 1)
    }

    /// The products of key switching, Σ digit_d·e_d / P, before they are rounded.
    ///
    /// `log2_digits` are the sizes of the digits in bits (each digit is centred), `log2_special` that of P (0 for
    /// none).
    pub fn key_products(&self, log2_digits: &[f64], log2_special: f64) -> Noise {
        let per_unit = self.n as f64 * self.error_variance / 12.0;
        let products = log2_digits
            .iter()
            .fold(f64::NEG_INFINITY, |sum, d| log2_add(sum, 2.0 * d));
        Noise {
            log2_variance: products + per_unit.log2() - 2.0 * log2_special,
            factors: 1,
        }
    }

    /// Key switching: [`NoiseModel::key_products`], and the rounding when there is a special modulus P.
    pub fn key_switch(&self, log2_digits: &[f64], log2_special: f64) -> Noise {
        let noise = self.key_products(log2_digits, log2_special);
        if log2_special > 0.0 {
            noise.plus_independent(self.rounding(2))
        } else {
            noise
        }
    }

    /// Modulus switching of a ciphertext of `size` polynomials by 2^log2_dropped.
    pub fn mod_switch(&self, noise: Noise, log2_dropped: f64, size: usize) -> Noise {
        noise
            .scaled(-log2_dropped)
            .plus_independent(self.rounding(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_add() {
        assert!((log2_add(3.0, 3.0) - 4.0).abs() < 1e-12);
        assert_eq!(log2_add(5.0, f64::NEG_INFINITY), 5.0);
        assert!((log2_add(2000.0, 1.0) - 2000.0).abs() < 1e-9);
    }

    #[test]
    fn gains_bound_the_maximum() {
        let n = 64;
        let ones = vec![1.0; n];
        let exact = Gain::of_coefficients(&ones).log2;
        assert!(exact <= Gain::worst_case(n, 1.0).log2);
        // |Σ ζ^j| = 1/sin(π/2n) at the first root.
        assert!((exact - -2.0 * (PI / (2.0 * n as f64)).sin().log2()).abs() < 1e-9);
        let mut one = vec![0.0; n];
        one[5] = -3.0;
        assert!((Gain::of_coefficients(&one).log2 - 9f64.log2()).abs() < 1e-9);
    }

    #[test]
    fn deviations_add_for_dependent_sums() {
        let v = Noise::of_variance(4.0, 0);
        assert!((v.plus(v).log2_variance - 4.0).abs() < 1e-12);
        assert!((v.times(4).log2_variance - v.scaled(2.0).log2_variance).abs() < 1e-12);
        assert_eq!(v.plus(Noise::NONE), v);
    }
}
