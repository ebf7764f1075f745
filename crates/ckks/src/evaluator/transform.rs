// SPDX-License-Identifier: Apache-2.0
//! Linear transforms with plain factors.

use super::{Evaluator, slot_rotation_element};
use crate::linear_transform::{ExtendedPlaintext, LinearTransform};
use crate::{Ciphertext, Error};
use rlwe::{GaloisKeys, GiantStep, TransformSource, coefficients};

impl Evaluator {
    /// Sums of rotations of one ciphertext times plaintexts, and of rotations of such sums, by double hoisting (ePrint
    /// 2020/1203): the ciphertext is decomposed once, products are summed over Q·P, and each giant step that rotates
    /// divides and decomposes one part once more. Not rescaled: the scale is that of `a` times that of the plaintexts.
    ///
    /// # Errors
    /// [`Error::LinearTransform`] naming the term whose plaintext is missing or for another level;
    /// [`Error::ScaleMismatch`]; [`Error::Size`] for a ciphertext of three parts; [`Error::Overflow`] when the
    /// product's scale does not fit the modulus; [`Error::Rlwe`] naming the missing key.
    pub fn linear_transform(
        &self,
        a: &Ciphertext,
        t: &LinearTransform<'_>,
        keys: &GaloisKeys<u64>,
    ) -> Result<Ciphertext, Error> {
        self.chained_transform(a, t, &[], keys)
    }

    /// [`Evaluator::linear_transform`], where the rotated sum of a giant step is added to that of the later one that
    /// `onto` names, before that is rotated: see [`GiantStep::onto`].
    pub(crate) fn chained_transform(
        &self,
        a: &Ciphertext,
        t: &LinearTransform<'_>,
        onto: &[Option<usize>],
        keys: &GaloisKeys<u64>,
    ) -> Result<Ciphertext, Error> {
        self.check_galois(a, keys)?;
        let scale = a.scale * t.check(&self.params, a.level())?;
        let scale = self.product_scale("linear_transform", scale, a.level())?;
        let element = |steps| slot_rotation_element(self.params.n(), steps);
        let onto = onto.iter().copied().chain(std::iter::repeat(None));
        let giants = t.giants.iter().zip(onto).map(|(giant, onto)| {
            let terms = giant.terms.iter().map(|term| {
                let factor = term.plaintext.map(ExtendedPlaintext::poly);
                (element(term.rotation), factor)
            });
            let step = GiantStep::new(element(giant.rotation), terms, keys)?;
            Ok(step.with_onto(onto))
        });
        let giants: Vec<_> = giants.collect::<Result<_, Error>>()?;
        let level = self.params.rlwe().level(a.level() + 1)?;
        let coefficients = coefficients(&a.parts[1], &self.threads);
        let source = TransformSource {
            values: [a.parts[0].data(), a.parts[1].data()],
            coefficients: coefficients.data(),
        };
        let parts = level.linear_transform_eval(source, &giants, &self.threads)?;
        Ok(Ciphertext {
            scale,
            slots: a.slots.max(t.slots()),
            ..a.with_parts(parts.into())
        })
    }
}
