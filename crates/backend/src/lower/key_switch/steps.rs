// SPDX-License-Identifier: Apache-2.0
//! The steps that every arrangement has, and what is made of them.

use super::decompose::Digits;
use super::gadget::SwitchingKey;
use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;

/// A key switch in its steps.
pub(super) trait KeySwitch<S: Lower> {
    /// Σ digit·key for both halves of the key, as the arrangement keeps them.
    type Sums;

    /// The digits of a polynomial over the data primes, each over all primes.
    fn mod_up(&self, lowering: &mut Lowering<'_, S>, part: &Part) -> Result<Digits, Error>;

    /// Σ digit·key for both halves.
    fn inner_product(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
    ) -> Result<Self::Sums, Error>;

    /// The sums divided by the special primes, plus polynomials over the data primes; all that under the key's
    /// automorphism, in the scheme's form. An automorphism commutes with every step: the arrangement chooses where it
    /// is applied.
    fn mod_down(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: Self::Sums,
        key: SwitchingKey,
        plus: [Option<&Part>; 2],
    ) -> Result<Vec<Part>, Error>;

    /// Three parts as two.
    fn relinearize(
        &self,
        lowering: &mut Lowering<'_, S>,
        parts: &[Part],
    ) -> Result<Vec<Part>, Error> {
        let key = SwitchingKey::RELINEARIZATION;
        let digits = self.mod_up(lowering, &parts[2])?;
        let sums = self.inner_product(lowering, &digits, key)?;
        self.mod_down(lowering, sums, key, [Some(&parts[0]), Some(&parts[1])])
    }

    /// Two parts under the automorphism of a key.
    fn rotate(
        &self,
        lowering: &mut Lowering<'_, S>,
        parts: &[Part],
        key: SwitchingKey,
    ) -> Result<Vec<Part>, Error> {
        let digits = self.mod_up(lowering, &parts[1])?;
        let sums = self.inner_product(lowering, &digits, key)?;
        self.mod_down(lowering, sums, key, [Some(&parts[0]), None])
    }
}
