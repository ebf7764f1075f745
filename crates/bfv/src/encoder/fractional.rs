// SPDX-License-Identifier: Apache-2.0
//! Fixed-point numbers as polynomials in a base.

use super::integer::{check_base, digits};
use crate::Error;
use crate::params::BfvParams;
use crate::plaintext::Plaintext;
use rlwe::ParameterSet;
use zq::Word;

/// Encodes Σ d_i·b^i, in a time that depends on the value, with i ≥ −f: digit i ≥ 0 is the coefficient of X^i, digit −i
/// that of −X^(n−i), because X^−i = −X^(n−i). Digits are as in [`crate::IntegerEncoder`].
///
/// Products add up fraction digits, growing downwards from X^n; decoding reads coefficients below `cut` as integral and
/// the others as fractional.
#[derive(Clone)]
pub struct FractionalEncoder<W: Word> {
    params: BfvParams<W>,
    base: i128,
    fraction: usize,
    cut: usize,
}

impl<W: Word> FractionalEncoder<W> {
    /// An encoder in base `base` with `fraction` digits after the point; coefficients from `cut` on are fractional.
    ///
    /// # Errors
    /// [`Error::Encoder`] unless the base is within 2..=t,
    /// base^fraction below 2^62 and fraction ≤ n − cut, 1 ≤ cut ≤ n.
    #[inline(never)]
    pub fn new(
        params: &BfvParams<W>,
        base: u64,
        fraction: usize,
        cut: usize,
    ) -> Result<Self, Error> {
        let n = params.n();
        let base = check_base(base, params.plain_modulus())?;
        let refuse = |what, got: usize, allowed: String| {
            Err(Error::Encoder {
                what,
                got: got.to_string(),
                allowed,
            })
        };
        if !(1..=n).contains(&cut) {
            return refuse(
                "the cut between integral and fractional coefficients",
                cut,
                format!("1..={n}"),
            );
        }
        let most = (62.0 / (base as f64).log2()) as usize;
        if fraction > most.min(n - cut) {
            return refuse(
                "the number of fraction digits",
                fraction,
                format!("0..={}", most.min(n - cut)),
            );
        }
        Ok(Self {
            params: params.clone(),
            base,
            fraction,
            cut,
        })
    }

    /// Encodes, rounding to the nearest multiple of base^−fraction.
    ///
    /// # Errors
    /// [`Error::ValueRange`] for values that are not finite or beyond 2^62 in units of the last digit;
    /// [`Error::TooManyValues`] when the integral digits reach the cut.
    #[inline(never)]
    pub fn encode(&self, value: f64) -> Result<Plaintext, Error> {
        let scaled = (value * (self.base as f64).powi(self.fraction as i32)).round();
        let limit = 2f64.powi(62);
        if scaled.is_nan() || scaled.abs() >= limit {
            let most = limit / (self.base as f64).powi(self.fraction as i32);
            let (low, high) = (format!("{:e}", -most), format!("{most:e}"));
            return Err(Error::ValueRange {
                index: 0,
                low,
                high,
            });
        }
        let digits = digits(scaled as i128, self.base);
        let (low, high) = digits.split_at(self.fraction.min(digits.len()));
        crate::plaintext::check_count(high.len(), self.cut)?;
        let n = self.params.n();
        let mut coefficients = vec![0; n];
        coefficients[..high.len()].copy_from_slice(high);
        for (place, d) in low.iter().enumerate() {
            coefficients[n - self.fraction + place] = -d;
        }
        Plaintext::from_signed(&self.params, &coefficients)
    }

    /// Decodes to the nearest double.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn decode(&self, plain: &Plaintext) -> Result<f64, Error> {
        self.params
            .check_fingerprint("the plaintext", plain.fingerprint())?;
        let coefficients = plain.signed();
        let base = self.base as f64;
        let integral = coefficients[..self.cut]
            .iter()
            .rev()
            .fold(0.0, |acc, c| acc * base + *c as f64);
        let fractional = coefficients[self.cut..]
            .iter()
            .fold(0.0, |acc, c| (acc - *c as f64) / base);
        Ok(integral + fractional)
    }
}
