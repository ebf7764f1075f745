// SPDX-License-Identifier: Apache-2.0
//! Linear transforms in polynomial operations, by double hoisting as in `rlwe::linear_transform`.
//!
//! Terms without a key (the ciphertext's own parts, permuted and multiplied) are summed separately over Q and added
//! after the division: round((S + P T)/P) is round(S/P) + T.

use super::key_switch::Digits;
use super::lowering::{Lower, Lowering};
use super::value::{Part, Source, Value};
use crate::Error;
use ::polynomial::{Form, PolyOp};
use program::step::Plaintext;
use program::transform::{Giant, Term, Transform};

/// Both parts of a sum of ciphertexts: products with keys over Q·P, other terms over Q.
#[derive(Default)]
struct Sum {
    switched: [Option<Part>; 2],
    own: [Option<Part>; 2],
}

/// A ciphertext as values, and the digits of its second part.
struct Operand {
    values: [Part; 2],
    digits: Digits,
}

/// Level and scale of a transform.
#[derive(Clone, Copy)]
struct At {
    level: u32,
    /// Of the plaintexts.
    scale: f64,
}

impl<S: Lower> Lowering<'_, S> {
    /// A linear transform of a ciphertext of two parts.
    pub(super) fn transform(
        &mut self,
        a: &Value,
        transform: &Transform,
        level: u32,
    ) -> Result<Value, Error> {
        let scale = transform.scale;
        let at = At { level, scale };
        let operand = Operand {
            values: [0, 1].map(|k| self.in_form(&a.parts[k], Form::Values)),
            digits: self.mod_up(&a.parts[1])?,
        };
        let mut total = Sum::default();
        for giant in &transform.giants {
            let inner = self.inner_sum(giant, &operand, at)?;
            let element = self.scheme.element(giant.rotation);
            let turned = self.turned(inner, element)?;
            self.add(&mut total, turned, None);
        }
        let mut parts = Vec::with_capacity(2);
        for (switched, own) in total.switched.iter().zip(&total.own) {
            parts.extend(self.settled(switched.as_ref(), own.as_ref())?);
        }
        Ok(Value::computed(parts, S::product_scale(a.scale, scale)))
    }

    /// Σ over the terms of a giant step.
    fn inner_sum(&mut self, giant: &Giant, operand: &Operand, at: At) -> Result<Sum, Error> {
        let mut sum = Sum::default();
        for term in &giant.terms {
            let factor = match term.plaintext {
                None => None,
                Some(number) => Some(self.extended(number, at)?),
            };
            let turned = self.baby(term, operand)?;
            self.add(&mut sum, turned, factor.as_ref());
        }
        Ok(sum)
    }

    /// A rotation of the operand, before the division.
    fn baby(&mut self, term: &Term, operand: &Operand) -> Result<Sum, Error> {
        let element = self.scheme.element(term.rotation);
        let [c0, c1] = &operand.values;
        if element == 1 {
            return Ok(Sum {
                own: [Some(c0.clone()), Some(c1.clone())],
                ..Sum::default()
            });
        }
        Ok(Sum {
            switched: self.switched_by(&operand.digits, element)?,
            own: [Some(self.permuted(c0, element)), None],
        })
    }

    /// A sum, rotated: its second part is divided, decomposed and multiplied by the key.
    fn turned(&mut self, sum: Sum, element: u64) -> Result<Sum, Error> {
        if element == 1 {
            return Ok(sum);
        }
        let [first, second] = &sum.switched;
        let [own, other] = &sum.own;
        let mut permuted = |part: &Part| self.permuted(part, element);
        let mut turned = Sum {
            switched: [first.as_ref().map(&mut permuted), None],
            own: [own.as_ref().map(&mut permuted), None],
        };
        if let Some(second) = self.settled(second.as_ref(), other.as_ref())? {
            let digits = self.mod_up(&second)?;
            let products = Sum {
                switched: self.switched_by(&digits, element)?,
                ..Sum::default()
            };
            self.add(&mut turned, products, None);
        }
        Ok(turned)
    }

    /// The products of digits and an automorphism's key, under the automorphism.
    fn switched_by(&mut self, digits: &Digits, element: u64) -> Result<[Option<Part>; 2], Error> {
        let key = self.galois_key(element);
        Ok(self.inner_product(digits, key)?.map(Some))
    }

    /// total + sum · factor.
    fn add(&mut self, total: &mut Sum, sum: Sum, factor: Option<&Part>) {
        let totals = total.switched.iter_mut().chain(&mut total.own);
        let parts = sum.switched.into_iter().chain(sum.own);
        for (total, part) in totals.zip(parts) {
            let Some(part) = part else { continue };
            *total = Some(match (total.as_ref(), factor) {
                (None, None) => part,
                (None, Some(factor)) => self.by_limb(PolyOp::Mul, &[&part, factor]),
                (Some(sum), None) => self.by_limb(PolyOp::Add, &[sum, &part]),
                (Some(sum), Some(factor)) => self.by_limb(PolyOp::MulAdd, &[&part, factor, sum]),
            });
        }
    }

    /// A part of a sum divided by the special primes, plus the terms over Q, in the scheme's form.
    fn settled(
        &mut self,
        switched: Option<&Part>,
        own: Option<&Part>,
    ) -> Result<Option<Part>, Error> {
        let divided = match switched {
            None => None,
            Some(sum) => Some(self.mod_down(sum)?),
        };
        let own = own.map(|part| self.in_form(part, S::FORM));
        Ok(match (divided, own) {
            (Some(divided), Some(own)) => Some(self.by_limb(PolyOp::Add, &[&divided, &own])),
            (divided, own) => divided.or(own),
        })
    }

    /// A plaintext over the data primes and the special primes.
    fn extended(&mut self, number: u32, at: At) -> Result<Part, Error> {
        let mut moduli = self.moduli(at.level as usize + 1)?;
        moduli.extend(self.special());
        let scale = at.scale;
        let source = Source::Extended(Plaintext { number, scale }, at.level);
        Ok(Part {
            form: Form::Values,
            limbs: self.source_over(source, &moduli),
        })
    }
}
