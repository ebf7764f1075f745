// SPDX-License-Identifier: Apache-2.0
//! Sums, differences, negation.

use super::Evaluator;
use crate::Error;
use crate::ciphertext::Ciphertext;
use rns::RnsPoly;
use zq::Word;

impl<W: Word> Evaluator<W> {
    /// a + b. Sizes may differ.
    ///
    /// # Errors
    /// Operands of other parameters, keys or levels.
    #[inline(never)]
    pub fn add(&self, a: &Ciphertext<W>, b: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        let mut out = a.clone();
        self.add_assign(&mut out, b)?;
        Ok(out)
    }

    /// a += b.
    ///
    /// # Errors
    /// As [`Evaluator::add`]; then `a` is unchanged.
    #[inline(never)]
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
    #[inline(never)]
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
    #[inline(never)]
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
    #[inline(never)]
    pub fn add_many(&self, terms: &[Ciphertext<W>]) -> Result<Ciphertext<W>, Error> {
        let (first, rest) = terms.split_first().ok_or(Error::EmptySum)?;
        self.check(first)?;
        let mut sum = first.clone();
        sum.seed = if rest.is_empty() { sum.seed } else { None };
        rest.iter()
            .try_for_each(|term| self.add_assign(&mut sum, term))?;
        Ok(sum)
    }
}
