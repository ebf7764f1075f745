// SPDX-License-Identifier: Apache-2.0
//! Digit by digit, the special primes of both halves side by side in a section of their own, on engines that hold two
//! sets of moduli and have lanes for all primes once: one transform takes both sums back to coefficients.

use super::arrangement::{DigitByDigit, SpecialTogether};
use super::decompose::Digits;
use super::gadget::{Half, SwitchingKey};
use super::steps::KeySwitch;
use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::{Part, Source};
use ::polynomial::{Form, Limb, PolyOp};

/// Σ digit·key of a key switch.
pub(super) struct Sums {
    /// Of each half, over the data primes.
    data: [Part; 2],
    /// Of both halves, over the special primes: coefficients.
    special: Vec<Limb>,
}

impl<S: Lower> KeySwitch<S> for SpecialTogether {
    type Sums = Sums;

    fn mod_up(&self, lowering: &mut Lowering<'_, S>, part: &Part) -> Result<Digits, Error> {
        DigitByDigit::default().mod_up(lowering, part)
    }

    /// Sums over the special primes go to their section while the last digit is transformed, and so does its own limb
    /// there; then its product is the last of them.
    fn inner_product(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
    ) -> Result<Sums, Error> {
        let last = digits.parts.len() - 1;
        let mut sums = [None, None];
        for number in 0..last {
            for (half, sum) in sums.iter_mut().enumerate() {
                let of = Half {
                    digit: number,
                    half,
                };
                *sum = Some(lowering.digit_times_key(digits, key, of, sum.take()));
            }
        }
        let digit = lowering.in_form(&digits.parts[last], Form::Values);
        let before = match &sums {
            [Some(first), Some(second)] => {
                Some(self.joined(lowering, [first, second], digits.limbs))
            }
            _ => None,
        };
        let own = self.moved(lowering, &digit.limbs[digits.limbs..]);
        let special = self.key(lowering, digits.limbs, key, last);
        let special = lowering.product_plus(&own, &special, before);
        let special = lowering.permuted(&special, key.before);
        let special = lowering.in_form(&special, Form::Coefficients).limbs;
        let digit = digit.prefix(digits.limbs);
        let mut half = 0;
        let data = sums.map(|sum| {
            let factor = lowering.key_half(digits, key, Half { digit: last, half });
            half += 1;
            let sum = lowering.product_plus(&digit, &factor, sum);
            lowering.permuted(&sum, key.before)
        });
        Ok(Sums { data, special })
    }

    fn mod_down(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: Sums,
        key: SwitchingKey,
        plus: [Option<&Part>; 2],
    ) -> Result<Vec<Part>, Error> {
        let p = lowering.special_basis()?;
        lowering.between_automorphisms(key, plus, |lowering, plus| {
            let halves = sums.special.chunks(p.len()).zip(&sums.data).zip(plus);
            let both = halves.map(|((special, data), plus)| {
                let plus = plus.map(|plus| lowering.in_form(&plus, S::FORM));
                lowering.division_of(data, &[special.to_vec()], &p, plus.as_ref())
            });
            let both = both.collect::<Result<Vec<_>, _>>()?;
            Ok(both.into_iter().map(|one| lowering.quotient(one)).collect())
        })
    }
}

impl SpecialTogether {
    /// Limbs over the special primes in the lanes of both halves.
    fn moved<S: Lower>(&self, lowering: &mut Lowering<'_, S>, special: &[Limb]) -> Part {
        let each = special.repeat(2).into_iter().map(|limb| vec![limb]);
        let task = lowering.task;
        Part {
            form: Form::Values,
            limbs: (lowering.graph).convert_each(each.collect(), &self.special, task),
        }
    }

    /// The limbs of two sums over the special primes, each in the lanes of its half.
    fn joined<S: Lower>(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: [&Part; 2],
        limbs: usize,
    ) -> Part {
        let [first, second] = sums.map(|sum| self.moved(lowering, &sum.limbs[limbs..]));
        let half = first.limbs.len() / 2;
        let only = |taken: usize| (0..2 * half).map(move |lane| u128::from(lane / half == taken));
        let first = lowering.by_limb(PolyOp::Scale(only(0).collect()), &[&first]);
        lowering.by_limb(PolyOp::ScaleAdd(only(1).collect()), &[&second, &first])
    }

    /// Both halves of a digit of a key over the special primes.
    fn key<S: Lower>(
        &self,
        lowering: &mut Lowering<'_, S>,
        limbs: usize,
        key: SwitchingKey,
        digit: usize,
    ) -> Part {
        let source = Source::SpecialKey {
            element: key.element,
            permuted: key.inverse,
            digit,
            limbs,
        };
        Part {
            form: Form::Values,
            limbs: lowering.source_over(source, &self.special),
        }
    }
}
