// SPDX-License-Identifier: Apache-2.0
//! Decryption whose result may be shared: noise flooding against decryption failures (IND-CPA-D).
//!
//! A right BFV result is a function of the message alone, a wrong one of the noise too, and with it of the key: a
//! client that sees results and searches for ciphertexts with much noise learns from the failures (ePrint 2024/116,
//! 2024/127). Here a discrete Gaussian e is added to the phase before it is rounded, so wide that it, not the noise,
//! decides on failure. docs/bfv.md derives
//!
//! ```text
//! σ = sqrt(12 τ) · 2^(s/2) · sqrt(n) · (B + 1/2)
//! ```
//!
//! for s bits of statistical security over τ published decryptions, B the bound on the largest noise coefficient. It
//! holds when B bounds the noise of *every* ciphertext that is published: take it from [`crate::noise::Estimator`] for
//! the circuit that was evaluated, never from a measurement. A server that sends other ciphertexts is outside the
//! model.

use crate::noise::log2_limit;
use crate::{Ciphertext, Decryptor, Error, Phase, Plaintext};
use rlwe::Seed;
use rlwe::noise::{FAILURE_BITS, log2_add};
use rlwe::sampling::WideGaussian;
use std::f64::consts::LN_2;
use zeroize::Zeroizing;
use zq::Word;

/// Parameters of noise flooding: noise to hide, statistical security, number of decryptions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Publication {
    /// Noise budget in bits that the circuit is sure to leave: [`crate::noise::Estimator::budget`].
    pub noise_budget: f64,
    /// Statistical security s in bits.
    pub security_bits: u32,
    /// Number τ of decryptions that will be published under this key.
    pub queries: u64,
}

impl Publication {
    /// 30 bits of statistical security over 1024 decryptions, as for CKKS.
    pub fn with_budget(noise_budget: f64) -> Self {
        Self {
            noise_budget,
            security_bits: 30,
            queries: 1024,
        }
    }

    /// log2 of the noise's standard deviation at degree `n`, with log2 B = `log2_bound`.
    pub fn log2_sigma(&self, n: usize, log2_bound: f64) -> f64 {
        let norm = 0.5 * (n as f64).log2() + log2_add(log2_bound, -1.0);
        let queries = 12.0 * self.queries.max(1) as f64;
        0.5 * queries.log2() + f64::from(self.security_bits) / 2.0 + norm
    }

    /// Bits of noise budget that flooding takes at degree `n`: log2((B + zσ)/B) for a B of 1 or more, z such that all n
    /// coefficients of the flooding noise stay below zσ but with probability 2^-128.
    pub fn budget_needed(&self, n: usize) -> f64 {
        log2_add(0.0, self.log2_sigma(n, 0.0) + log2_tail(n))
    }
}

/// log2 of z with P(|e_i| > zσ for some i < n) < 2^-128.
fn log2_tail(n: usize) -> f64 {
    (2.0 * ((2.0 * n as f64).ln() + f64::from(FAILURE_BITS) * LN_2)).log2() / 2.0
}

impl<W: Word> Decryptor<W> {
    /// Decrypts, with flooding noise that hides the ciphertext's own. The result is that of
    /// [`Decryptor::decrypt`] but with probability 2^-128.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`]; [`Error::Flooding`] when the budget has no room for the noise.
    #[inline(never)]
    pub fn decrypt_for_publication(
        &self,
        ct: &Ciphertext<W>,
        publication: &Publication,
        seed: &Seed,
    ) -> Result<Plaintext, Error> {
        self.publish(ct, self.phase(ct)?, publication, seed)
    }

    /// As [`Decryptor::decrypt_for_publication`], of the ciphertext's phase.
    ///
    /// # Errors
    /// [`Error::Flooding`].
    #[inline(never)]
    pub fn publish(
        &self,
        ct: &Ciphertext<W>,
        phase: Phase<W>,
        publication: &Publication,
        seed: &Seed,
    ) -> Result<Plaintext, Error> {
        self.rounded(&self.flooded(ct, phase, publication, seed)?)
    }

    /// The phase with the flooding noise.
    #[inline(never)]
    pub(crate) fn flooded(
        &self,
        ct: &Ciphertext<W>,
        mut phase: Phase<W>,
        publication: &Publication,
        seed: &Seed,
    ) -> Result<Phase<W>, Error> {
        let n = self.params.n();
        let log2_limit = log2_limit(&self.params, ct.limbs())?;
        // A bound below 1 is raised to 1: encryption alone adds more.
        let budget = publication.noise_budget.min(log2_limit);
        let needed = publication.budget_needed(n);
        if needed > budget || publication.noise_budget.is_nan() {
            return Err(Error::Flooding { needed, budget });
        }
        let sigma = publication.log2_sigma(n, log2_limit - budget).exp2();
        let gaussian = WideGaussian::new(sigma)?;
        // The noise follows from the ciphertext too: no two results have it in common, so that none can be subtracted.
        let about = [&sigma.to_le_bytes()[..], &ct.to_bytes()].concat();
        let seed = seed.bind("bfv publish", self.params.fingerprint(), &about);
        let noise = gaussian.poly(phase.0.basis(), &mut seed.stream("noise", 0));
        phase.0.add_assign(&Zeroizing::new(noise));
        Ok(phase)
    }
}
