// SPDX-License-Identifier: Apache-2.0
//! Rotations of the slots.

use super::Evaluator;
use crate::Error;
use crate::ciphertext::Ciphertext;
use rlwe::{GaloisKeys, conjugation_element, rotation_element};
use rns::{Coeff, RnsPoly};
use zq::Word;

impl<W: Word> Evaluator<W> {
    /// Rotates both rows left by `steps` (right if negative): slot i receives slot i + steps.
    ///
    /// # Errors
    /// [`rlwe::Error::MissingGaloisKey`]; [`Error::Size`] unless relinearised; keys of other parameters or key sets.
    #[inline(never)]
    pub fn rotate_rows(
        &self,
        a: &Ciphertext<W>,
        steps: i64,
        keys: &GaloisKeys<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.automorphism(a, rotation_element(self.params.n(), steps), keys)
    }

    /// Exchanges the two rows.
    ///
    /// # Errors
    /// As [`Evaluator::rotate_rows`].
    #[inline(never)]
    pub fn swap_rows(
        &self,
        a: &Ciphertext<W>,
        keys: &GaloisKeys<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.automorphism(a, conjugation_element(self.params.n()), keys)
    }

    /// x -> x^g on the plaintext.
    ///
    /// # Errors
    /// As [`Evaluator::rotate_rows`].
    #[inline(never)]
    pub fn automorphism(
        &self,
        a: &Ciphertext<W>,
        g: u64,
        keys: &GaloisKeys<W>,
    ) -> Result<Ciphertext<W>, Error> {
        let [c0, c1] = self.rotatable(a, keys)?;
        if g == 1 {
            return Ok(a.clone());
        }
        let (auto, key) = keys.get(g)?;
        let c1 = c1.automorphism(auto);
        let [mut k0, k1] = self.params.rlwe().key_switch(&c1, key, &self.threads)?;
        k0.add_assign(&c0.automorphism(auto));
        Ok(Ciphertext::new(a.params, a.key, vec![k0, k1]))
    }

    /// Several rotations of the rows for one decomposition; the same residues as one by one.
    ///
    /// # Errors
    /// As [`Evaluator::rotate_rows`].
    #[inline(never)]
    pub fn rotate_rows_many(
        &self,
        a: &Ciphertext<W>,
        steps: &[i64],
        keys: &GaloisKeys<W>,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let [c0, c1] = self.rotatable(a, keys)?;
        let element = |steps: &i64| rotation_element(self.params.n(), *steps);
        let moved = steps.iter().map(element).filter(|g| *g != 1);
        let uses: Vec<_> = moved
            .map(|g| keys.get(g).map(|(auto, key)| (Some(auto), key)))
            .collect::<Result<_, _>>()?;
        let level = self.params.rlwe().level(a.limbs())?;
        let mut switched = level
            .switch_coeff_many(c1, &uses, &self.threads)?
            .into_iter();
        let mut autos = uses.iter().filter_map(|(auto, _)| *auto);
        let mut rotated = |steps: &i64| {
            if element(steps) == 1 {
                return Some(a.clone());
            }
            let [mut k0, k1] = switched.next()?;
            k0.add_assign(&c0.automorphism(autos.next()?));
            Some(Ciphertext::new(a.params, a.key, vec![k0, k1]))
        };
        Ok(steps.iter().filter_map(&mut rotated).collect())
    }

    /// Puts the sum of all n slots into every slot; needs keys for 1, 2, 4, … n/4 steps and for the row swap.
    ///
    /// # Errors
    /// As [`Evaluator::rotate_rows`].
    #[inline(never)]
    pub fn inner_sum(
        &self,
        a: &Ciphertext<W>,
        keys: &GaloisKeys<W>,
    ) -> Result<Ciphertext<W>, Error> {
        let mut sum = self.add(a, &self.swap_rows(a, keys)?)?;
        let mut steps = 1;
        while steps < self.params.n() as i64 / 2 {
            let rotated = self.rotate_rows(&sum, steps, keys)?;
            self.add_assign(&mut sum, &rotated)?;
            steps *= 2;
        }
        Ok(sum)
    }

    pub(super) fn rotatable<'a>(
        &self,
        a: &'a Ciphertext<W>,
        keys: &GaloisKeys<W>,
    ) -> Result<[&'a RnsPoly<W, Coeff>; 2], Error> {
        self.check(a)?;
        self.check_key("the Galois keys", keys.fingerprint())?;
        a.key_id()
            .join(keys.id(), "the Galois keys")
            .map_err(Error::from)?;
        match &a.parts[..] {
            [c0, c1] => Ok([c0, c1]),
            _ => Err(Error::Size {
                operation: "rotation",
                got: a.size(),
                expected: "2",
                hint: "; relinearise first",
            }),
        }
    }
}
