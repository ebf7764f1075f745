// SPDX-License-Identifier: Apache-2.0
//! Plaintexts: polynomials modulo t.

use crate::Error;
use crate::params::BfvParams;
use rlwe::noise::Gain;
use rlwe::reveal;
use rlwe::wire::Fingerprint;
use zq::Word;
use zq::memory::wipe;

/// A polynomial of n coefficients in 0..t.
#[derive(Clone, PartialEq, Eq)]
pub struct Plaintext {
    pub(crate) params: Fingerprint,
    t: u64,
    coefficients: Vec<u64>,
}

impl std::fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plaintext")
            .field("n", &self.coefficients.len())
            .field("t", &self.t)
            .finish_non_exhaustive()
    }
}

impl Drop for Plaintext {
    fn drop(&mut self) {
        wipe(&mut self.coefficients);
    }
}

impl Plaintext {
    /// A plaintext of coefficients already known to be reduced.
    pub(crate) fn from_reduced<W: Word>(params: &BfvParams<W>, coefficients: Vec<u64>) -> Self {
        debug_assert_eq!(coefficients.len(), params.n());
        Self {
            params: params.fingerprint(),
            t: params.plain_modulus(),
            coefficients,
        }
    }

    /// The polynomial with these low coefficients, each in 0..t; the rest is 0.
    ///
    /// # Errors
    /// [`Error::TooManyValues`], [`Error::ValueRange`].
    #[inline(never)]
    pub fn from_coefficients<W: Word>(
        params: &BfvParams<W>,
        values: &[u64],
    ) -> Result<Self, Error> {
        check_count(values.len(), params.n())?;
        check_below(params.plain_modulus(), values)?;
        let mut coefficients = vec![0; params.n()];
        coefficients[..values.len()].copy_from_slice(values);
        Ok(Self::from_reduced(params, coefficients))
    }

    /// The polynomial with these signed low coefficients, each within −(t−1)/2..=t/2; the rest is 0.
    ///
    /// # Errors
    /// [`Error::TooManyValues`], [`Error::ValueRange`].
    #[inline(never)]
    pub fn from_signed<W: Word>(params: &BfvParams<W>, values: &[i64]) -> Result<Self, Error> {
        check_count(values.len(), params.n())?;
        let mut coefficients = vec![0; params.n()];
        reduce_signed(params.plain_modulus(), values, &mut coefficients)?;
        Ok(Self::from_reduced(params, coefficients))
    }

    /// The n coefficients, in 0..t.
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// The n coefficients, within −(t−1)/2..=t/2.
    pub fn signed(&self) -> Vec<i64> {
        centred(self.t, &self.coefficients)
    }

    /// The plaintext modulus.
    pub fn plain_modulus(&self) -> u64 {
        self.t
    }

    /// The parameter set's identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.params
    }

    /// Growth of noise by a product with this plaintext.
    pub fn gain(&self) -> Gain {
        let doubles: Vec<f64> = self.signed().iter().map(|c| *c as f64).collect();
        Gain::of_coefficients(&doubles)
    }
}

pub(crate) fn check_count(got: usize, max: usize) -> Result<(), Error> {
    if got > max {
        Err(Error::TooManyValues { got, max })
    } else {
        Ok(())
    }
}

/// Refuses values that are `outside`, naming the first: one bit about all of them, and more only of those that are
/// refused.
fn check_range<V>(
    values: &[V],
    outside: impl Fn(&V) -> bool,
    low: i64,
    high: u64,
) -> Result<(), Error> {
    if !reveal(values.iter().fold(false, |any, v| any | outside(v))) {
        return Ok(());
    }
    Err(Error::ValueRange {
        index: values.iter().position(outside).unwrap_or_default(),
        low: low.to_string(),
        high: high.to_string(),
    })
}

/// Refuses values that are not below t.
pub(crate) fn check_below(t: u64, values: &[u64]) -> Result<(), Error> {
    check_range(values, |v| *v >= t, 0, t - 1)
}

/// Signed values to the residues modulo t that `out` begins with.
pub(crate) fn reduce_signed(t: u64, values: &[i64], out: &mut [u64]) -> Result<(), Error> {
    let (low, high) = (-((t as i64 - 1) / 2), t as i64 / 2);
    check_range(values, |v| (*v < low) | (*v > high), low, high as u64)?;
    // The sign bit selects the addition of t without a branch: values may be secret.
    for (o, v) in out.iter_mut().zip(values) {
        *o = (*v as u64).wrapping_add(t & (*v >> 63) as u64);
    }
    Ok(())
}

/// Residues modulo t to −(t−1)/2..=t/2.
pub(crate) fn centred(t: u64, residues: &[u64]) -> Vec<i64> {
    let above = |x: u64| ((t / 2).wrapping_sub(x) as i64 >> 63) as u64;
    residues
        .iter()
        .map(|x| x.wrapping_sub(t & above(*x)) as i64)
        .collect()
}
