// SPDX-License-Identifier: Apache-2.0
//! Polynomials in parallel lanes: both halves of a key switch at once, on devices whose lanes hold all primes twice,
//! and divisions by a few primes, whose remainder is moved from lane to lane.

use super::halves::Halves;
use super::lowering::{Lower, Lowering};
use super::switch::{Digits, quotient};
use super::value::Part;
use crate::Error;
use ::polynomial::{Form, Limb, Operation as Op};
use rns::RnsBasis;
use std::ops::Range;
use zq::Word;

/// A division by primes D that waits for the transform of the remainder.
pub(super) struct Division {
    /// x / D, and what is added to the quotient.
    scaled: Part,
    /// [x]_D, coefficients.
    remainder: Vec<Limb>,
    /// −1/D by limb.
    negated: Vec<u128>,
}

impl<S: Lower> Lowering<'_, S> {
    /// Σ digit·key for both halves of a key switch in parallel, one product for each digit; plus values that are given.
    pub(super) fn both_sums(
        &mut self,
        digits: &Digits,
        key: (Option<u64>, u64),
        mut sum: Option<Part>,
    ) -> Result<Part, Error> {
        for number in 0..digits.parts.len() {
            let digit = self.in_form(&digits.parts[number], Form::Values);
            let mut halves = self.key(digits, key, (number, 0));
            let second = self.key(digits, key, (number, 1));
            halves.limbs.extend(second.limbs);
            sum = Some(match sum {
                None => self.by_limb(Op::Mul, &[&digit, &halves]),
                Some(sum) => self.by_limb(Op::MulAdd, &[&digit, &halves, &sum]),
            });
        }
        sum.ok_or_else(|| Error::Input("a ciphertext without limbs".to_owned()))
    }

    /// The sums of both halves divided by the special primes, by one transform of the dividend and one of the
    /// remainder; then permuted by x -> x^`element`.
    pub(super) fn both_switched(&mut self, sum: &Part, element: u64) -> Result<[Part; 2], Error> {
        let Some(p) = self.scheme.chain().p else {
            return Err(Error::Input("a set without a special prime".to_owned()));
        };
        let divided = self.divided_by_last(sum, 2, &p)?;
        let turned = self.permuted(&divided, element);
        Ok(self.parted(&turned))
    }

    /// A relinearisation by both halves at once.
    pub(super) fn both_relinearized(
        &mut self,
        digits: &Digits,
        own: [&Part; 2],
    ) -> Result<Vec<Part>, Error> {
        let sum = self.both_sums(digits, (None, 1), None)?;
        let sums = self.both_switched(&sum, 1)?;
        let parts = sums.iter().zip(own).map(|(sum, own)| {
            let own = self.in_form(own, S::FORM);
            let sum = self.in_form(sum, S::FORM);
            self.by_limb(Op::Add, &[&sum, &own])
        });
        Ok(parts.collect())
    }

    /// A rotation by both halves at once; `own` is the part without a key.
    pub(super) fn both_rotated(
        &mut self,
        digits: &Digits,
        (element, inverse): (u64, u64),
        own: &Part,
    ) -> Result<Vec<Part>, Error> {
        let sum = self.both_sums(digits, (Some(element), inverse), None)?;
        // Beside the division, when all digits and keys have come.
        let own = self.in_form(own, Form::Values);
        let own = self.permuted(&own, element);
        let [before, after] = self.around_division(element);
        let sum = self.permuted(&sum, before);
        let [first, second] = self.both_switched(&sum, after)?;
        let first = self.by_limb(Op::Add, &[&first, &own]);
        let parts = [first, second].map(|part| self.in_form(&part, S::FORM));
        Ok(parts.to_vec())
    }

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

    /// round(x / D) of parts in parallel lanes, D the product of the last primes of each: (x − [x]_D) / D, the
    /// remainder centred.
    pub(super) fn divided_by_last(
        &mut self,
        part: &Part,
        sides: usize,
        dropped: &RnsBasis<S::Word>,
    ) -> Result<Part, Error> {
        let division = self.division(part, (sides, dropped), None)?;
        Ok(self.quotient(division))
    }

    /// The same up to the remainder, which goes to all lanes; plus what is given.
    pub(super) fn division(
        &mut self,
        part: &Part,
        (sides, dropped): (usize, &RnsBasis<S::Word>),
        plus: Option<&Part>,
    ) -> Result<Division, Error> {
        let side = part.limbs.len() / sides;
        let split = side - dropped.len();
        let gather = |range: Range<usize>| Part {
            form: part.form,
            limbs: (part.limbs.chunks(side))
                .flat_map(|limbs| &limbs[range.clone()])
                .copied()
                .collect(),
        };
        let (kept, last) = (gather(0..split), gather(split..side));
        let last = self.in_form(&last, Form::Coefficients).limbs;
        let last: Vec<Vec<Limb>> = last.chunks(dropped.len()).map(<[Limb]>::to_vec).collect();
        self.division_of(&kept, (&last, dropped), plus)
    }

    /// The same of parts whose limbs over the dropped primes, coefficients, stand elsewhere.
    pub(super) fn division_of(
        &mut self,
        kept: &Part,
        (last, dropped): (&[Vec<Limb>], &RnsBasis<S::Word>),
        plus: Option<&Part>,
    ) -> Result<Division, Error> {
        let moduli = self.graph.moduli_of(&kept.limbs);
        let inverse = |m: &u16| quotient(self.graph.plans()[usize::from(*m)].modulus(), 1, dropped);
        let inverses = moduli.iter().map(inverse).collect::<Result<Vec<_>, _>>()?;
        let negated = moduli.iter().zip(&inverses).map(|(&m, &inverse)| {
            let modulus = self.graph.plans()[usize::from(m)].modulus();
            modulus.neg(inverse).to_u128()
        });
        let negated = negated.collect();
        let factors = inverses.iter().map(|inverse| inverse.to_u128()).collect();
        // While the remainder goes from lane to lane.
        let scaled = match plus {
            None => self.by_limb(Op::Scale(factors), &[kept]),
            Some(plus) => self.by_limb(Op::ScaleAdd(factors), &[kept, plus]),
        };
        let one = &moduli[..moduli.len() / last.len()];
        Ok(Division {
            scaled,
            remainder: self.centred(last, (one, 1)),
            negated,
        })
    }

    /// The result of a division.
    pub(super) fn quotient(&mut self, division: Division) -> Part {
        let remainder = Part {
            form: Form::Coefficients,
            limbs: division.remainder,
        };
        let remainder = self.in_form(&remainder, division.scaled.form);
        let negated = Op::ScaleAdd(division.negated);
        self.by_limb(negated, &[&remainder, &division.scaled])
    }

    /// P times two polynomials over the data primes, over the special primes too, where that is 0: what is added to the
    /// sums before they are divided. One part where both halves are computed at once.
    pub(super) fn addends(&mut self, parts: [&Part; 2], special: &RnsBasis<S::Word>) -> Vec<Part> {
        let data = self.graph.moduli_of(&parts[0].limbs);
        let mut factors: Vec<u128> = data.iter().map(|&m| self.residue(m, special)).collect();
        let moduli = [data, self.special()].concat();
        factors.resize(moduli.len(), 0);
        let none = vec![0; moduli.len()];
        let mut sums: Vec<Part> = Vec::with_capacity(2);
        for (half, part) in parts.into_iter().enumerate() {
            let is_mirrored = self.halves == Halves::Mirrored;
            let (sides, factors) = match (is_mirrored, half) {
                (false, _) => (1, factors.clone()),
                (true, 0) => (2, [&factors[..], &none].concat()),
                (true, _) => (2, [&none[..], &factors].concat()),
            };
            // Modulo a special prime anything does; the last limb is in its lanes' section if any is.
            let end = part.limbs.len() - 1;
            let limb = |i: usize| vec![part.limbs[i.min(end)]];
            let each = (0..factors.len()).map(|i| limb(i % moduli.len()));
            let moved = Part {
                form: part.form,
                limbs: (self.graph).convert_each(each.collect(), &moduli.repeat(sides), self.task),
            };
            let sum = if is_mirrored { sums.pop() } else { None };
            sums.push(match sum {
                None => self.by_limb(Op::Scale(factors), &[&moved]),
                Some(sum) => self.by_limb(Op::ScaleAdd(factors), &[&moved, &sum]),
            });
        }
        sums
    }
}
