// SPDX-License-Identifier: Apache-2.0
//! Discrete Gaussian polynomials far wider than a table: the noise that floods a published decryption.

use super::Xof;
use super::gauss::{CdtTable, MAX_SIGMA, MIN_SIGMA};
use crate::Error;
use crate::signed_poly::signed_poly;
use rns::{Coeff, RnsBasis, RnsPoly};
use zeroize::{Zeroize, Zeroizing};
use zq::Word;

/// log2 of the largest ratio between neighbouring layers; small enough to stay smooth (see [`layers`]).
const MAX_STEP: u32 = 5;
/// log2 of the widest deviation: doubles hold its square.
const MAX_LOG2_SIGMA: f64 = 500.0;

/// A discrete Gaussian distribution over polynomials, of a standard deviation from 3.2 to 2^500.
#[derive(Debug)]
pub struct WideGaussian {
    table: CdtTable,
    /// A sample is Σ 2^shift · g with independent g from the table.
    shifts: Vec<u32>,
}

impl WideGaussian {
    /// Of this standard deviation; what is below 3.2 is raised to it.
    ///
    /// # Errors
    /// [`Error::Parameter`] beyond 2^500, or for no number.
    pub fn new(sigma: f64) -> Result<Self, Error> {
        if sigma.is_nan() || sigma.log2() > MAX_LOG2_SIGMA {
            return Err(Error::Parameter {
                what: "the standard deviation of flooding noise",
                got: sigma.to_string(),
                allowed: format!("{MIN_SIGMA}..=2^{MAX_LOG2_SIGMA}"),
            });
        }
        let (base, shifts) = layers(sigma.max(MIN_SIGMA));
        Ok(Self {
            table: CdtTable::new(base)?,
            shifts,
        })
    }

    /// A polynomial of n samples, in constant time. Layers are drawn one after the other, the finest first.
    #[inline(never)]
    pub fn poly<W: Word>(&self, basis: &RnsBasis<W>, stream: &mut Xof) -> RnsPoly<W, Coeff> {
        let mut sum = RnsPoly::zeros(basis);
        let mut samples = Zeroizing::new(vec![0i64; basis.n()]);
        for shift in &self.shifts {
            self.table.fill(stream, &mut samples);
            let mut layer = signed_poly(basis, &samples, self.table.largest());
            multiply_by_power(&mut layer, *shift);
            sum.add_assign(&layer);
            layer.zeroize();
        }
        sum
    }
}

/// `poly *= 2^shift`.
fn multiply_by_power<W: Word>(poly: &mut RnsPoly<W, Coeff>, mut shift: u32) {
    while shift > 0 {
        let step = shift.min(62);
        poly.scalar_mul_assign(1 << step);
        shift -= step;
    }
}

/// Layers whose weighted sum has standard deviation `sigma`: (base deviation, log2 of the weights).
///
/// `x = Σ w_i g_i` with independent g_i from D_(Z,base) is within about 2^-45 of a discrete Gaussian while base exceeds
/// w_(i+1)/w_i · η(Z), η(Z) < 1.3 (convolution theorem of Micciancio and Peikert, CRYPTO 2013). The base stays above
/// 45 = 102/sqrt(1 + 2²): a last ratio r > 2 is only taken when r/2 left the base above 102. And 45 > 1.3 · 32.
fn layers(sigma: f64) -> (f64, Vec<u32>) {
    let mut shifts = vec![0];
    let base = |s: &[u32]| {
        sigma
            / s.iter()
                .map(|s| f64::from(2 * s).exp2())
                .sum::<f64>()
                .sqrt()
    };
    while base(&shifts) > MAX_SIGMA {
        let last = shifts[shifts.len() - 1];
        let with = |step| [&shifts[..], &[last + step]].concat();
        // The last ratio is the smallest power of two that brings the base into range.
        let step = (1..MAX_STEP).find(|step| base(&with(*step)) <= MAX_SIGMA);
        shifts.push(last + step.unwrap_or(MAX_STEP));
    }
    (base(&shifts).clamp(MIN_SIGMA, MAX_SIGMA), shifts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use num_bigint::BigInt;
    use zq::primes::{Direction, ntt_primes};

    fn samples(sigma: f64, basis: &RnsBasis<u64>) -> Vec<f64> {
        let seed = Seed::from_text("flood");
        let poly = WideGaussian::new(sigma)
            .unwrap()
            .poly(basis, &mut seed.stream("t", 0));
        let double = |x: &BigInt| x.to_string().parse::<f64>().unwrap();
        poly.compose_centered().iter().map(double).collect()
    }

    #[test]
    fn wide_samples_have_the_deviation_asked_for() {
        let n = 8192;
        let primes = ntt_primes::<u64>(60, 2 * n as u64, 3, Direction::Down, &[]).unwrap();
        let basis = RnsBasis::new(n, &primes).unwrap();
        for log2 in [2.0, 6.0, 7.3, 12.0, 25.5, 57.0, 90.5, 150.0] {
            let sigma = f64::exp2(log2);
            let out = samples(sigma, &basis);
            let mean = out.iter().sum::<f64>() / n as f64;
            let deviation = (out.iter().map(|x| x * x).sum::<f64>() / n as f64).sqrt();
            assert!(
                (deviation / sigma - 1.0).abs() < 0.04,
                "2^{log2}: {deviation:e}"
            );
            assert!(mean.abs() < 0.05 * sigma, "2^{log2}: mean {mean:e}");
        }
    }

    #[test]
    fn layers_stay_smooth() {
        for k in 0..2000 {
            let sigma = 3.2 * f64::exp2(f64::from(k) / 9.1);
            let (base, shifts) = layers(sigma);
            let step = shifts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
            assert!(
                shifts.len() == 1 || base >= 1.3 * f64::from(1 << step),
                "sigma {sigma}: base {base}"
            );
            assert!(step <= MAX_STEP);
            let norm = shifts
                .iter()
                .map(|s| f64::from(2 * s).exp2())
                .sum::<f64>()
                .sqrt();
            assert!((base * norm / sigma - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn no_number_and_too_wide_are_refused() {
        for sigma in [f64::NAN, f64::INFINITY, 1e200] {
            assert!(WideGaussian::new(sigma).is_err(), "{sigma}");
        }
    }
}
