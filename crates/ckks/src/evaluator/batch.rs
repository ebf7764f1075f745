// SPDX-License-Identifier: Apache-2.0
//! Key switches of one or many ciphertexts, and batches of the other operations.
//!
//! A batch reads every key once for [`CHUNK`] ciphertexts and shares the chunks among the threads. A single ciphertext
//! shares its primes among them instead. Either way the residues are those of one call after another.

use super::{Evaluator, need_two_parts};
use crate::{Ciphertext, Error};
use rlwe::{GaloisKeys, KeySwitchKey, RelinKey, Source, SwitchRequest, Threads};
use rns::Automorphism;

/// Ciphertexts that share one pass over a key: enough to hide its reading, few enough for the sums to stay in cache.
const CHUNK: usize = 8;

/// A key switch of one part of a ciphertext, once for every use.
pub(super) struct Switch<'a> {
    pub ct: &'a Ciphertext,
    /// The part that is decomposed: 2 for relinearisation, 1 for automorphisms.
    pub part: usize,
    pub uses: Vec<(Option<&'a Automorphism>, &'a KeySwitchKey<u64>)>,
}

impl Evaluator {
    /// Results in order, the uses of each switch one after another.
    pub(super) fn switch(&self, switches: &[Switch<'_>]) -> Result<Vec<Ciphertext>, Error> {
        let chunk = switches
            .len()
            .div_ceil(self.threads.count())
            .clamp(1, CHUNK);
        if switches.len() <= 1 {
            return self.switch_together(switches, &self.threads);
        }
        let mut chunks: Vec<&[Switch<'_>]> = Vec::new();
        // A chunk has one level.
        for same in switches.chunk_by(|a, b| a.ct.level() == b.ct.level()) {
            chunks.extend(same.chunks(chunk));
        }
        let done = self
            .threads
            .try_map(&chunks, |chunk| self.switch_together(chunk, &Threads::ONE))?;
        Ok(done.into_iter().flatten().collect())
    }

    /// Switches of one level with one pass over the keys.
    fn switch_together(
        &self,
        switches: &[Switch<'_>],
        threads: &Threads,
    ) -> Result<Vec<Ciphertext>, Error> {
        let Some(first) = switches.first() else {
            return Ok(Vec::new());
        };
        let level = self.params.rlwe().level(first.ct.level() + 1)?;
        let coefficients: Vec<_> = switches
            .iter()
            .map(|s| s.ct.parts[s.part].coefficients())
            .collect();
        let sources: Vec<_> = switches
            .iter()
            .zip(&coefficients)
            .map(|(s, c)| Source {
                coefficients: c.data(),
                values: Some(s.ct.parts[s.part].data()),
            })
            .collect();
        let mut requests: Vec<SwitchRequest<'_, u64>> = Vec::new();
        for (source, s) in switches.iter().enumerate() {
            // The other components are added: c0 and, when c2 is relinearised, c1.
            let add = [0, 1].map(|k| (k < s.part).then(|| s.ct.parts[k].data()));
            for &(automorphism, key) in &s.uses {
                requests.push(SwitchRequest {
                    source,
                    key,
                    automorphism,
                    add,
                });
            }
        }
        let parts = level.switch_eval(&sources, &requests, threads)?;
        Ok(parts
            .into_iter()
            .zip(&requests)
            .map(|(p, request)| switches[request.source].ct.with_parts(p.into()))
            .collect())
    }

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
        self.threads.try_map(batch, |ct| self.rescale(ct))
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
        self.threads.try_map(&pairs, |(a, b)| self.multiply(a, b))
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
