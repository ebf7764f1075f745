// SPDX-License-Identifier: Apache-2.0
//! Additions, negation, modulus switching.

use super::Evaluator;
use crate::Error;
use crate::ciphertext::Ciphertext;
use crate::plaintext::Plaintext;
use rns::RnsPoly;
use zq::Word;

impl<W: Word> Evaluator<W> {
    /// a + b. Sizes may differ.
    ///
    /// # Errors
    /// Operands of other parameters, keys or levels.
    pub fn add(&self, a: &Ciphertext<W>, b: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        let mut out = a.clone();
        self.add_assign(&mut out, b)?;
        Ok(out)
    }

    /// a += b.
    ///
    /// # Errors
    /// As [`Evaluator::add`]; then `a` is unchanged.
    pub fn add_assign(&self, a: &mut Ciphertext<W>, b: &Ciphertext<W>) -> Result<(), Error> {
        self.check_pair(a, b)?;
        a.key = a
            .key
            .join(b.key, "the second operand")
            .map_err(Error::from)?;
        a.seed = None;
        let common = a.size().min(b.size());
        a.parts
            .iter_mut()
            .zip(&b.parts)
            .for_each(|(x, y)| x.add_assign(y));
        a.parts.extend_from_slice(&b.parts[common..]);
        Ok(())
    }

    /// a − b.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn sub(&self, a: &Ciphertext<W>, b: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.check_pair(a, b)?;
        let key = a.key.join(b.key, "the second operand")?;
        let part = |i: usize| match (a.parts.get(i), b.parts.get(i)) {
            (Some(x), Some(y)) => x.sub(y),
            (Some(x), None) => x.clone(),
            (None, y) => y.map(RnsPoly::neg).expect("i is below the larger size"),
        };
        let parts = (0..a.size().max(b.size())).map(part).collect();
        Ok(Ciphertext::new(a.params, key, parts))
    }

    /// −a.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    pub fn negate(&self, a: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.check(a)?;
        Ok(Ciphertext::new(
            a.params,
            a.key,
            a.parts.iter().map(RnsPoly::neg).collect(),
        ))
    }

    /// The sum of all.
    ///
    /// # Errors
    /// [`Error::EmptySum`], and as [`Evaluator::add`].
    pub fn add_many(&self, terms: &[Ciphertext<W>]) -> Result<Ciphertext<W>, Error> {
        let (first, rest) = terms.split_first().ok_or(Error::EmptySum)?;
        self.check(first)?;
        let mut sum = first.clone();
        sum.seed = if rest.is_empty() { sum.seed } else { None };
        rest.iter()
            .try_for_each(|term| self.add_assign(&mut sum, term))?;
        Ok(sum)
    }

    /// a + m.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    pub fn add_plain(&self, a: &Ciphertext<W>, m: &Plaintext) -> Result<Ciphertext<W>, Error> {
        self.shift_by(a, m, false)
    }

    /// a − m.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
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

    /// Divides by the last data prime, rounding: noise and modulus shrink alike, later operations are cheaper.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] with one prime left; [`rlwe::Error::ParameterMismatch`].
    pub fn mod_switch(&self, a: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.check(a)?;
        let level = self.params.level(a.limbs())?;
        let exhausted = Error::LevelsExhausted {
            operation: "modulus switching",
            left: a.limbs(),
            needed: 2,
        };
        let switch = level.switch.as_ref().ok_or(exhausted)?;
        let parts = a.parts.iter().map(|p| switch.scale_tail(p)).collect();
        Ok(Ciphertext::new(a.params, a.key, parts))
    }

    /// Switches down until `limbs` data primes are left.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] unless 1 ≤ `limbs` ≤ those there are.
    pub fn mod_switch_to(&self, a: &Ciphertext<W>, limbs: usize) -> Result<Ciphertext<W>, Error> {
        if limbs == 0 || limbs > a.limbs() {
            let operation = "modulus switching to a given level";
            return Err(Error::LevelsExhausted {
                operation,
                left: a.limbs(),
                needed: limbs.max(1),
            });
        }
        let mut out = a.clone();
        while out.limbs() > limbs {
            out = self.mod_switch(&out)?;
        }
        Ok(out)
    }

    /// A plaintext as a ciphertext that hides nothing, for use with ciphertexts of any key.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    pub fn trivial(&self, m: &Plaintext) -> Result<Ciphertext<W>, Error> {
        crate::encryption::trivial(&self.params, m)
    }
}
