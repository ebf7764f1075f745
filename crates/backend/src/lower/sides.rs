// SPDX-License-Identifier: Apache-2.0
//! Polynomials in parallel lanes: both halves of a key switch at once, on devices whose lanes hold all primes twice,
//! and divisions by one prime, whose remainder is moved from lane to lane.

use super::switch::{Digits, quotient};
use super::{Lower, Lowering, Part};
use crate::Error;
use ::polynomial::{Form, Limb, Operation as Op};
use rns::RnsBasis;
use zq::Word;

impl<S: Lower> Lowering<'_, S> {
    /// Σ digit·key for both halves of a key switch in parallel: one product for each digit.
    pub(super) fn both_sums(
        &mut self,
        digits: &Digits,
        key: (Option<u64>, u64),
        task: u32,
    ) -> Result<Part, Error> {
        let mut sum: Option<Part> = None;
        for number in 0..digits.parts.len() {
            let digit = self.in_form(&digits.parts[number], Form::Values, task);
            let mut halves = self.key(digits, key, (number, 0), task);
            let second = self.key(digits, key, (number, 1), task);
            halves.limbs.extend(second.limbs);
            sum = Some(match sum {
                None => self.by_limb(Op::Mul, &[&digit, &halves], task),
                Some(sum) => self.by_limb(Op::MulAdd, &[&digit, &halves, &sum], task),
            });
        }
        sum.ok_or_else(|| Error::Input("a ciphertext without limbs".to_owned()))
    }

    /// The sums of both halves divided by the special prime, by one transform of the dividend and one of the remainder;
    /// then permuted by x -> x^`element`.
    pub(super) fn both_switched(
        &mut self,
        sum: &Part,
        element: u64,
        task: u32,
    ) -> Result<[Part; 2], Error> {
        let Some(p) = self.scheme.chain().p else {
            return Err(Error::Input("a set without a special prime".to_owned()));
        };
        let divided = self.divided_by_one(sum, 2, &p, task)?;
        let turned = self.permuted(&divided, element, task);
        let (first, second) = turned.limbs.split_at(turned.limbs.len() / 2);
        // The second half goes to the lanes of the first.
        let moduli = self.graph.moduli_of(second);
        let each = second.iter().map(|limb| vec![*limb]).collect();
        let second = self.graph.convert_each(each, &moduli, task);
        let part = |limbs: Vec<Limb>| Part {
            form: turned.form,
            limbs,
        };
        Ok([part(first.to_vec()), part(second)])
    }

    /// round(x / q) of parts in parallel lanes, q the last prime of each: (x − [x]_q) / q, [x]_q centred.
    pub(super) fn divided_by_one(
        &mut self,
        part: &Part,
        sides: usize,
        q: &RnsBasis<S::Word>,
        task: u32,
    ) -> Result<Part, Error> {
        let side = part.limbs.len() / sides;
        let all = || part.limbs.chunks(side);
        let last = all().map(|limbs| limbs[side - 1]).collect();
        let last = Part {
            form: part.form,
            limbs: last,
        };
        let kept = Part {
            form: part.form,
            limbs: all()
                .flat_map(|limbs| &limbs[..side - 1])
                .copied()
                .collect(),
        };
        let last = self.in_form(&last, Form::Coefficients, task).limbs;
        let moduli = self.graph.moduli_of(&kept.limbs);
        let inverse = |m: &u16| quotient(self.graph.plans()[usize::from(*m)].modulus(), 1, q);
        let inverses = moduli.iter().map(inverse).collect::<Result<Vec<_>, _>>()?;
        let negated = moduli.iter().zip(&inverses).map(|(&m, &inverse)| {
            let modulus = self.graph.plans()[usize::from(m)].modulus();
            modulus.neg(inverse).to_u128()
        });
        let negated = negated.collect();
        let factors = inverses.iter().map(|inverse| inverse.to_u128()).collect();
        // While the remainder goes from lane to lane.
        let scaled = self.by_limb(Op::Scale(factors), &[&kept], task);
        let each = last.iter().map(|limb| vec![*limb]).collect();
        let remainder = Part {
            form: Form::Coefficients,
            limbs: self.graph.convert_each(each, &moduli, task),
        };
        let remainder = self.in_form(&remainder, part.form, task);
        Ok(self.by_limb(Op::ScaleAdd(negated), &[&remainder, &scaled], task))
    }
}
