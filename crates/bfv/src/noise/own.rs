// SPDX-License-Identifier: Apache-2.0
//! Randomness that single operations draw and factors that they multiply noise by: for affine forms
//! ([`rlwe::noise::Affine`]), whose amplitudes are deviations of a coefficient here.

use super::Estimator;
use crate::Error;
use rlwe::noise::{Gain, Noise};

impl Estimator {
    /// Ring degree.
    pub fn n(&self) -> usize {
        self.model.n()
    }

    /// Noise of a key switch over `limbs` data primes, before special primes are divided out.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    pub fn key_products(&self, limbs: usize) -> Result<Noise, Error> {
        Ok(self
            .model
            .key_products(&self.log2_digits(limbs)?, self.log2_p))
    }

    /// Noise of rounding `size` polynomials.
    pub fn rounding(&self, size: usize) -> Noise {
        self.model.rounding(size)
    }

    /// Noise of rounding Q·m/t.
    pub fn plain_rounding(&self) -> Noise {
        self.scaling()
    }

    /// Whether key switches end with a division by special primes, hence with a rounding.
    pub fn divides(&self) -> bool {
        self.log2_p > 0.0
    }

    /// log2 of the prime that goes from `limbs` to `limbs − 1`.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] unless 2 ≤ `limbs` ≤ L.
    pub fn log2_divisor(&self, limbs: usize) -> Result<f64, Error> {
        Ok(self.log2_q(limbs)? - self.log2_q(limbs.saturating_sub(1))?)
    }

    /// The gain of t·K + m, K and m of a ciphertext of `size` parts, for noise with `factors` powers of the secret.
    pub fn product_gain(&self, factors: u32, size: usize) -> Gain {
        let noise = Noise::of_variance(1.0, factors);
        Gain {
            log2: self.spread(noise, size).log2_variance,
        }
    }

    /// The gain of t·v/Q for noise `v` at every root.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    pub fn second_order_gain(&self, v: Noise, limbs: usize) -> Result<Gain, Error> {
        let log2_t = (self.plain_modulus as f64).log2();
        Ok(Gain {
            log2: 2.0 * (self.model.log2_embedding_bound(v) + log2_t - self.log2_q(limbs)?),
        })
    }
}
