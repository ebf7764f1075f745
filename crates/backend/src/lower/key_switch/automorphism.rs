// SPDX-License-Identifier: Apache-2.0
//! Automorphisms x -> x^g, and where a key switch applies them.

use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;
use ::polynomial::{Form, PolyOp};
use rns::{CentredLift, RnsBasis};

impl<S: Lower> Lowering<'_, S> {
    /// The image under x -> x^`element`; by values, where moves permute those.
    pub(in crate::lower) fn permuted(&mut self, part: &Part, element: u64) -> Part {
        if element == 1 {
            return part.clone();
        }
        let form = if self.moves { Form::Values } else { part.form };
        let operand = self.in_form(part, form);
        let permuted = self.by_limb(PolyOp::Permute { element, form }, &[&operand]);
        self.in_form(&permuted, part.form)
    }

    /// The automorphisms before and after the division by the special primes, one of them the identity. After it there
    /// are fewer limbs. But moves permute values, and where representatives are not odd functions of the residues the
    /// remainder is that of the permuted sum.
    pub(super) fn around_division(&self, element: u64) -> [u64; 2] {
        let special = self.scheme.chain().p;
        let is_odd = |p: &RnsBasis<S::Word>| p.moduli().iter().all(CentredLift::is_odd);
        let by_values = self.moves && S::FORM == Form::Coefficients;
        match by_values || !special.as_ref().is_none_or(is_odd) {
            true => [element, 1],
            false => [1, element],
        }
    }
}

/// 1/g modulo 2n: odd numbers modulo 2n are a group of exponent n/2, or n for the smallest rings.
pub(super) fn inverse_element(g: u64, n: u64) -> u64 {
    let (modulus, mut inverse) = (u128::from(2 * n), 1);
    // Newton: each round doubles the bits that are right; odd g is its own inverse modulo 8.
    for _ in 0..6 {
        let error = (2 * modulus + 2 - u128::from(g) * inverse % modulus) % modulus;
        inverse = inverse * error % modulus;
    }
    inverse as u64
}

#[cfg(test)]
mod tests {
    use super::inverse_element;

    #[test]
    fn elements_times_their_inverses_are_one() {
        for n in [8, 64, 4096, 32768] {
            for g in (1..2 * n).step_by(2) {
                assert_eq!(
                    g * inverse_element(g, n) % (2 * n),
                    1,
                    "{g} modulo {}",
                    2 * n
                );
            }
        }
    }
}
