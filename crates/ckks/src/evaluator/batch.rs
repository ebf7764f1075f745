// SPDX-License-Identifier: Apache-2.0
//! Operations on batches of ciphertexts: residues and errors are those of one call after another.

use super::switch::Switch;
use super::{Evaluator, need_two_parts};
use crate::{Ciphertext, Error};
use rlwe::{GaloisKeys, RelinKey};

impl Evaluator {
    /// [`Evaluator::relinearize`] of many ciphertexts with one pass over the key for several of them.
    ///
    /// # Errors
    /// As [`Evaluator::relinearize`].
    pub fn relinearize_batch(
        &self,
        batch: &[Ciphertext],
        key: &RelinKey<u64>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let mut switches = Vec::with_capacity(batch.len());
        for ct in batch {
            self.check_relin(ct, key)?;
            if ct.size() == 3 {
                switches.push(Switch {
                    ct,
                    part: 2,
                    uses: vec![(None, key.key())],
                });
            }
        }
        let mut done = self.switch(&switches)?.into_iter();
        Ok(batch
            .iter()
            .map(|ct| {
                if ct.size() == 3 {
                    done.next().unwrap_or_else(|| ct.clone())
                } else {
                    ct.clone()
                }
            })
            .collect())
    }

    /// [`Evaluator::rotate`] of many ciphertexts by the same steps, with one pass over the key for several of them.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn rotate_batch(
        &self,
        batch: &[Ciphertext],
        steps: i64,
        keys: &GaloisKeys<u64>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let element = super::slot_rotation_element(self.params.n(), steps);
        let mut switches = Vec::with_capacity(batch.len());
        for ct in batch {
            self.check_galois(ct, keys)?;
            if element != 1 {
                let (auto, key) = keys.get(element)?;
                switches.push(Switch {
                    ct,
                    part: 1,
                    uses: vec![(Some(auto), key)],
                });
            }
        }
        if element == 1 {
            Ok(batch.to_vec())
        } else {
            self.switch(&switches)
        }
    }

    /// [`Evaluator::rescale`] of many ciphertexts.
    ///
    /// # Errors
    /// As [`Evaluator::rescale`].
    pub fn rescale_batch(&self, batch: &[Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        let alone = self.alone();
        self.threads.try_map(batch, |ct| alone.rescale(ct))
    }

    /// [`Evaluator::multiply`] of pairs.
    ///
    /// # Errors
    /// [`Error::Rlwe`] when the batches differ in length; as [`Evaluator::multiply`].
    pub fn multiply_batch(
        &self,
        a: &[Ciphertext],
        b: &[Ciphertext],
    ) -> Result<Vec<Ciphertext>, Error> {
        if a.len() != b.len() {
            return Err(rlwe::Error::Shape {
                what: "ciphertexts of the right batch",
                got: b.len(),
                expected: a.len(),
            }
            .into());
        }
        let pairs: Vec<_> = a.iter().zip(b).collect();
        let alone = self.alone();
        self.threads.try_map(&pairs, |(a, b)| alone.multiply(a, b))
    }

    pub(super) fn check_relin(&self, ct: &Ciphertext, key: &RelinKey<u64>) -> Result<(), Error> {
        self.check(&[ct])?;
        self.check_key(
            "relinearisation key",
            ct,
            key.key().fingerprint(),
            key.key().id(),
        )
    }

    pub(super) fn check_galois(
        &self,
        ct: &Ciphertext,
        keys: &GaloisKeys<u64>,
    ) -> Result<(), Error> {
        self.check(&[ct])?;
        need_two_parts("rotate", ct)?;
        self.check_key("Galois keys", ct, keys.fingerprint(), keys.id())
    }
}
