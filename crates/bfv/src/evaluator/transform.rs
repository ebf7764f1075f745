// SPDX-License-Identifier: Apache-2.0
//! Linear transforms with plain factors.

use super::Evaluator;
use crate::Error;
use crate::ciphertext::Ciphertext;
use crate::linear_transform::{ExtendedPlaintext, LinearTransform};
use rlwe::{GaloisKeys, GiantStep, TransformSource, rotation_element};
use zq::Word;

impl<W: Word> Evaluator<W> {
    /// Sums of rotations of one ciphertext times plaintexts, and of rotations of such sums, by double hoisting (ePrint
    /// 2020/1203): the ciphertext is decomposed once, products are summed over Q·P, and each giant step that
    /// rotates divides and decomposes one part once more.
    ///
    /// # Errors
    /// [`Error::LinearTransform`] naming the term whose plaintext is missing or for another level; as
    /// [`Evaluator::rotate_rows`].
    #[inline(never)]
    pub fn linear_transform(
        &self,
        a: &Ciphertext<W>,
        t: &LinearTransform<'_, W>,
        keys: &GaloisKeys<W>,
    ) -> Result<Ciphertext<W>, Error> {
        let [c0, c1] = self.rotatable(a, keys)?;
        t.check(&self.params, a.limbs())?;
        let element = |steps| rotation_element(self.params.n(), steps);
        let giants = t.giants.iter().map(|giant| {
            let terms = giant.terms.iter().map(|term| {
                let factor = term.plaintext.map(ExtendedPlaintext::poly);
                (element(term.rotation), factor)
            });
            GiantStep::new(element(giant.rotation), terms, keys)
        });
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
}
