// SPDX-License-Identifier: Apache-2.0
//! Decryption whose result may be shared: noise flooding against key recovery (IND-CPA-D).
//!
//! Li and Micciancio (ePrint 2020/1533) recover the key from exact CKKS decryptions. Li, Micciancio, Schultz and
//! Sorrell (ePrint 2022/816) show that adding a discrete Gaussian of standard deviation
//!
//! ```text
//! σ = sqrt(12 τ) · 2^(s/2) · t
//! ```
//!
//! to each coefficient keeps s bits of statistical security over τ published decryptions, where t bounds the Euclidean
//! norm of the error polynomial (KL divergence `t²/2σ²` a query). Here t is the bound E on the error in the canonical
//! embedding, times the scale: `n ‖e‖₂² = Σ |e(ζ)|² <= n E²`, so `‖e‖₂ <= E`. Together with a computational security of
//! the ring-LWE set the pair (computational, s) is what the decryption oracle keeps.
//!
//! The statement holds when E bounds the error of *every* ciphertext the adversary may submit: take it from
//! [`crate::noise::Estimator`] with the bounds of the circuit that was really evaluated, never from a measurement. The
//! estimate holds with probability 1 - 2^-128 for honestly formed ciphertexts; a server that sends arbitrary ones is
//! outside the model.

use crate::{Ciphertext, Decryptor, Error, Plaintext};
use rlwe::Seed;
use rlwe::noise::FAILURE_BITS;
use rlwe::sampling::{MIN_SIGMA, WideGaussian};
use std::f64::consts::LN_2;
use zeroize::Zeroizing;

/// Parameters of noise flooding: error to hide, statistical security, number of decryptions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Publication {
    /// Bound on the error of a slot, in units of the message: [`crate::noise::Estimator::slot_error`].
    pub slot_error: f64,
    /// Statistical security s in bits.
    pub security_bits: u32,
    /// Number τ of decryptions that will be published under this key.
    pub queries: u64,
}

impl Publication {
    /// 30 bits of statistical security over 1024 decryptions (OpenFHE's defaults are of that order).
    pub fn with_slot_error(slot_error: f64) -> Self {
        Self {
            slot_error,
            security_bits: 30,
            queries: 1024,
        }
    }

    /// Standard deviation of the noise added to each coefficient, for a ciphertext of scale `scale`.
    pub fn sigma(&self, scale: f64) -> f64 {
        (12.0 * self.queries.max(1) as f64).sqrt()
            * (f64::from(self.security_bits) / 2.0).exp2()
            * self.slot_error
            * scale
    }

    /// Bound on what the noise adds to a slot, in units of the message: failing with 2^-128 over n/2 slots.
    pub fn added_slot_error(&self, n: usize, scale: f64) -> f64 {
        let tail = (n as f64 / 2.0).ln() + f64::from(FAILURE_BITS) * LN_2;
        (tail * n as f64).sqrt() * self.sigma(scale) / scale
    }
}

impl Decryptor<'_> {
    /// Decrypts, floods the coefficients with Gaussian noise and rounds away nothing else. The security statement and
    /// its conditions stand in the module's documentation and in docs/ckks.md. The noise follows from the seed, the
    /// parameter set, the width and the ciphertext: no two results have it in common, so that none can be subtracted
    /// from another.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`]; [`Error::Flooding`] when the noise does not fit the modulus;
    /// [`Error::NotFinite`] when the error bound is no positive number.
    pub fn decrypt_for_publication(
        &self,
        ct: &Ciphertext,
        publication: &Publication,
        seed: &Seed,
    ) -> Result<Plaintext, Error> {
        self.publish(ct, self.decrypt(ct)?, publication, seed)
    }

    /// As [`Decryptor::decrypt_for_publication`], of what the ciphertext decrypts to.
    ///
    /// # Errors
    /// [`Error::Flooding`], [`Error::NotFinite`].
    pub fn publish(
        &self,
        ct: &Ciphertext,
        mut plaintext: Plaintext,
        publication: &Publication,
        seed: &Seed,
    ) -> Result<Plaintext, Error> {
        let bound = publication.slot_error;
        if !(bound.is_finite() && bound > 0.0) {
            return Err(Error::NotFinite {
                what: "bound on the slot error",
                index: 0,
                value: bound,
            });
        }
        let sigma = publication.sigma(ct.scale).max(MIN_SIGMA);
        let (log2_noise, log2_q) = (sigma.log2(), self.params.log2_modulus(ct.level()));
        // Six deviations of noise and as much again for the message.
        if log2_noise + 4.0 > log2_q - 1.0 {
            return Err(Error::Flooding { log2_noise, log2_q });
        }
        let about = [&sigma.to_le_bytes()[..], &ct.to_bytes()].concat();
        let seed = seed.bind("ckks publish", self.params.fingerprint(), &about);
        let noise =
            WideGaussian::new(sigma)?.poly(plaintext.poly.basis(), &mut seed.stream("noise", 0));
        plaintext.poly.add_assign(&Zeroizing::new(noise.to_eval()));
        Ok(plaintext)
    }
}
