// SPDX-License-Identifier: Apache-2.0
//! Decryption whose result may be shared: noise flooding against key recovery (IND-CPA-D).
//!
//! Li and Micciancio (ePrint 2020/1533) recover the key from exact CKKS decryptions. Li, Micciancio, Schultz and Sorrell
//! (ePrint 2022/816) show that adding a discrete Gaussian of standard deviation
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
//! estimate holds with probability 1 - 2^-40 for honestly formed ciphertexts; a server that sends arbitrary ones is
//! outside the model.

use crate::{Ciphertext, Decryptor, Encoder, Error, Plaintext};
use rlwe::sample::{CdtTable, MAX_SIGMA, MIN_SIGMA};
use rlwe::{Seed, Xof};
use zeroize::Zeroizing;

/// What the flooding has to withstand.
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

    /// Bound on what the noise adds to a slot, in units of the message: 2^-40 failure over n/2 slots.
    pub fn added_slot_error(&self, n: usize, scale: f64) -> f64 {
        let tail = (n as f64 / 2.0).ln() + 40.0 * std::f64::consts::LN_2;
        (tail * n as f64).sqrt() * self.sigma(scale) / scale
    }
}

/// Multiplier between the layers of a wide sample; small enough to stay smooth (see [`layers`]).
const LAYER: f64 = 32.0;
/// Widest noise: 12 deviations stay far below 2^63.
const MAX_LOG2_SIGMA: f64 = 57.0;

impl Decryptor<'_> {
    /// Decrypts, floods the coefficients with Gaussian noise and rounds away nothing else. The security statement and its
    /// conditions stand in the module's documentation and in docs/ckks.md.
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
        let bound = publication.slot_error;
        if !(bound.is_finite() && bound > 0.0) {
            return Err(Error::NotFinite {
                what: "bound on the slot error",
                index: 0,
                value: bound,
            });
        }
        let plaintext = self.decrypt(ct)?;
        let sigma = publication.sigma(ct.scale).max(MIN_SIGMA);
        let (log2_noise, log2_q) = (sigma.log2(), self.params.log2_modulus(ct.level()));
        // Six deviations of noise and as much again for the message.
        if log2_noise + 4.0 > log2_q - 1.0 || log2_noise > MAX_LOG2_SIGMA {
            return Err(Error::Flooding { log2_noise, log2_q });
        }
        let mut noise = Zeroizing::new(vec![0i64; self.params.n()]);
        wide_gaussian(&mut seed.stream("ckks-publish", 0), sigma, &mut noise)?;
        let noise = Encoder::new(&self.params).small_to_poly(&noise, &plaintext)?;
        let mut poly = plaintext.poly.clone();
        poly.add_assign(&noise);
        Ok(Plaintext { poly, ..plaintext })
    }
}

/// Widths of the layers whose weighted sum has standard deviation `sigma`: (base deviation, weights).
///
/// `x = Σ w_i g_i` with independent g_i from D_(Z,base) is within about 2^-45 of a discrete Gaussian while base exceeds
/// w_(i+1)/w_i · η(Z), η(Z) < 1.3 (convolution theorem of Micciancio and Peikert, CRYPTO 2013). The base stays above
/// 45 = 102/sqrt(1 + 2²): a last ratio r > 2 is only taken when r/2 left the base above 102. And 45 > 1.3 · 32.
fn layers(sigma: f64) -> (f64, Vec<i64>) {
    let mut weights = vec![1i64];
    let norm = |w: &[i64]| w.iter().map(|w| (*w as f64).powi(2)).sum::<f64>().sqrt();
    while sigma / norm(&weights) > MAX_SIGMA {
        let last = *weights.last().unwrap_or(&1);
        // The last ratio is the smallest power of two that brings the base into range.
        let mut ratio = 2;
        while ratio < LAYER as i64 && {
            let mut next = weights.clone();
            next.push(last * ratio);
            sigma / norm(&next) > MAX_SIGMA
        } {
            ratio *= 2;
        }
        weights.push(last * ratio);
    }
    (
        (sigma / norm(&weights)).clamp(MIN_SIGMA, MAX_SIGMA),
        weights,
    )
}

/// Discrete Gaussian samples of a standard deviation from 3.2 to 2^57, in constant time.
fn wide_gaussian(stream: &mut Xof, sigma: f64, out: &mut [i64]) -> Result<(), Error> {
    let (base, weights) = layers(sigma);
    let table = CdtTable::new(base)?;
    let mut layer = Zeroizing::new(vec![0i64; out.len()]);
    out.fill(0);
    for weight in weights {
        table.fill(stream, &mut layer);
        out.iter_mut()
            .zip(layer.iter())
            .for_each(|(o, g)| *o += weight * g);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_samples_have_the_deviation_asked_for() {
        for log2 in [2.0, 6.0, 7.3, 12.0, 25.5, 40.0, 57.0] {
            let sigma = f64::exp2(log2);
            let mut out = vec![0; 20_000];
            wide_gaussian(
                &mut Seed::from_text("flood").stream("t", 0),
                sigma,
                &mut out,
            )
            .unwrap();
            let mean = out.iter().map(|x| *x as f64).sum::<f64>() / out.len() as f64;
            let deviation =
                (out.iter().map(|x| (*x as f64).powi(2)).sum::<f64>() / out.len() as f64).sqrt();
            assert!(
                (deviation / sigma - 1.0).abs() < 0.03,
                "2^{log2}: {deviation:e}"
            );
            assert!(mean.abs() < 0.05 * sigma, "2^{log2}: mean {mean:e}");
        }
    }

    #[test]
    fn layers_stay_smooth() {
        for k in 0..500 {
            let sigma = 3.2 * f64::exp2(f64::from(k) / 9.1);
            let (base, weights) = layers(sigma);
            let ratio = weights.windows(2).map(|w| w[1] / w[0]).max().unwrap_or(1);
            assert!(
                weights.len() == 1 || base >= 1.3 * ratio as f64,
                "sigma {sigma}: base {base}"
            );
            assert!(weights.windows(2).all(|w| w[1] / w[0] <= 32));
            let total = base
                * weights
                    .iter()
                    .map(|w| (*w as f64).powi(2))
                    .sum::<f64>()
                    .sqrt();
            assert!((total / sigma - 1.0).abs() < 1e-9);
        }
    }
}
