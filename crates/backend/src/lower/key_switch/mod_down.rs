// SPDX-License-Identifier: Apache-2.0
//! Mod-down: division by the special primes, and by other last primes, rounded.

use super::gadget::SwitchingKey;
use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::{Part, Value};
use ::polynomial::{Form, Limb, PolyOp};
use rns::RnsBasis;
use std::ops::Range;
use zq::{Modulus, Word};

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
    /// A sum divided by the special primes, in the scheme's form.
    pub(in crate::lower) fn mod_down(&mut self, sum: &Part) -> Result<Part, Error> {
        let sum = self.in_form(sum, S::FORM);
        match self.scheme.chain().p {
            None => Ok(sum),
            Some(p) => self.divided(&sum, &p),
        }
    }

    /// Sums divided one after the other, plus addends, under a key's automorphism.
    pub(super) fn mod_down_in_turn(
        &mut self,
        sums: &[Part; 2],
        key: SwitchingKey,
        plus: [Option<&Part>; 2],
    ) -> Result<Vec<Part>, Error> {
        self.between_automorphisms(key, plus, |lowering, plus| {
            let one = |(sum, plus): (&Part, Option<Part>)| {
                let divided = lowering.mod_down(sum)?;
                Ok(match plus {
                    None => divided,
                    Some(plus) => {
                        let plus = lowering.in_form(&plus, S::FORM);
                        lowering.by_limb(PolyOp::Add, &[&divided, &plus])
                    }
                })
            };
            sums.iter().zip(plus).map(one).collect()
        })
    }

    /// A division of sums that are under the key's first automorphism, as the addends will be; then the second.
    pub(super) fn between_automorphisms(
        &mut self,
        key: SwitchingKey,
        plus: [Option<&Part>; 2],
        divide: impl FnOnce(&mut Self, [Option<Part>; 2]) -> Result<Vec<Part>, Error>,
    ) -> Result<Vec<Part>, Error> {
        let plus = plus.map(|part| part.map(|part| self.permuted(part, key.before)));
        let parts = divide(self, plus)?;
        let parts = parts.iter().map(|part| self.permuted(part, key.after));
        Ok(parts.collect())
    }

    /// The basis of the special primes.
    pub(super) fn special_basis(&self) -> Result<RnsBasis<S::Word>, Error> {
        let special = self.scheme.chain().p;
        special.ok_or_else(|| Error::Input("a set without a special prime".to_owned()))
    }

    /// All parts divided by the last prime.
    pub(in crate::lower) fn drop_last(&mut self, value: &Value) -> Result<Vec<Part>, Error> {
        let limbs = value.parts[0].limbs.len();
        let last = self.scheme.chain().q.range(limbs - 1..limbs)?;
        let divided = |part: &Part| self.divided(part, &last);
        value.parts.iter().map(divided).collect()
    }

    /// round(x / D), D the product of the last primes of a part.
    pub(super) fn divided(
        &mut self,
        part: &Part,
        dropped: &RnsBasis<S::Word>,
    ) -> Result<Part, Error> {
        match self.moves || dropped.len() > 1 {
            true => self.divided_by_last(part, 1, dropped),
            false => self.scaled_down(part, 1, dropped),
        }
    }

    /// round(t x / D), D the product of the last primes of a part, by a conversion that rounds.
    pub(in crate::lower) fn scaled_down(
        &mut self,
        part: &Part,
        t: u64,
        dropped: &RnsBasis<S::Word>,
    ) -> Result<Part, Error> {
        let kept = part.limbs.len() - dropped.len();
        let tail = Part {
            form: part.form,
            limbs: part.limbs[kept..].to_vec(),
        };
        let tail = self.in_form(&tail, Form::Coefficients).limbs;
        let moduli = self.graph.moduli_of(&part.limbs[..kept]);
        let correction = Part {
            form: Form::Coefficients,
            limbs: self.graph.round(&tail, &moduli, t, self.task),
        };
        let correction = self.in_form(&correction, part.form);
        let factors = moduli.iter().map(|&m| {
            let q = self.graph.plans()[usize::from(m)].modulus();
            quotient(q, t, dropped).map(Word::to_u128)
        });
        let factors = factors.collect::<Result<_, Error>>()?;
        let scaled = self.by_limb(PolyOp::Scale(factors), &[&part.prefix(kept)]);
        Ok(self.by_limb(PolyOp::Add, &[&scaled, &correction]))
    }

    /// round(x / D) of polynomials in parallel lanes, `sides` of them, D the product of the last primes of each:
    /// (x − [x]_D) / D, the remainder centred and moved from lane to lane.
    pub(super) fn divided_by_last(
        &mut self,
        part: &Part,
        sides: usize,
        dropped: &RnsBasis<S::Word>,
    ) -> Result<Part, Error> {
        let division = self.division(part, sides, dropped, None)?;
        Ok(self.quotient(division))
    }

    /// The same up to the remainder, which goes to all lanes; plus what is given.
    pub(super) fn division(
        &mut self,
        part: &Part,
        sides: usize,
        dropped: &RnsBasis<S::Word>,
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
        self.division_of(&kept, &last, dropped, plus)
    }

    /// The same of parts whose limbs over the dropped primes, coefficients, stand elsewhere.
    pub(super) fn division_of(
        &mut self,
        kept: &Part,
        last: &[Vec<Limb>],
        dropped: &RnsBasis<S::Word>,
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
            None => self.by_limb(PolyOp::Scale(factors), &[kept]),
            Some(plus) => self.by_limb(PolyOp::ScaleAdd(factors), &[kept, plus]),
        };
        let one = &moduli[..moduli.len() / last.len()];
        Ok(Division {
            scaled,
            remainder: self.centred(last, one),
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
        let negated = PolyOp::ScaleAdd(division.negated);
        self.by_limb(negated, &[&remainder, &division.scaled])
    }
}

/// t / D modulo q.
pub(in crate::lower) fn quotient<W: Word>(
    q: &Modulus<W>,
    numerator: u64,
    dropped: &RnsBasis<W>,
) -> Result<W, Error> {
    let product = q.reduce_digits(&dropped.product().to_u64_digits());
    let inverse = q.inv_vt(product).map_err(rns::RnsError::from)?;
    Ok(q.mul(q.reduce_u64(numerator), inverse))
}
