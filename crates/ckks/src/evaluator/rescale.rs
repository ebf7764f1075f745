// SPDX-License-Identifier: Apache-2.0
//! Levels down: by division, or for free.

use super::{Evaluator, prefixes};
use crate::ciphertext::prefix;
use crate::{Ciphertext, Error};
use rns::Scratch;
use zq::AlignedVec;

impl Evaluator {
    /// Divides by the last prime and rounds: one level and that factor of the scale less.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] at level 0, [`Error::Scale`] when the scale would fall below 1, [`Error::Rlwe`].
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        let level = a.level();
        if level == 0 {
            return Err(Error::LevelsExhausted {
                operation: "rescale",
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
        let (rescaler, basis, n) = (
            self.params.rescaler(level)?,
            self.params.basis(level - 1)?,
            self.params.n(),
        );
        let (mut work, mut scratch) = (AlignedVec::zeros(level * n), Scratch::new());
        let mut dropped = AlignedVec::zeros(n);
        let parts = a.parts.iter().map(|part| {
            dropped.copy_from_slice(part.limb(level));
            part.basis().plan(level).inverse(&mut dropped);
            let mut out = prefix(part, &basis);
            rescaler.scale_eval_assign(&dropped, out.data_mut(), &mut work, &mut scratch);
            out
        });
        let parts = parts.collect();
        Ok(Ciphertext {
            scale,
            ..a.with_parts(parts)
        })
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
        Ok(a.with_parts(prefixes(&a.parts, &self.params, level)?))
    }
}
