// SPDX-License-Identifier: Apache-2.0
//! Linear transforms with plain factors.

use super::{Evaluator, slot_rotation_element};
use crate::linear_transform::{ExtendedPlaintext, Giant, LinearTransform, Term};
use crate::{Ciphertext, Error};
use rlwe::{BabyStep, GaloisKeys, GiantStep, Rotation, TransformSource};

impl Evaluator {
    /// Sums of rotations of one ciphertext times plaintexts, and of rotations of such sums, by double hoisting (ePrint
    /// 2020/1203): the ciphertext is decomposed once, products are summed over Q·P, and each giant step that rotates divides
    /// and decomposes one part once more. Not rescaled: the scale is that of `a` times that of the plaintexts.
    ///
    /// # Errors
    /// [`Error::LinearTransform`] naming the term whose plaintext is missing or for another level; [`Error::ScaleMismatch`];
    /// [`Error::Size`] for a ciphertext of three parts; [`Error::Overflow`] when the product's scale does not fit the modulus;
    /// [`Error::Rlwe`] naming the missing key.
    pub fn linear_transform(
        &self,
        a: &Ciphertext,
        t: &LinearTransform<'_>,
        keys: &GaloisKeys<u64>,
    ) -> Result<Ciphertext, Error> {
        self.check_galois(a, keys)?;
        let scale = a.scale * t.check(&self.params, a.level())?;
        let scale = self.product_scale("linear_transform", scale, a.level())?;
        let giants: Vec<_> = t
            .giants
            .iter()
            .map(|giant| self.giant_step(giant, keys))
            .collect::<Result<_, _>>()?;
        let level = self.params.rlwe().level(a.level() + 1)?;
        let coefficients = a.parts[1].coefficients();
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

    fn giant_step<'a>(
        &self,
        giant: &Giant<'a>,
        keys: &'a GaloisKeys<u64>,
    ) -> Result<GiantStep<'a, u64>, Error> {
        let term = |term: &Term<'a>| {
            Ok(BabyStep {
                rotation: self.rotation(term.rotation, keys)?,
                factor: term.plaintext.map(ExtendedPlaintext::poly),
            })
        };
        Ok(GiantStep {
            rotation: self.rotation(giant.rotation, keys)?,
            terms: giant.terms.iter().map(term).collect::<Result<_, Error>>()?,
        })
    }

    /// The automorphism and key of a rotation, none for the identity.
    fn rotation<'a>(
        &self,
        steps: i64,
        keys: &'a GaloisKeys<u64>,
    ) -> Result<Option<Rotation<'a, u64>>, Error> {
        match slot_rotation_element(self.params.n(), steps) {
            1 => Ok(None),
            element => Ok(Some(keys.get(element)?)),
        }
    }
}
