// SPDX-License-Identifier: Apache-2.0
//! Modulus switching.

use super::Evaluator;
use crate::{Ciphertext, Error};
use zq::Word;

impl<W: Word> Evaluator<W> {
    /// Divides by the last data prime, rounding: noise and modulus shrink alike, later operations are cheaper.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] with one prime left; [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
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
    #[inline(never)]
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
}
