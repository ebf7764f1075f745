// SPDX-License-Identifier: Apache-2.0
//! Both halves at once, on engines whose lanes hold all primes twice: one product for each digit, one transform of the
//! dividend and one of the remainder.

use super::decompose::Digits;
use super::gadget::{Half, SwitchingKey};
use super::steps::KeySwitch;
use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;
use ::polynomial::{Form, Limb, PolyOp};

/// See the module. Sums are one part, the second half's limbs after the first half's.
#[derive(Clone, Copy)]
pub(super) struct Mirrored;

impl Mirrored {
    /// Σ digit·key for both halves, plus values that are given.
    pub(super) fn sums<S: Lower>(
        self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
        mut sum: Option<Part>,
    ) -> Result<Part, Error> {
        for number in 0..digits.parts.len() {
            let digit = lowering.in_form(&digits.parts[number], Form::Values);
            let [mut both, second] = [0, 1].map(|half| {
                let of = Half {
                    digit: number,
                    half,
                };
                lowering.key_half(digits, key, of)
            });
            both.limbs.extend(second.limbs);
            sum = Some(lowering.product_plus(&digit, &both, sum));
        }
        sum.ok_or_else(|| Error::Input("a ciphertext without limbs".to_owned()))
    }
}

impl<S: Lower> KeySwitch<S> for Mirrored {
    type Sums = Part;

    fn mod_up(&self, lowering: &mut Lowering<'_, S>, part: &Part) -> Result<Digits, Error> {
        let whole = lowering.decompose(part)?;
        let digits = whole.runs().map(|run| lowering.raised(&whole, &run, 2));
        let digits = digits.collect();
        Ok(whole.digits(digits))
    }

    fn inner_product(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
    ) -> Result<Part, Error> {
        self.sums(lowering, digits, key, None)
    }

    /// Addends of a rotation are added as values: automorphisms are applied to those.
    fn mod_down(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: Part,
        key: SwitchingKey,
        plus: [Option<&Part>; 2],
    ) -> Result<Vec<Part>, Error> {
        let p = lowering.special_basis()?;
        let form = match key.element {
            Some(_) => Form::Values,
            None => S::FORM,
        };
        // Beside the division, when all digits and keys have come.
        let plus = plus.map(|plus| match key.element {
            Some(element) => plus.map(|own| {
                let own = lowering.in_form(own, form);
                lowering.permuted(&own, element)
            }),
            None => plus.cloned(),
        });
        let sum = lowering.permuted(&sums, key.before);
        let divided = lowering.divided_by_last(&sum, 2, &p)?;
        let turned = lowering.permuted(&divided, key.after);
        let halves = lowering.parted(&turned).into_iter().zip(plus);
        let parts = halves.map(|(half, plus)| {
            let sum = match plus {
                None => half,
                Some(own) => {
                    let own = lowering.in_form(&own, form);
                    let half = lowering.in_form(&half, form);
                    lowering.by_limb(PolyOp::Add, &[&half, &own])
                }
            };
            lowering.in_form(&sum, S::FORM)
        });
        Ok(parts.collect())
    }
}

impl<S: Lower> Lowering<'_, S> {
    /// Both halves of a part in parallel lanes, each in the lanes of the first.
    pub(super) fn parted(&mut self, both: &Part) -> [Part; 2] {
        let (first, second) = both.limbs.split_at(both.limbs.len() / 2);
        // The second half goes to the lanes of the first.
        let moduli = self.graph.moduli_of(second);
        let each = second.iter().map(|limb| vec![*limb]).collect();
        let second = self.graph.convert_each(each, &moduli, self.task);
        let part = |limbs: Vec<Limb>| Part {
            form: both.form,
            limbs,
        };
        [part(first.to_vec()), part(second)]
    }
}
