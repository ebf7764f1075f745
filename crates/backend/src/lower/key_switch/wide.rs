// SPDX-License-Identifier: Apache-2.0
//! Half by half over a few wide primes, where those hold a sum of products of digits and keys and are fewer than the
//! primes of the set. The sum is an integer: its residues modulo the primes of the set are the same.

use super::decompose::{Decomposition, Digits};
use super::gadget::SwitchingKey;
use super::half_by_half::HalfByHalf;
use super::steps::KeySwitch;
use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;
use ::polynomial::Form;
use rns::RnsBasis;

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct OverWidePrimes;

impl<S: Lower> KeySwitch<S> for OverWidePrimes {
    type Sums = [Part; 2];

    fn mod_up(&self, lowering: &mut Lowering<'_, S>, part: &Part) -> Result<Digits, Error> {
        let whole = lowering.decompose(part)?;
        let Some(wide) = lowering.wide_for(&whole)? else {
            return Ok(HalfByHalf.raise(lowering, whole));
        };
        let digits = whole.runs().map(|run| {
            let moduli = lowering.graph.basis(&wide);
            let form = Form::Coefficients;
            let limbs = lowering.centred(&[whole.digit(&run)], &moduli);
            lowering.in_form(&Part { form, limbs }, Form::Values)
        });
        let digits = digits.collect();
        Ok(Digits {
            moduli: lowering.graph.basis(&wide),
            wide: wide.len(),
            ..whole.digits(digits)
        })
    }

    fn inner_product(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        key: SwitchingKey,
    ) -> Result<[Part; 2], Error> {
        let mut sums = HalfByHalf.sums(lowering, digits, key);
        if digits.wide > 0 {
            let mut all = lowering.moduli(digits.limbs)?;
            all.extend(lowering.special());
            sums = sums.map(|sum| lowering.narrowed(&sum, &all));
        }
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
}

impl<S: Lower> Lowering<'_, S> {
    /// Wide primes that hold a sum of products of digits and keys, if that pays.
    fn wide_for(&mut self, whole: &Decomposition) -> Result<Option<RnsBasis<S::Word>>, Error> {
        // A key's coefficient is at most QP/2, a digit's at most half the product of its primes.
        let bits = |moduli: &[u16]| -> u64 {
            let of = |m: &u16| u64::from(self.graph.plans()[usize::from(*m)].modulus().bits());
            moduli.iter().map(of).sum()
        };
        let (limbs, step) = (whole.limbs.len(), whole.digit_len);
        let digits = whole.moduli[..limbs].chunks(step);
        let digit = digits.map(bits).max().unwrap_or(0);
        let terms = limbs.div_ceil(step).next_power_of_two().ilog2() + self.graph.n().ilog2();
        let needed = digit + bits(&whole.moduli) + u64::from(terms);
        self.wide_basis(needed, whole.moduli.len())
    }

    /// A sum over wide primes as one over the primes of the set, coefficients.
    fn narrowed(&mut self, sum: &Part, to: &[u16]) -> Part {
        let whole = self.in_form(sum, Form::Coefficients).limbs;
        Part {
            form: Form::Coefficients,
            limbs: self.graph.convert(&whole, to, self.task),
        }
    }
}
