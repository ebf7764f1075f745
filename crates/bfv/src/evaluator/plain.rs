// SPDX-License-Identifier: Apache-2.0
//! Operations with plaintexts.

use super::Evaluator;
use crate::Error;
use crate::ciphertext::Ciphertext;
use crate::plaintext::Plaintext;
use rlwe::ParameterSet;
use rlwe::wire::Fingerprint;
use rns::{Eval, RnsPoly};
use zq::Word;

/// A plaintext ready to be multiplied with: its centred coefficients over the data primes, transformed.
#[derive(Clone, Debug)]
pub struct Multiplier<W: Word> {
    params: Fingerprint,
    eval: RnsPoly<W, Eval>,
}

impl<W: Word> Multiplier<W> {
    /// Data primes it is prepared for.
    pub fn limbs(&self) -> usize {
        self.eval.limb_count()
    }
}

impl<W: Word> Evaluator<W> {
    /// a + m.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn add_plain(&self, a: &Ciphertext<W>, m: &Plaintext) -> Result<Ciphertext<W>, Error> {
        self.shift_by(a, m, false)
    }

    /// a − m.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn sub_plain(&self, a: &Ciphertext<W>, m: &Plaintext) -> Result<Ciphertext<W>, Error> {
        self.shift_by(a, m, true)
    }

    fn shift_by(
        &self,
        a: &Ciphertext<W>,
        m: &Plaintext,
        subtract: bool,
    ) -> Result<Ciphertext<W>, Error> {
        self.check(a)?;
        self.params
            .check_fingerprint("the plaintext", m.fingerprint())?;
        let mut out = a.clone();
        self.params
            .level(a.limbs())?
            .add_scaled(m.coefficients(), &mut out.parts[0], subtract);
        Ok(out)
    }

    /// A plaintext as a ciphertext that hides nothing, for use with ciphertexts of any key.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn trivial(&self, m: &Plaintext) -> Result<Ciphertext<W>, Error> {
        crate::encryption::trivial(&self.params, m)
    }

    /// Prepares a plaintext for several products with ciphertexts over `limbs` data primes.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`]; [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    #[inline(never)]
    pub fn prepare(&self, m: &Plaintext, limbs: usize) -> Result<Multiplier<W>, Error> {
        self.params
            .check_fingerprint("the plaintext", m.fingerprint())?;
        let basis = self.params.rlwe().q_prefix(limbs)?;
        let eval = RnsPoly::from_i64(&basis, &m.signed())?.to_eval();
        Ok(Multiplier {
            params: m.fingerprint(),
            eval,
        })
    }

    /// a·m.
    ///
    /// # Errors
    /// As [`Evaluator::prepare`].
    #[inline(never)]
    pub fn multiply_plain(&self, a: &Ciphertext<W>, m: &Plaintext) -> Result<Ciphertext<W>, Error> {
        self.check(a)?;
        self.multiply_prepared(a, &self.prepare(m, a.limbs())?)
    }

    /// a·m for a prepared m.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`]; [`Error::LevelMismatch`] when m was prepared for another level.
    #[inline(never)]
    pub fn multiply_prepared(
        &self,
        a: &Ciphertext<W>,
        m: &Multiplier<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.check(a)?;
        self.params
            .check_fingerprint("the prepared plaintext", m.params)?;
        if a.limbs() != m.limbs() {
            return Err(Error::LevelMismatch {
                left: a.limbs(),
                right: m.limbs(),
            });
        }
        let product = |part: &RnsPoly<W, _>| {
            let mut x = RnsPoly::to_eval(part.clone());
            x.mul_assign(&m.eval);
            x.to_coeff()
        };
        Ok(Ciphertext::new(
            a.params,
            a.key,
            a.parts.iter().map(product).collect(),
        ))
    }
}
