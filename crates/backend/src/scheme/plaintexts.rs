// SPDX-License-Identifier: Apache-2.0
//! Plaintexts of a run: evaluated, checked against the program's guarantee, encoded once for each level, scale and kind
//! of use. Encodings stay for later requests with the same plain arguments as far as the run's memory goes; others are
//! dropped after the last use of a request.

use super::interface::{Scheme, Spread};
use super::kept::Kept;
use crate::Error;
use ::polynomial::Room;
use program::expression::Numbers;
use program::step::{Plaintext, Step};
use program::{Program, Values};
use rlwe::Threads;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A plaintext's number, its level, and the bits of its scale.
type Key = (u32, u32, u64);

/// The plaintexts of a program for some plain arguments.
pub struct Evaluated<S: Scheme> {
    arguments: Vec<Numbers>,
    values: Values,
    ordinary: Kept<Key, S::Plaintext>,
    extended: Kept<Key, S::Extended>,
}

impl<S: Scheme> Evaluated<S> {
    /// Evaluates the program's plaintexts; fails for values that its guarantee does not cover.
    pub fn new(
        program: &Program,
        arguments: &[Numbers],
        threads: &Threads,
        room: &Arc<Room>,
    ) -> Result<Self, Error> {
        let values = program.evaluate(arguments)?;
        let numbers: Vec<u32> = (0..program.plaintexts.len() as u32).collect();
        threads.try_map(&numbers, |&number| program.slots(&values, number).map(drop))?;
        if program.needs_measuring()? {
            program.check_plaintexts(&program.measure(&values, threads)?)?;
        }
        Ok(Self {
            arguments: arguments.to_vec(),
            values,
            ordinary: Kept::new(room),
            extended: Kept::new(room),
        })
    }

    /// Whether they are those of these arguments, to the bit.
    pub fn is_of(&self, arguments: &[Numbers]) -> bool {
        let same = |(a, b): (&Numbers, &Numbers)| match (a, b) {
            (Numbers::Integers(a), Numbers::Integers(b)) => a == b,
            (Numbers::Reals(a), Numbers::Reals(b)) => {
                let bits = |all: &[f64]| -> Vec<u64> { all.iter().map(|x| x.to_bits()).collect() };
                bits(a) == bits(b)
            }
            _ => false,
        };
        self.arguments.len() == arguments.len() && self.arguments.iter().zip(arguments).all(same)
    }
}

/// An encoding and the uses it still has in a request.
struct Encoding<P> {
    uses: usize,
    plaintext: Option<Arc<P>>,
}

/// Encodings of one kind.
struct Encodings<P>(HashMap<Key, Mutex<Encoding<P>>>);

impl<P> Encodings<P> {
    fn new() -> Self {
        Self(HashMap::new())
    }

    fn expect(&mut self, key: Key) {
        let fresh = || {
            Mutex::new(Encoding {
                uses: 0,
                plaintext: None,
            })
        };
        let encoding = self.0.entry(key).or_insert_with(fresh);
        let encoding = encoding.get_mut().unwrap_or_else(PoisonError::into_inner);
        encoding.uses += 1;
    }

    /// The encoding for one use; concurrent callers wait for it.
    fn take(
        &self,
        key: Key,
        encoded: impl FnOnce() -> Result<Arc<P>, Error>,
    ) -> Result<Arc<P>, Error> {
        let mut encoding = self.0[&key].lock().unwrap_or_else(PoisonError::into_inner);
        let encoded = match &encoding.plaintext {
            Some(encoded) => encoded.clone(),
            None => encoded()?,
        };
        encoding.uses -= 1;
        encoding.plaintext = (encoding.uses > 0).then(|| encoded.clone());
        Ok(encoded)
    }
}

/// The plaintexts of a request.
pub struct Plaintexts<'a, S: Scheme> {
    program: &'a Program,
    scheme: &'a S,
    threads: &'a Threads,
    evaluated: Arc<Evaluated<S>>,
    ordinary: Encodings<S::Plaintext>,
    extended: Encodings<S::Extended>,
}

impl<'a, S: Scheme> Plaintexts<'a, S> {
    /// For the steps of a program, or of one that repeats it.
    pub fn new(
        program: &'a Program,
        scheme: &'a S,
        evaluated: Arc<Evaluated<S>>,
        threads: &'a Threads,
    ) -> Self {
        let (mut ordinary, mut extended) = (Encodings::new(), Encodings::new());
        for step in &program.steps {
            if let Some(plaintext) = step.operation.plaintext() {
                ordinary.expect(key(plaintext, step.level));
            }
            if let Some(transform) = program.transform(step) {
                let plaintexts = transform.plaintexts();
                plaintexts.for_each(|p| extended.expect(key(p, step.level)));
            }
        }
        Self {
            program,
            scheme,
            threads,
            evaluated,
            ordinary,
            extended,
        }
    }

    /// The encoding of a step's plaintext for this use, if it has one.
    pub fn of_step(&self, step: &Step) -> Result<Option<Arc<S::Plaintext>>, Error> {
        let one = |plaintext| {
            let key = key(plaintext, step.level);
            self.ordinary.take(key, || {
                let encode = || self.encode(plaintext, step.level);
                let kept = &self.evaluated.ordinary;
                kept.get_or(key, S::plaintext_bytes, encode)
            })
        };
        step.operation.plaintext().map(one).transpose()
    }

    /// A plaintext's encoding at a level for one use, which keeps what it makes of it.
    pub fn take(&self, plaintext: Plaintext, level: u32) -> Result<Arc<S::Plaintext>, Error> {
        let encode = || Ok(Arc::new(self.encode(plaintext, level)?));
        self.ordinary.take(key(plaintext, level), encode)
    }

    /// The encodings of the terms of a step's transform for this use, in order.
    pub fn of_transform(
        &self,
        spread: Spread,
        step: &Step,
    ) -> Result<Vec<Arc<S::Extended>>, Error> {
        let one = |plaintext: &Plaintext| {
            let key = key(*plaintext, step.level);
            self.extended.take(key, || {
                let encode = || self.encode_extended(*plaintext, step.level);
                let kept = &self.evaluated.extended;
                kept.get_or(key, S::extended_bytes, encode)
            })
        };
        let transform = self.program.transform(step).into_iter();
        let all: Vec<Plaintext> = transform.flat_map(|t| t.plaintexts()).collect();
        match spread {
            Spread::Single => all.iter().map(one).collect(),
            Spread::All => self.threads.try_map(&all, one),
        }
    }

    /// The encoding of a plaintext of a transform at a level for one use, which keeps what it makes of it.
    pub fn take_extended(
        &self,
        plaintext: Plaintext,
        level: u32,
    ) -> Result<Arc<S::Extended>, Error> {
        let encode = || Ok(Arc::new(self.encode_extended(plaintext, level)?));
        self.extended.take(key(plaintext, level), encode)
    }

    fn encode(&self, plaintext: Plaintext, level: u32) -> Result<S::Plaintext, Error> {
        let slots = self
            .program
            .slots(&self.evaluated.values, plaintext.number)?;
        self.scheme.encode(&slots, level as usize, plaintext.scale)
    }

    fn encode_extended(&self, plaintext: Plaintext, level: u32) -> Result<S::Extended, Error> {
        let slots = self
            .program
            .slots(&self.evaluated.values, plaintext.number)?;
        self.scheme
            .encode_extended(&slots, level as usize, plaintext.scale)
    }
}

fn key(plaintext: Plaintext, level: u32) -> Key {
    (plaintext.number, level, plaintext.scale.to_bits())
}
