// SPDX-License-Identifier: Apache-2.0
//! The special primes of both halves of a key switch side by side, in a section of their own, on devices that hold two
//! sets of moduli and have lanes for all primes once: one transform takes both sums back to coefficients.

use super::lowering::{Lower, Lowering};
use super::switch::Digits;
use super::value::{Part, Source};
use crate::Error;
use ::polynomial::{Form, Limb, Operation as Op};

/// Σ digit·key of a key switch.
pub(super) struct Sums {
    /// Of each half, over the data primes.
    data: [Part; 2],
    /// Of both halves, over the special primes: coefficients.
    special: Vec<Limb>,
}

impl<S: Lower> Lowering<'_, S> {
    /// Σ digit·key for both halves, under x -> x^`before`. Sums over the special primes go to their section while the
    /// last digit is transformed, and so does its own limb there; then its product is the last of them.
    pub(super) fn sums_apart(
        &mut self,
        digits: &Digits,
        key: (Option<u64>, u64),
        before: u64,
    ) -> Sums {
        let last = digits.parts.len() - 1;
        let mut sums = [None, None];
        for number in 0..last {
            let digit = self.in_form(&digits.parts[number], Form::Values);
            for (half, sum) in sums.iter_mut().enumerate() {
                let key = self.key(digits, key, (number, half));
                *sum = Some(self.product_plus(&digit, &key, sum.take()));
            }
        }
        let digit = self.in_form(&digits.parts[last], Form::Values);
        let joined = match &sums {
            [Some(first), Some(second)] => Some(self.joined([first, second], digits.limbs)),
            _ => None,
        };
        let own = self.both_apart(&digit.limbs[digits.limbs..]);
        let special = self.special_key(digits.limbs, key, last);
        let special = self.product_plus(&own, &special, joined);
        let special = self.permuted(&special, before);
        let special = self.in_form(&special, Form::Coefficients).limbs;
        let digit = digit.prefix(digits.limbs);
        let mut half = 0;
        let data = sums.map(|sum| {
            let key = self.key(digits, key, (last, half));
            half += 1;
            let sum = self.product_plus(&digit, &key, sum);
            self.permuted(&sum, before)
        });
        Sums { data, special }
    }

    /// The sums divided by the special primes, plus addends.
    pub(super) fn switched_apart(
        &mut self,
        sums: &Sums,
        plus: [Option<&Part>; 2],
    ) -> Result<Vec<Part>, Error> {
        let Some(p) = self.scheme.chain().p else {
            return Err(Error::Input("a set without a special prime".to_owned()));
        };
        let halves = sums.special.chunks(p.len()).zip(&sums.data).zip(plus);
        let both = halves.map(|((special, data), plus)| {
            let plus = plus.map(|plus| self.in_form(plus, S::FORM));
            self.division_of(data, (&[special.to_vec()], &p), plus.as_ref())
        });
        let both = both.collect::<Result<Vec<_>, _>>()?;
        let quotients = both.into_iter().map(|one| self.quotient(one));
        Ok(quotients.collect())
    }

    /// Limbs over the special primes in the lanes of both halves.
    fn both_apart(&mut self, special: &[Limb]) -> Part {
        let each = special.repeat(2).into_iter().map(|limb| vec![limb]);
        let moduli = self.halves.special();
        Part {
            form: Form::Values,
            limbs: self.graph.convert_each(each.collect(), &moduli, self.task),
        }
    }

    /// The limbs of two sums over the special primes, each in the lanes of its half.
    fn joined(&mut self, sums: [&Part; 2], limbs: usize) -> Part {
        let [first, second] = sums.map(|sum| self.both_apart(&sum.limbs[limbs..]));
        let half = first.limbs.len() / 2;
        let only = |taken: usize| (0..2 * half).map(move |lane| u128::from(lane / half == taken));
        let first = self.by_limb(Op::Scale(only(0).collect()), &[&first]);
        self.by_limb(Op::ScaleAdd(only(1).collect()), &[&second, &first])
    }

    /// Both halves of a digit of a key over the special primes.
    fn special_key(
        &mut self,
        limbs: usize,
        (element, inverse): (Option<u64>, u64),
        digit: usize,
    ) -> Part {
        let source = Source::SpecialKey {
            element,
            permuted: inverse,
            digit,
            limbs,
        };
        let moduli = self.halves.special();
        Part {
            form: Form::Values,
            limbs: self.source_over(source, &moduli),
        }
    }
}
