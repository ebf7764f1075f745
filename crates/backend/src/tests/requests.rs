// SPDX-License-Identifier: Apache-2.0
//! What the tests ask of backends.

use super::reference::Client;
use crate::{Backend, Error, Input, Keys, Observer, Outcome, Request, Resources};
use program::Program;
use program::expression::Numbers;
use rlwe::{Seed, Threads};
use std::sync::Arc;

/// Memory for all that a run of a test may keep.
pub const PLENTY: usize = 1 << 30;

/// That many threads and bytes.
pub fn resources(threads: usize, memory: usize) -> Resources {
    Resources {
        threads: Threads::new(threads).unwrap(),
        memory,
    }
}

/// A program with keys and a request.
pub struct Asked<'a> {
    pub program: &'a Program,
    pub keys: &'a Keys,
    pub inputs: Vec<Input<'a>>,
    pub plain: &'a [Numbers],
}

impl<'a> Asked<'a> {
    /// On ciphertexts as they travel. The encryptions of zero are those of the walk.
    pub fn new(
        program: &'a Program,
        keys: &'a Keys,
        inputs: &[&'a [u8]],
        plain: &'a [Numbers],
    ) -> Self {
        Self {
            program,
            keys,
            inputs: inputs.iter().map(|bytes| Input::Bytes(bytes)).collect(),
            plain,
        }
    }

    pub fn request(&self) -> Request<'_> {
        Request {
            inputs: &self.inputs,
            plain: self.plain,
            seed: Seed::from_text("zeros"),
        }
    }

    /// Opens the program and evaluates it, on one thread.
    pub fn of(&self, backend: &dyn Backend, observer: &dyn Observer) -> Result<Outcome, Error> {
        self.with(backend, 1, observer)
    }

    /// The same on some threads.
    pub fn with(
        &self,
        backend: &dyn Backend,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Outcome, Error> {
        let resources = resources(threads, PLENTY);
        let run = backend.open(&Arc::new(self.program.clone()), self.keys, &resources)?;
        run.evaluate(&self.request(), observer)
    }
}

/// One plain argument, 1 in all slots.
pub fn ones(program: &Program) -> [Numbers; 1] {
    let slots = program.parameters.slots();
    [match program.parameters.plain_modulus() {
        Some(_) => Numbers::Integers(vec![1; slots]),
        None => Numbers::Reals(vec![1.0; slots]),
    }]
}

impl Client {
    /// Its ciphertexts, lent.
    pub fn lent(&self) -> Vec<&[u8]> {
        self.inputs.iter().map(Vec::as_slice).collect()
    }
}
