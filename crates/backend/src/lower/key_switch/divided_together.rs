// SPDX-License-Identifier: Apache-2.0
//! Digit by digit, both halves divided together: the remainder of one goes from lane to lane while that of the other is
//! transformed. In several sections it would take slots from the keys of the next switch.

use super::arrangement::DigitByDigit;
use super::decompose::Digits;
use super::gadget::SwitchingKey;
use super::steps::KeySwitch;
use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct DividedTogether;

impl<S: Lower> KeySwitch<S> for DividedTogether {
    type Sums = [Part; 2];

    fn mod_up(&self, lowering: &mut Lowering<'_, S>, part: &Part) -> Result<Digits, Error> {
        DigitByDigit::default().mod_up(lowering, part)
    }

    fn inner_product(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
    ) -> Result<[Part; 2], Error> {
        DigitByDigit::default().inner_product(lowering, digits, key)
    }

    fn mod_down(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: [Part; 2],
        key: SwitchingKey,
        plus: [Option<&Part>; 2],
    ) -> Result<Vec<Part>, Error> {
        let p = lowering.special_basis()?;
        lowering.between_automorphisms(key, plus, |lowering, plus| {
            let both = sums.iter().zip(plus).map(|(sum, plus)| {
                let plus = plus.map(|plus| lowering.in_form(&plus, S::FORM));
                lowering.division(sum, 1, &p, plus.as_ref())
            });
            let both = both.collect::<Result<Vec<_>, _>>()?;
            Ok(both.into_iter().map(|one| lowering.quotient(one)).collect())
        })
    }
}
