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
    /// Both halves of a key switch in parallel, divided by the special prime: one product for each digit, one transform
    /// of the dividend, one of the remainder. Then permuted by x -> x^`element`.
    pub(super) fn both_switched(
        &mut self,
        digits: &Digits,
        (element, inverse): (Option<u64>, u64),
        task: u32,
    ) -> Result<[Part; 2], Error> {
        let mut sum: Option<Part> = None;
        for number in 0..digits.parts.len() {
            let digit = self.in_form(&digits.parts[number], Form::Values, task);
            let mut key = self.key(digits, (element, inverse), (number, 0), task);
            let second = self.key(digits, (element, inverse), (number, 1), task);
            key.limbs.extend(second.limbs);
            sum = Some(match sum {
                None => self.by_limb(Op::Mul, &[&digit, &key], task),
                Some(sum) => self.by_limb(Op::MulAdd, &[&digit, &key, &sum], task),
            });
        }
        let (Some(sum), Some(p)) = (sum, self.scheme.chain().p) else {
            return Err(Error::Input("a ciphertext without limbs".to_owned()));
        };
        let divided = self.divided_by_one(&sum, 2, &p, task)?;
        let turned = self.permuted(&divided, element.unwrap_or(1), task);
        let (first, second) = turned.limbs.split_at(digits.limbs);
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
