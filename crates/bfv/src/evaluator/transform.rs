// SPDX-License-Identifier: Apache-2.0
//! Linear transforms with plain factors.

use super::Evaluator;
use crate::Error;
use crate::ciphertext::Ciphertext;
use crate::linear_transform::{ExtendedPlaintext, Giant, LinearTransform, Term};
use rlwe::{BabyStep, GaloisKeys, GiantStep, Rotation, TransformSource, rotation_element};
use zq::Word;

impl<W: Word> Evaluator<W> {
    /// Sums of rotations of one ciphertext times plaintexts, and of rotations of such sums, by double hoisting (ePrint
    /// 2020/1203): the ciphertext is decomposed once, products are summed over Q·P, and each giant step that
    /// rotates divides and decomposes one part once more.
    ///
    /// # Errors
    /// [`Error::LinearTransform`] naming the term whose plaintext is missing or for another level; as
    /// [`Evaluator::rotate_rows`].
    pub fn linear_transform(
        &self,
        a: &Ciphertext<W>,
        t: &LinearTransform<'_, W>,
        keys: &GaloisKeys<W>,
    ) -> Result<Ciphertext<W>, Error> {
        let [c0, c1] = self.rotatable(a, keys)?;
        t.check(&self.params, a.limbs())?;
        let giants = t.giants.iter().map(|giant| self.giant_step(giant, keys));
        let giants: Vec<_> = giants.collect::<Result<_, _>>()?;
        let level = self.params.rlwe().level(a.limbs())?;
        let values = self
            .threads
            .try_map(&[c0, c1], |c| Ok::<_, Error>((*c).clone().to_eval()))?;
        let source = TransformSource {
            values: [values[0].data(), values[1].data()],
            coefficients: c1.data(),
        };
        let divided = level.linear_transform_coeff(source, &giants, &self.threads)?;
        Ok(Ciphertext::new(a.params, a.key, divided.into()))
    }

    fn giant_step<'a>(
        &self,
        giant: &Giant<'a, W>,
        keys: &'a GaloisKeys<W>,
    ) -> Result<GiantStep<'a, W>, Error> {
        let term = |term: &Term<'a, W>| {
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
        keys: &'a GaloisKeys<W>,
    ) -> Result<Option<Rotation<'a, W>>, Error> {
        match rotation_element(self.params.n(), steps) {
            1 => Ok(None),
            element => Ok(Some(keys.get(element)?)),
        }
    }
}
