// SPDX-License-Identifier: Apache-2.0
//! The key of a switch: for each digit of the gadget two halves, which the digits are multiplied by.

use super::automorphism::inverse_element;
use super::decompose::Digits;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::{Part, Source};
use ::polynomial::{Form, PolyOp};

/// A key and the automorphism x -> x^g around it: digits of the ciphertext as it is are multiplied by the key under
/// 1/g, then g is applied to the sums or to their quotients.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct SwitchingKey {
    /// g of a Galois key; `None`: the relinearization key.
    pub(super) element: Option<u64>,
    /// 1/g modulo 2n.
    pub(super) inverse: u64,
    /// Applied before the division by the special primes: g or 1.
    pub(super) before: u64,
    /// Applied after it: 1 or g.
    pub(super) after: u64,
}

/// Half of a digit of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub(super) digit: usize,
    /// 0 or 1.
    pub(super) half: usize,
}

impl SwitchingKey {
    /// The relinearization key.
    pub(super) const RELINEARIZATION: Self = Self {
        element: None,
        inverse: 1,
        before: 1,
        after: 1,
    };

    /// The same where sums are used before they are divided.
    pub(super) fn undivided(self) -> Self {
        Self {
            before: self.element.unwrap_or(1),
            after: 1,
            ..self
        }
    }
}

impl<S: Lower> Lowering<'_, S> {
    /// The key of an automorphism.
    pub(in crate::lower) fn galois_key(&self, element: u64) -> SwitchingKey {
        let [before, after] = self.around_division(element);
        SwitchingKey {
            element: Some(element),
            inverse: inverse_element(element, self.graph.n() as u64),
            before,
            after,
        }
    }

    /// Half of a digit of a key, permuted by the host where permutations would cost the device time.
    pub(super) fn key_half(&mut self, digits: &Digits, key: SwitchingKey, of: Half) -> Part {
        let source = Source::Key {
            element: key.element,
            permuted: if self.moves { key.inverse } else { 1 },
            digit: of.digit,
            half: of.half,
            limbs: digits.limbs,
            wide: digits.wide,
        };
        let given = Part {
            form: Form::Values,
            limbs: self.source_over(source, &digits.moduli),
        };
        match self.moves {
            true => given,
            false => self.permuted(&given, key.inverse),
        }
    }

    /// A term of an inner product, plus the terms before it.
    pub(super) fn digit_times_key(
        &mut self,
        digits: &Digits,
        key: SwitchingKey,
        of: Half,
        sum: Option<Part>,
    ) -> Part {
        let digit = self.in_form(&digits.parts[of.digit], Form::Values);
        let key = self.key_half(digits, key, of);
        self.product_plus(&digit, &key, sum)
    }

    /// a·b, plus a sum if there is one.
    pub(super) fn product_plus(&mut self, a: &Part, b: &Part, sum: Option<Part>) -> Part {
        match sum {
            None => self.by_limb(PolyOp::Mul, &[a, b]),
            Some(sum) => self.by_limb(PolyOp::MulAdd, &[a, b, &sum]),
        }
    }
}
