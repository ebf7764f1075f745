// SPDX-License-Identifier: Apache-2.0
//! Discrete Gaussian errors by a cumulative table scanned in full.

use super::seed::Xof;
use crate::Error;
use num_bigint::BigUint;
use zq::memory::wipe;

/// Smallest standard deviation on offer.
pub const MIN_SIGMA: f64 = 3.2;
/// Largest standard deviation on offer.
pub const MAX_SIGMA: f64 = 102.0;

/// Bits of the fixed-point fractions while the table is made; the entries keep 127 of them.
const WORK: u64 = 256;

/// The cumulative distribution of |x| for the discrete Gaussian D_{Z,σ} with P(x) ∝ exp(−x²/2σ²), in 127-bit fractions.
///
/// Entry k is ⌊2^127 · P(|x| ≤ k)⌋; the table ends where 2^127 · P(|x| > k) < 1, so a sample is within 2^-120 of
/// D_{Z,σ}.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CdtTable(Vec<u128>);

impl CdtTable {
    /// Builds the table for `sigma` in [`MIN_SIGMA`]..=[`MAX_SIGMA`]; the same on every machine (integers only).
    ///
    /// # Errors
    /// [`Error::Parameter`] when σ is outside the range or not finite.
    pub fn new(sigma: f64) -> Result<Self, Error> {
        if !(MIN_SIGMA..=MAX_SIGMA).contains(&sigma) {
            return Err(Error::Parameter {
                what: "sigma",
                got: sigma.to_string(),
                allowed: format!("{MIN_SIGMA}..={MAX_SIGMA}"),
            });
        }
        let weights = weights(sigma);
        // P(|x| = 0) = w_0 / total, P(|x| = k) = 2 w_k / total.
        let total: BigUint = &weights[0] + (weights[1..].iter().sum::<BigUint>() << 1);
        let mut sum = weights[0].clone();
        let mut table = Vec::with_capacity(weights.len());
        for (k, w) in weights.iter().enumerate() {
            if k > 0 {
                sum += w << 1;
            }
            let entry = u128::try_from((&sum << 127u32) / &total).expect("a fraction below 2^127");
            if entry == (1 << 127) {
                break;
            }
            table.push(entry);
        }
        Ok(Self(table))
    }

    /// Fills `out` with samples. Stream layout: 16 bytes per value, little-endian; bit 127 is the sign, the rest is
    /// compared with every entry. Constant time: |x| is the number of entries that do not exceed the fraction.
    pub fn fill(&self, stream: &mut Xof, out: &mut [i64]) {
        let mut bytes = [0u8; 16 * 64];
        for block in out.chunks_mut(64) {
            let bytes = &mut bytes[..16 * block.len()];
            stream.fill(bytes);
            for (value, b) in block.iter_mut().zip(bytes.chunks_exact(16)) {
                let word = u128::from_le_bytes(b.try_into().expect("16 bytes"));
                *value = self.sample(word);
            }
        }
        wipe(&mut bytes);
    }

    /// The largest magnitude of a sample.
    pub(crate) fn largest(&self) -> u64 {
        self.0.len() as u64
    }

    fn sample(&self, word: u128) -> i64 {
        let (sign, fraction) = ((word >> 127) as i64, word & (u128::MAX >> 1));
        // fraction − entry borrows into bit 127 exactly when fraction < entry: both are below 2^127.
        let magnitude: i64 = self
            .0
            .iter()
            .map(|e| 1 - (fraction.wrapping_sub(*e) >> 127) as i64)
            .sum();
        (magnitude ^ -sign) + sign
    }
}

/// exp(−k²/2σ²) as `WORK`-bit fractions for k = 0, 1, … until they vanish against 2^-135.
fn weights(sigma: f64) -> Vec<BigUint> {
    // σ is the exact rational m·2^e of its double.
    let bits = sigma.to_bits();
    let mantissa = BigUint::from((bits & ((1 << 52) - 1)) | 1 << 52);
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1075;
    // 1/(2σ²) = 2^(−2e−1) / m², and −2e−1 > 0 for every σ in range.
    let x =
        (BigUint::from(1u32) << (WORK as i64 - 2 * exponent - 1) as u64) / (&mantissa * &mantissa);
    let ratio = exp_minus(&x);
    let ratio_squared = mul(&ratio, &ratio);
    // w_{k+1} = w_k · r^(2k+1).
    let (mut weight, mut step) = (BigUint::from(1u32) << WORK, ratio);
    let floor = BigUint::from(1u32) << (WORK - 135);
    let mut all = Vec::new();
    while weight > floor {
        all.push(weight.clone());
        weight = mul(&weight, &step);
        step = mul(&step, &ratio_squared);
    }
    all
}

/// exp(−x) for a fraction 0 ≤ x < 1 by its Taylor series.
fn exp_minus(x: &BigUint) -> BigUint {
    let mut term = BigUint::from(1u32) << WORK;
    let (mut plus, mut minus) = (term.clone(), BigUint::ZERO);
    for i in 1u32.. {
        term = mul(&term, x) / i;
        if term == BigUint::ZERO {
            break;
        }
        if i % 2 == 1 {
            minus += &term
        } else {
            plus += &term
        }
    }
    plus - minus
}

fn mul(a: &BigUint, b: &BigUint) -> BigUint {
    (a * b) >> WORK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::sampling::statistics::{chi_square, chi_square_limit};

    #[test]
    fn distribution_matches_for_the_whole_range() {
        for sigma in [3.2, 4.5, 11.3, 102.0] {
            let mut out = vec![0; 60_000];
            CdtTable::new(sigma)
                .unwrap()
                .fill(&mut Seed::from_text("cdt").stream("t", 0), &mut out);
            let reach = (14.0 * sigma) as i64;
            let rho = |k: i64| (-((k * k) as f64) / (2.0 * sigma * sigma)).exp();
            let total: f64 = (-reach..=reach).map(rho).sum();
            let expected: Vec<f64> = (-reach..=reach)
                .map(|k| rho(k) / total * out.len() as f64)
                .collect();
            let mut counts = vec![0.0; expected.len()];
            out.iter().for_each(|v| counts[(v + reach) as usize] += 1.0);
            let (chi, k) = chi_square(&counts, &expected);
            assert!(
                chi < chi_square_limit(k),
                "sigma {sigma}: chi-square {chi:.1} with {k} degrees"
            );
        }
    }

    #[test]
    fn entries_agree_with_floating_point() {
        let table = CdtTable::new(3.2).unwrap().0;
        let rho = |k: i64| (-((k * k) as f64) / (2.0 * 3.2 * 3.2)).exp();
        let total: f64 = (-60..=60).map(rho).sum();
        for (k, e) in table.iter().enumerate() {
            let p: f64 = (-(k as i64)..=k as i64).map(rho).sum::<f64>() / total;
            assert!((*e as f64 / 2f64.powi(127) - p).abs() < 1e-14, "entry {k}");
        }
        assert!(table.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn extremes_of_the_word_give_extremes_of_the_range() {
        let table = CdtTable::new(3.2).unwrap();
        let last = table.0.len() as i64;
        assert_eq!(table.sample(0), 0);
        assert_eq!(table.sample(u128::MAX >> 1), last);
        assert_eq!(table.sample(u128::MAX), -last);
        assert!((40..48).contains(&last), "{last}");
    }

    #[test]
    fn sigma_out_of_range_is_refused() {
        for sigma in [0.0, 3.1, 103.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                CdtTable::new(sigma),
                Err(Error::Parameter { what: "sigma", .. })
            ));
        }
    }
}
