// SPDX-License-Identifier: Apache-2.0
//! Sums, differences, negation.

use super::{Evaluator, same_scale};
use crate::{Ciphertext, Error};
use rns::RnsPoly;
use zq::Modulus;

/// An in-place operation on limbs.
pub(super) type LimbOp = fn(&Modulus<u64>, &mut [u64], &[u64]);

impl Evaluator {
    /// Sum. Operands of different levels are taken to the lower one; sizes may differ.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`], or [`Error::Rlwe`] for a ciphertext of another parameter set.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        self.combine("add", a, b, |q, x, y| q.add_assign(x, y))
    }

    /// Difference `a - b`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        self.combine("sub", a, b, |q, x, y| q.sub_assign(x, y))
    }

    fn combine(
        &self,
        operation: &'static str,
        a: &Ciphertext,
        b: &Ciphertext,
        op: LimbOp,
    ) -> Result<Ciphertext, Error> {
        self.check(&[a, b])?;
        let key = a.key.join(b.key, operation)?;
        let level = a.level().min(b.level());
        same_scale(operation, a.scale, b.scale, level)?;
        let (basis, count) = (self.params.basis(level)?, a.size().max(b.size()));
        let parts = self.made(&basis, count, |(k, i), q, row| {
            match a.parts.get(k) {
                Some(part) => row.copy_from_slice(part.limb(i)),
                None => row.fill(0),
            }
            if let Some(part) = b.parts.get(k) {
                op(q, row, part.limb(i));
            }
        });
        Ok(Ciphertext {
            key,
            slots: a.slots.max(b.slots),
            ..a.with_parts(parts)
        })
    }

    /// Negation.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a ciphertext of another parameter set.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        Ok(a.with_parts(a.parts.iter().map(RnsPoly::neg).collect()))
    }
}
