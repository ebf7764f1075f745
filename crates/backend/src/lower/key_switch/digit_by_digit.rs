// SPDX-License-Identifier: Apache-2.0
//! One digit after another: each is raised and transformed just before both halves of its key are multiplied by it, so
//! that an engine converts bases beside products.

use super::arrangement::DigitByDigit;
use super::decompose::Digits;
use super::gadget::{Half, SwitchingKey};
use super::steps::KeySwitch;
use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;
use ::polynomial::{Form, Limb, PolyOp};

impl DigitByDigit {
    /// Σ digit·key for both halves, plus values that are given.
    pub(super) fn sums<S: Lower>(
        self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
        mut sums: [Option<Part>; 2],
    ) -> [Part; 2] {
        for digit in 0..digits.parts.len() {
            for (half, sum) in sums.iter_mut().enumerate() {
                let of = Half { digit, half };
                *sum = Some(lowering.digit_times_key(digits, key, of, sum.take()));
            }
        }
        sums.map(|sum| sum.unwrap_or_else(|| digits.parts[0].clone()))
    }
}

impl<S: Lower> KeySwitch<S> for DigitByDigit {
    type Sums = [Part; 2];

    fn mod_up(&self, lowering: &mut Lowering<'_, S>, part: &Part) -> Result<Digits, Error> {
        let whole = match self.is_major {
            false => lowering.decompose(part)?,
            true => lowering.decompose_by_limb(part)?,
        };
        let digits = whole.runs().map(|run| lowering.raised(&whole, &run, 1));
        let digits = digits.collect();
        Ok(whole.digits(digits))
    }

    fn inner_product(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
    ) -> Result<[Part; 2], Error> {
        let sums = self.sums(lowering, digits, key, [None, None]);
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

    /// Without special primes a sum of products is added to the values of a part whose inverse transform is still to
    /// come, so that one transform serves both.
    fn relinearize(
        &self,
        lowering: &mut Lowering<'_, S>,
        parts: &[Part],
    ) -> Result<Vec<Part>, Error> {
        let key = SwitchingKey::RELINEARIZATION;
        let digits = self.mod_up(lowering, &parts[2])?;
        let own = [&parts[0], &parts[1]];
        let [Some(first), Some(second)] = own.map(|part| lowering.unfinished(part)) else {
            let sums = self.inner_product(lowering, &digits, key)?;
            return self.mod_down(lowering, sums, key, own.map(Some));
        };
        let values = [Some(first.values), Some(second.values)];
        let sums = self.sums(lowering, &digits, key, values);
        let plus = [Some(&first.plus), Some(&second.plus)];
        self.mod_down(lowering, sums, key, plus)
    }
}

/// A part that is the inverse transform of values, plus coefficients.
struct Unfinished {
    values: Part,
    plus: Part,
}

impl<S: Lower> Lowering<'_, S> {
    /// A part's operands, if it is such a sum; with special primes the products are divided first.
    fn unfinished(&self, part: &Part) -> Option<Unfinished> {
        if !self.converts || S::FORM == Form::Values || self.scheme.chain().p.is_some() {
            return None;
        }
        let is_whole = |limbs: &[Limb]| {
            let bundle = self.graph.bundle_of(limbs[0]);
            bundle.limbs().eq(limbs.iter().copied()).then_some(bundle)
        };
        let sum = is_whole(&part.limbs).filter(|sum| sum.operation == PolyOp::Add)?;
        let transform = is_whole(&sum.operands[0]).filter(|made| made.operation == PolyOp::Intt)?;
        let of = |form, limbs: &[Limb]| Part {
            form,
            limbs: limbs.to_vec(),
        };
        Some(Unfinished {
            values: of(Form::Values, &transform.operands[0]),
            plus: of(Form::Coefficients, &sum.operands[1]),
        })
    }
}
