// SPDX-License-Identifier: Apache-2.0
//! One half after the other, each digit transformed when it was made: for engines that leave conversions to the host.

use super::decompose::{Decomposition, Digits};
use super::gadget::{Half, SwitchingKey};
use super::steps::KeySwitch;
use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;
use ::polynomial::Form;

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct HalfByHalf;

impl HalfByHalf {
    /// Mod-up of digits, and their transforms.
    pub(super) fn raise<S: Lower>(
        self,
        lowering: &mut Lowering<'_, S>,
        whole: Decomposition,
    ) -> Digits {
        let digits = whole.runs().map(|run| {
            let digit = lowering.completed(&whole, &run, 1);
            lowering.in_form(&digit, Form::Values)
        });
        let digits = digits.collect();
        whole.digits(digits)
    }

    /// Σ digit·key for both halves.
    pub(super) fn sums<S: Lower>(
        self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
    ) -> [Part; 2] {
        [0, 1].map(|half| {
            let mut sum = None;
            for digit in 0..digits.parts.len() {
                let of = Half { digit, half };
                sum = Some(lowering.digit_times_key(digits, key, of, sum));
            }
            sum.unwrap_or_else(|| digits.parts[0].clone())
        })
    }
}

impl<S: Lower> KeySwitch<S> for HalfByHalf {
    type Sums = [Part; 2];

    fn mod_up(&self, lowering: &mut Lowering<'_, S>, part: &Part) -> Result<Digits, Error> {
        let whole = lowering.decompose(part)?;
        Ok(self.raise(lowering, whole))
    }

    fn inner_product(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
    ) -> Result<[Part; 2], Error> {
        let sums = self.sums(lowering, digits, key);
        Ok(sums.map(|sum| lowering.permuted(&sum, key.before)))
    }

    fn mod_down(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: [Part; 2],
        key: SwitchingKey,
        plus: [Option<&Part>; 2],
    ) -> Result<Vec<Part>, Error> {
        lowering.mod_down_in_turn(&sums, key, plus)
    }
}
