// SPDX-License-Identifier: Apache-2.0
//! Batching: n slots modulo a prime t ≡ 1 (mod 2n), as two rows of n/2.

use crate::Error;
use crate::linear_transform::ExtendedPlaintext;
use crate::params::BfvParams;
use crate::plaintext::{Plaintext, centred, check_below, check_count, reduce_signed};
use rlwe::ParameterSet;
use zeroize::Zeroizing;
use zq::memory::wipe;
use zq::{AlignedVec, Word};

/// Encodes vectors slot by slot, in constant time but for one bit: whether all values are in range. Slot i < n/2 is the
/// value at ψ^(3^i), slot n/2 + i that at ψ^(−3^i) (ψ: the smallest primitive 2n-th root modulo t), so x -> x^3 rotates
/// both rows left by one and x -> x^(2n−1) exchanges them.
#[derive(Clone)]
pub struct BatchEncoder<W: Word> {
    params: BfvParams<W>,
    /// Slot to position in the transform's output.
    positions: Vec<u32>,
}

impl<W: Word> BatchEncoder<W> {
    /// An encoder.
    ///
    /// # Errors
    /// [`Error::NoBatching`] when t has no slots at this degree.
    #[inline(never)]
    pub fn new(params: &BfvParams<W>) -> Result<Self, Error> {
        let (n, t) = (params.n(), params.plain_modulus());
        let plan = params
            .batching()
            .ok_or(Error::NoBatching { t, n, order: 2 * n })?;
        let order = 2 * n;
        let mut at = vec![0; order];
        (0..n).for_each(|j| at[ntt::eval_exponent(j, plan.log_n())] = j as u32);
        let powers = std::iter::successors(Some(1), |e| Some(e * 3 % order)).take(n / 2);
        let (row0, row1): (Vec<u32>, Vec<u32>) = powers.map(|e| (at[e], at[order - e])).unzip();
        Ok(Self {
            params: params.clone(),
            positions: [row0, row1].concat(),
        })
    }

    /// Number of slots, n.
    pub fn slots(&self) -> usize {
        self.positions.len()
    }

    /// Encodes values in 0..t; missing ones are 0.
    ///
    /// # Errors
    /// [`Error::TooManyValues`], [`Error::ValueRange`].
    #[inline(never)]
    pub fn encode(&self, values: &[u64]) -> Result<Plaintext, Error> {
        check_count(values.len(), self.slots())?;
        check_below(self.params.plain_modulus(), values)?;
        let mut slots = vec![0; self.slots()];
        values
            .iter()
            .zip(&self.positions)
            .for_each(|(v, p)| slots[*p as usize] = *v);
        self.plan().inverse(&mut slots);
        Ok(Plaintext::from_reduced(&self.params, slots))
    }

    /// Encodes values within −(t−1)/2..=t/2; missing ones are 0.
    ///
    /// # Errors
    /// [`Error::TooManyValues`], [`Error::ValueRange`].
    #[inline(never)]
    pub fn encode_signed(&self, values: &[i64]) -> Result<Plaintext, Error> {
        check_count(values.len(), self.slots())?;
        let mut residues = Zeroizing::new(AlignedVec::for_overwrite(values.len()));
        reduce_signed(self.params.plain_modulus(), values, &mut residues)?;
        self.encode(&residues)
    }

    /// Encodes values in 0..t for a linear transform of ciphertexts over `limbs` data primes.
    ///
    /// # Errors
    /// As [`BatchEncoder::encode`], and [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    #[inline(never)]
    pub fn encode_extended(
        &self,
        values: &[u64],
        limbs: usize,
    ) -> Result<ExtendedPlaintext<W>, Error> {
        ExtendedPlaintext::new(&self.params, &self.encode(values)?, limbs)
    }

    /// Encodes values within −(t−1)/2..=t/2 for a linear transform of ciphertexts over `limbs` data primes.
    ///
    /// # Errors
    /// As [`BatchEncoder::encode_signed`], and [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    #[inline(never)]
    pub fn encode_signed_extended(
        &self,
        values: &[i64],
        limbs: usize,
    ) -> Result<ExtendedPlaintext<W>, Error> {
        ExtendedPlaintext::new(&self.params, &self.encode_signed(values)?, limbs)
    }

    /// All slots, in 0..t.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn decode(&self, plain: &Plaintext) -> Result<Vec<u64>, Error> {
        self.params
            .check_fingerprint("the plaintext", plain.fingerprint())?;
        let mut values = Zeroizing::new(AlignedVec::from_slice(plain.coefficients()));
        self.plan().forward(&mut values);
        let values: &[u64] = &values;
        Ok(self.positions.iter().map(|p| values[*p as usize]).collect())
    }

    /// All slots, within −(t−1)/2..=t/2.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn decode_signed(&self, plain: &Plaintext) -> Result<Vec<i64>, Error> {
        let mut residues = self.decode(plain)?;
        let values = centred(self.params.plain_modulus(), &residues);
        wipe(&mut residues);
        Ok(values)
    }

    fn plan(&self) -> &ntt::NttPlan<u64> {
        self.params.batching().expect("checked by new")
    }
}
