// SPDX-License-Identifier: Apache-2.0
//! Key switches of one or many ciphertexts.
//!
//! A batch reads every key once for [`CHUNK`] ciphertexts and shares the chunks among the threads. A single ciphertext
//! shares its primes among them instead. Either way the residues are those of one call after another.

use super::Evaluator;
use crate::{Ciphertext, Error};
use rlwe::{KeySwitchKey, Source, SwitchRequest, Threads, coefficients};
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
            .map(|s| coefficients(&s.ct.parts[s.part], threads))
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
}
