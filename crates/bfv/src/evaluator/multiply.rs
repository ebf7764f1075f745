// SPDX-License-Identifier: Apache-2.0
//! Ciphertext multiplication and relinearisation.

use super::{Evaluator, MultiplyAlgorithm};
use crate::Error;
use crate::ciphertext::{Ciphertext, MAX_PARTS};
use rlwe::{Polys, RelinKey, tensor};
use zq::Word;

impl<W: Word> Evaluator<W> {
    /// a·b, of size size(a) + size(b) − 1; see [`Evaluator::relinearize`].
    ///
    /// # Errors
    /// Operands of other parameters, keys or levels; [`Error::Size`] when the product has more than 16 parts.
    #[inline(never)]
    pub fn multiply(&self, a: &Ciphertext<W>, b: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.check_pair(a, b)?;
        let key = a.key.join(b.key, "the second operand")?;
        let size = a.size() + b.size() - 1;
        if size > MAX_PARTS as usize {
            return Err(Error::Size {
                operation: "multiplication",
                got: size,
                expected: "at most 16 in the product",
                hint: "; relinearise first",
            });
        }
        let parts = match self.algorithm {
            MultiplyAlgorithm::Hps => self.multiply_hps(a, b)?,
            MultiplyAlgorithm::HpsOverQ => self.multiply_over_q(a, b)?,
        };
        Ok(Ciphertext::new(a.params, key, parts))
    }

    /// a·a.
    ///
    /// # Errors
    /// As [`Evaluator::multiply`].
    #[inline(never)]
    pub fn square(&self, a: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.multiply(a, a)
    }

    /// a·b, relinearised.
    ///
    /// # Errors
    /// As [`Evaluator::multiply`] and [`Evaluator::relinearize`].
    #[inline(never)]
    pub fn multiply_relin(
        &self,
        a: &Ciphertext<W>,
        b: &Ciphertext<W>,
        key: &RelinKey<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.relinearize(&self.multiply(a, b)?, key)
    }

    fn multiply_hps(&self, a: &Ciphertext<W>, b: &Ciphertext<W>) -> Result<Polys<W>, Error> {
        let level = self.params.level(a.limbs())?;
        let hps = level.hps()?;
        let lift = |ct: &Ciphertext<W>| {
            self.threads
                .try_map(&ct.parts, |p| Ok::<_, Error>(hps.lift(p)))
        };
        let lifted = lift(a)?;
        // A square is transformed once.
        let other = if std::ptr::eq(a, b) {
            None
        } else {
            Some(lift(b)?)
        };
        let product = tensor(lifted, other, &self.threads)?;
        self.threads
            .try_map(&product, |x| Ok(hps.scale(x, &level.q)))
    }

    fn multiply_over_q(&self, a: &Ciphertext<W>, b: &Ciphertext<W>) -> Result<Polys<W>, Error> {
        let level = self.params.level(a.limbs())?;
        let over_q = level.over_q()?;
        let lifted = self
            .threads
            .try_map(&a.parts, |p| Ok::<_, Error>(over_q.lift(p)))?;
        let switched = self
            .threads
            .try_map(&b.parts, |p| Ok::<_, Error>(over_q.switch(p)))?;
        let product = tensor(lifted, Some(switched), &self.threads)?;
        self.threads
            .try_map(&product, |x| Ok(over_q.scale(x, &level.q)))
    }

    /// Back to two parts from three; a ciphertext of two parts is returned as it is.
    ///
    /// # Errors
    /// [`Error::Size`] for more than three parts; a key of other parameters, another key set, or truncated below the
    /// ciphertext's level.
    #[inline(never)]
    pub fn relinearize(
        &self,
        a: &Ciphertext<W>,
        key: &RelinKey<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.check(a)?;
        self.check_key("the relinearisation key", key.key().fingerprint())?;
        a.key_id().join(key.key().id(), "the relinearisation key")?;
        let [c0, c1, c2] = match &a.parts[..] {
            [_, _] => return Ok(a.clone()),
            [c0, c1, c2] => [c0, c1, c2],
            _ => {
                let hint = "; relinearise after each multiplication";
                return Err(Error::Size {
                    operation: "relinearisation",
                    got: a.size(),
                    expected: "2 or 3",
                    hint,
                });
            }
        };
        let [mut k0, mut k1] = self
            .params
            .rlwe()
            .key_switch(c2, key.key(), &self.threads)?;
        k0.add_assign(c0);
        k1.add_assign(c1);
        Ok(Ciphertext::new(a.params, a.key, vec![k0, k1]))
    }
}
