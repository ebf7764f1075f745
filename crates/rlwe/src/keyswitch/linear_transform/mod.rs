// SPDX-License-Identifier: Apache-2.0
//! Sums of rotated ciphertexts times plaintexts, by double hoisting (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux,
//! ePrint 2020/1203).
//!
//! ```text
//! Σ_g rot_g( Σ_t factor_{g,t} ⊙ rot_{g,t}(c_0, c_1) )
//! ```
//!
//! The inner rotations share one decomposition of c_1, and nothing is divided by P before the products: the sums are
//! over Q·P. A rotation of a sum divides its second part alone by P, decomposes it, and adds its products with the key
//! over Q·P again. The caller does the one remaining division of both parts, in the form of its ciphertexts.
//!
//! A rotated sum may be added to another giant step's sum before that is rotated ([`GiantStep::onto`]): steps that are
//! multiples of one rotation then need its key alone, as in Horner's rule, and no key switch more.

mod divide;
mod inner_sums;
mod steps;
mod sums;
#[cfg(test)]
mod tests;

use crate::Error;
use crate::keys::{GaloisKeys, KeySwitchKey};
use rns::{Automorphism, Eval, RnsPoly};
use zq::Word;

/// σ: x -> x^g and the key from σ(s) to s.
pub type Rotation<'a, W> = (&'a Automorphism, &'a KeySwitchKey<W>);

/// A ciphertext (c_0, c_1) over the level's data primes.
#[derive(Clone, Copy)]
pub struct TransformSource<'a, W: Word> {
    /// Both parts in evaluation form, limb-major.
    pub values: [&'a [W]; 2],
    /// The coefficients of c_1, limb-major.
    pub coefficients: &'a [W],
}

/// A rotation of the ciphertext, times a factor.
#[derive(Clone, Copy)]
pub struct BabyStep<'a, W: Word> {
    /// None for the ciphertext itself.
    pub rotation: Option<Rotation<'a, W>>,
    /// Over Q·P; none for 1.
    pub factor: Option<&'a RnsPoly<W, Eval>>,
}

/// A rotation of a sum.
#[derive(Clone)]
pub struct GiantStep<'a, W: Word> {
    /// None for the sum itself.
    pub rotation: Option<Rotation<'a, W>>,
    /// The terms of the sum.
    pub terms: Vec<BabyStep<'a, W>>,
    /// The number of a later giant step, to whose sum the rotated one is added; none for the sum of all, as without a
    /// rotation.
    pub onto: Option<usize>,
}

impl<'a, W: Word> GiantStep<'a, W> {
    /// From automorphisms x -> x^g, 1 for no rotation: that of the sum, and those of its terms with their factors.
    ///
    /// # Errors
    /// [`Error::MissingGaloisKey`].
    pub fn new(
        element: u64,
        terms: impl IntoIterator<Item = (u64, Option<&'a RnsPoly<W, Eval>>)>,
        keys: &'a GaloisKeys<W>,
    ) -> Result<Self, Error> {
        let rotation = |element| match element {
            1 => Ok(None),
            _ => keys.get(element).map(Some),
        };
        let baby = |(element, factor)| {
            let rotation = rotation(element)?;
            Ok(BabyStep { rotation, factor })
        };
        Ok(Self {
            rotation: rotation(element)?,
            terms: terms.into_iter().map(baby).collect::<Result<_, Error>>()?,
            onto: None,
        })
    }

    /// The same, added to the sum of the giant step of this number.
    #[must_use]
    pub fn with_onto(self, onto: Option<usize>) -> Self {
        Self { onto, ..self }
    }

    /// Fails unless step number `number` of `count` is added to a later one, being rotated, or to the sum of all.
    pub(crate) fn check_order(&self, number: usize, count: usize) -> Result<(), Error> {
        let later = |onto: &usize| (number + 1..count).contains(onto) && self.rotation.is_some();
        match self.onto {
            Some(onto) if !later(&onto) => Err(Error::Shape {
                what: "the giant step, a later one, that a rotated sum is added to",
                got: onto,
                expected: number + 1,
            }),
            _ => Ok(()),
        }
    }

    /// Fails unless every key serves `limbs` data primes in `digits` digits and every factor has `words` words.
    pub(crate) fn check(&self, limbs: usize, digits: usize, words: usize) -> Result<(), Error> {
        let rotations = self.terms.iter().map(|term| term.rotation);
        for (_, key) in rotations.chain([self.rotation]).flatten() {
            key.check_covers(limbs, digits)?;
        }
        for factor in self.terms.iter().filter_map(|term| term.factor) {
            if factor.data().len() != words {
                return Err(Error::Shape {
                    what: "words of a factor",
                    got: factor.data().len(),
                    expected: words,
                });
            }
        }
        Ok(())
    }
}
