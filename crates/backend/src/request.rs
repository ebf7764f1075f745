// SPDX-License-Identifier: Apache-2.0
//! Request and outcome of a run.

use program::expression::Numbers;
use rlwe::Seed;
use std::any::Any;
use std::collections::BTreeMap;
use std::time::Instant;

/// A ciphertext of an encrypted argument.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// As it travels.
    Bytes(&'a [u8]),
    /// A ciphertext of the program's scheme and word width.
    Ciphertext(&'a (dyn Any + Send + Sync)),
}

/// One evaluation of an opened program.
pub struct Request<'a> {
    /// Encrypted arguments, in the program's order.
    pub inputs: &'a [Input<'a>],
    /// Plain arguments in order, row-major: reals in CKKS; in BFV any integers, reduced modulo t.
    pub plain: &'a [Numbers],
    /// Seed of the encryptions of zero: the k-th of the program is message k.
    pub seed: Seed,
}

/// Seconds by kind of operation, summed over threads; `"read"`, `"encode"` and `"write"` are kinds too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seconds(pub BTreeMap<&'static str, f64>);

impl Seconds {
    /// Adds the time since `start`.
    pub fn add(&mut self, kind: &'static str, start: Instant) {
        *self.0.entry(kind).or_default() += start.elapsed().as_secs_f64();
    }

    /// Adds all of another's.
    pub fn merge(&mut self, other: &Self) {
        for (kind, seconds) in &other.0 {
            *self.0.entry(kind).or_default() += seconds;
        }
    }
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The output ciphertexts as bytes.
    pub outputs: Vec<Vec<u8>>,
    /// The time of the run, by kind of operation.
    pub seconds: Seconds,
}

/// Progress and cancellation of a run. Methods are called from any thread between steps, and periodically by a thread
/// that waits for a step; one of the threads is the run's caller.
pub trait Observer: Sync {
    /// `done` of `total` operations are done.
    fn progress(&self, done: usize, total: usize);

    /// Whether to stop before the next step.
    fn cancelled(&self) -> bool;
}

/// Where an evaluation leaves what it has made after each refresh. Called from any thread of the run.
pub trait Keeper: Sync {
    /// What an earlier evaluation left last; none to begin anew.
    fn kept(&self) -> Option<&[u8]>;

    /// Keeps this in place of what was left before.
    ///
    /// # Errors
    /// What ends the evaluation.
    fn keep(&self, state: Vec<u8>) -> Result<(), crate::Error>;
}

/// No observer.
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&self, _: usize, _: usize) {}
    fn cancelled(&self) -> bool {
        false
    }
}
