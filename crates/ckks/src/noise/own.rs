// SPDX-License-Identifier: Apache-2.0
//! Randomness that single operations draw, as bounds on |e(ζ)|: the symbols of affine forms ([`rlwe::noise::Affine`]).

use super::Estimator;
use crate::Error;
use rlwe::noise::Noise;

impl Estimator {
    fn embedded(&self, noise: Noise) -> f64 {
        self.model.log2_embedding_bound(noise)
    }

    /// log2 of the error of encrypting under the secret key.
    pub fn log2_fresh_secret(&self) -> f64 {
        self.embedded(self.model.fresh_symmetric())
    }

    /// log2 of the error of encrypting under the public key.
    pub fn log2_fresh_public(&self) -> f64 {
        self.embedded(self.model.fresh_public())
    }

    /// log2 of the error of encrypting under the extended public key.
    ///
    /// # Errors
    /// [`rlwe::Error::NoSpecialPrimes`].
    pub fn log2_fresh_extended(&self) -> Result<f64, Error> {
        if !self.divides() {
            let what = "encryption under an extended public key";
            return Err(rlwe::Error::NoSpecialPrimes { what }.into());
        }
        Ok(self.embedded(self.model.fresh_extended(self.log2_p)))
    }

    /// log2 of the error of a key switch at a level, before special primes are divided out.
    pub fn log2_key_products(&self, level: usize) -> f64 {
        let digits = self.log2_digits(level);
        self.embedded(self.model.key_products(&digits, self.log2_p))
    }

    /// log2 of the error of rounding `size` polynomials.
    pub fn log2_rounding(&self, size: usize) -> f64 {
        self.embedded(self.model.rounding(size))
    }

    /// Whether key switches end with a division by special primes, hence with a rounding.
    pub fn divides(&self) -> bool {
        self.log2_p > 0.0
    }

    /// log2 of the prime that a rescale at `level` divides by.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] at level 0.
    pub fn log2_divisor(&self, level: usize) -> Result<f64, Error> {
        match level {
            0 => Err(super::exhausted("rescale", 1.0)),
            _ => Ok(self.log2_q[level]),
        }
    }
}
