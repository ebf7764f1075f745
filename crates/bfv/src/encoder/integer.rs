// SPDX-License-Identifier: Apache-2.0
//! Integers as polynomials in a base.

use crate::Error;
use crate::params::BfvParams;
use crate::plaintext::Plaintext;
use rlwe::ParameterSet;
use zq::Word;

/// Encodes an integer by its digits in base b: x = Σ d_i·b^i becomes Σ d_i·X^i, and decodes by evaluating at b.
///
/// Encoding takes a time that depends on the value. Digits are balanced, within −(b−1)/2..=b/2; in base 2 they are the
/// bits of |x| with the sign of x. Sums and products decode rightly while no coefficient leaves −(t−1)/2..=t/2 and the
/// degree stays below n.
#[derive(Clone)]
pub struct IntegerEncoder<W: Word> {
    params: BfvParams<W>,
    base: i128,
}

/// Digits of `value`, lowest first.
pub(super) fn digits(mut value: i128, base: i128) -> Vec<i64> {
    let mut out = Vec::new();
    while value != 0 {
        let mut digit = value % base;
        if base > 2 {
            if digit > base / 2 {
                digit -= base;
            } else if digit < -((base - 1) / 2) {
                digit += base;
            }
        }
        out.push(digit as i64);
        value = (value - digit) / base;
    }
    out
}

pub(super) fn check_base(base: u64, t: u64) -> Result<i128, Error> {
    // The largest digit, b/2 (1 in base 2), must be a plaintext coefficient.
    if (2..=t).contains(&base) && base < 1 << 32 {
        return Ok(i128::from(base));
    }
    let allowed = format!("2..={}", t.min((1 << 32) - 1));
    Err(Error::Encoder {
        what: "the base",
        got: base.to_string(),
        allowed,
    })
}

impl<W: Word> IntegerEncoder<W> {
    /// An encoder in base `base`, 2..=t (and below 2^32).
    ///
    /// # Errors
    /// [`Error::Encoder`].
    #[inline(never)]
    pub fn new(params: &BfvParams<W>, base: u64) -> Result<Self, Error> {
        Ok(Self {
            params: params.clone(),
            base: check_base(base, params.plain_modulus())?,
        })
    }

    /// Encodes.
    ///
    /// # Errors
    /// [`Error::TooManyValues`] when there are more digits than coefficients;
    /// [`Error::ValueRange`] for a digit −1 at t = 2.
    #[inline(never)]
    pub fn encode(&self, value: i64) -> Result<Plaintext, Error> {
        Plaintext::from_signed(&self.params, &digits(i128::from(value), self.base))
    }

    /// Decodes.
    ///
    /// # Errors
    /// [`Error::DecodedRange`] when the value does not fit an `i64`; [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn decode(&self, plain: &Plaintext) -> Result<i64, Error> {
        self.params
            .check_fingerprint("the plaintext", plain.fingerprint())?;
        let overflow = || Error::DecodedRange("64 bits");
        let step = |acc: i128, c: &i64| acc.checked_mul(self.base)?.checked_add(i128::from(*c));
        let value = plain
            .signed()
            .iter()
            .rev()
            .try_fold(0, step)
            .ok_or_else(overflow)?;
        i64::try_from(value).map_err(|_| overflow())
    }
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn digits_are_balanced_and_evaluate_back() {
        for base in [2, 3, 4, 5, 10, 33] {
            for value in (-300..300).chain([i128::from(i64::MAX), i128::from(i64::MIN)]) {
                let d = digits(value, base);
                let back = d.iter().rev().fold(0, |acc, x| acc * base + i128::from(*x));
                assert_eq!(back, value, "base {base}");
                let (low, high) = if base == 2 {
                    (-1, 1)
                } else {
                    (-((base - 1) / 2), base / 2)
                };
                assert!(
                    d.iter().all(|x| (low..=high).contains(&i128::from(*x))),
                    "base {base}: {d:?}"
                );
            }
        }
    }
}
