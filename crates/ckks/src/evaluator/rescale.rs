// SPDX-License-Identifier: Apache-2.0
//! Levels down: by division, or for free.

use super::Evaluator;
use crate::{Ciphertext, Error};
use rlwe::divide_by_last;

impl Evaluator {
    /// Divides by the last prime and rounds: one level and that factor of the scale less.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] at level 0, [`Error::Scale`] when the scale would fall below 1, [`Error::Rlwe`].
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        let (level, scale) = (a.level(), self.rescaled("rescale", a)?);
        let (inverses, basis) = (self.params.inverses(level)?, self.params.basis(level - 1)?);
        let parts = divide_by_last(&a.parts, &basis, &inverses, &self.threads);
        Ok(Ciphertext {
            scale,
            ..a.with_parts(parts)
        })
    }

    /// The scale after a rescale of `a`.
    pub(super) fn rescaled(&self, operation: &'static str, a: &Ciphertext) -> Result<f64, Error> {
        let level = a.level();
        if level == 0 {
            return Err(Error::LevelsExhausted {
                operation,
                needed: 1,
                levels_left: 0,
                log2_scale: a.scale.log2(),
                remedy: "use a longer modulus chain",
            });
        }
        let scale = a.scale / self.params.prime(level) as f64;
        if scale < 1.0 {
            return Err(Error::Scale {
                operation: "rescale (it would divide the message away)",
                scale,
            });
        }
        Ok(scale)
    }

    /// The same value at a lower level; the scale stays. Dropping to the ciphertext's own level copies it.
    ///
    /// # Errors
    /// [`Error::Level`] when `level` is above the ciphertext's, [`Error::Rlwe`].
    pub fn drop_to(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        if level > a.level() {
            return Err(Error::Level {
                operation: "drop_to",
                given: level,
                max: a.level(),
            });
        }
        let parts = self.made(&self.params.basis(level)?, a.size(), |(k, i), _, row| {
            row.copy_from_slice(a.parts[k].limb(i));
        });
        Ok(a.with_parts(parts))
    }
}
