// SPDX-License-Identifier: Apache-2.0
//! Plaintexts of a run: evaluated and held against what the program promises, each encoded once for a level and scale, and
//! forgotten after its last use.

use super::scheme::Scheme;
use crate::Error;
use program::expression::Numbers;
use program::step::Plaintext;
use program::{Program, Values};
use rlwe::Threads;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A plaintext's number, its level, and the bits of its scale.
type Key = (u32, u32, u64);

/// An encoding and the uses it still has.
struct Encoding<P> {
    uses: usize,
    plaintext: Option<Arc<P>>,
}

/// Evaluated plaintexts.
pub struct Plaintexts<'a, S: Scheme> {
    program: &'a Program,
    scheme: &'a S,
    values: Values,
    encodings: HashMap<Key, Mutex<Encoding<S::Plaintext>>>,
}

impl<'a, S: Scheme> Plaintexts<'a, S> {
    /// Evaluates the program's plaintexts; fails for values that its guarantee does not cover.
    pub fn new(
        program: &'a Program,
        scheme: &'a S,
        arguments: &[Numbers],
        threads: &Threads,
    ) -> Result<Self, Error> {
        let values = program.evaluate(arguments)?;
        let numbers: Vec<u32> = (0..program.plaintexts.len() as u32).collect();
        threads.try_map(&numbers, |&number| program.slots(&values, number).map(drop))?;
        if program.needs_measuring()? {
            program.check_plaintexts(&program.measure(&values, threads)?)?;
        }
        let mut encodings: HashMap<Key, Mutex<Encoding<S::Plaintext>>> = HashMap::new();
        for step in &program.steps {
            let Some(plaintext) = step.operation.plaintext() else {
                continue;
            };
            let fresh = || {
                Mutex::new(Encoding {
                    uses: 0,
                    plaintext: None,
                })
            };
            let encoding = encodings
                .entry(key(plaintext, step.level))
                .or_insert_with(fresh);
            encoding
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .uses += 1;
        }
        Ok(Self {
            program,
            scheme,
            values,
            encodings,
        })
    }

    /// A plaintext's encoding for one use at a level; others that want it meanwhile wait.
    pub fn take(&self, plaintext: Plaintext, level: u32) -> Result<Arc<S::Plaintext>, Error> {
        let mut encoding = self.encodings[&key(plaintext, level)]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let encoded = match &encoding.plaintext {
            Some(encoded) => encoded.clone(),
            None => {
                let slots = self.program.slots(&self.values, plaintext.number)?;
                let encoded = self
                    .scheme
                    .encode(&slots, level as usize, plaintext.scale)?;
                Arc::new(encoded)
            }
        };
        encoding.uses -= 1;
        encoding.plaintext = (encoding.uses > 0).then(|| encoded.clone());
        Ok(encoded)
    }
}

fn key(plaintext: Plaintext, level: u32) -> Key {
    (plaintext.number, level, plaintext.scale.to_bits())
}
