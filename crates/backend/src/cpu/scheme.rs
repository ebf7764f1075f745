// SPDX-License-Identifier: Apache-2.0
//! What a run asks of a scheme, each question one call of its evaluator, encoder or encryptor.

use crate::Error;
use program::expression::Numbers;
use program::step::Step;
use rlwe::KeyId;

/// How many threads share one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// One: others are busy with other steps.
    Single,
    /// All: nothing else can be done meanwhile.
    All,
}

/// The two evaluators of a run.
pub struct Evaluators<E> {
    /// On one thread.
    pub single: E,
    /// On all threads.
    pub all: E,
}

impl<E> Evaluators<E> {
    pub fn on(&self, spread: Spread) -> &E {
        match spread {
            Spread::Single => &self.single,
            Spread::All => &self.all,
        }
    }
}

/// What a ciphertext says of itself without a key.
pub struct Facts {
    pub level: usize,
    pub size: usize,
    /// CKKS.
    pub scale: Option<f64>,
    /// CKKS.
    pub slots: Option<usize>,
    pub seeded: bool,
    pub key: KeyId,
}

/// A scheme with the keys and evaluators of a run.
pub trait Scheme: Sync {
    type Ciphertext: Send + Sync;
    type Plaintext: Send + Sync;

    fn read(&self, bytes: &[u8]) -> Result<Self::Ciphertext, Error>;

    fn write(&self, ciphertext: &Self::Ciphertext) -> Vec<u8>;

    fn facts(&self, ciphertext: &Self::Ciphertext) -> Facts;

    /// The plaintext of a vector of slots.
    fn encode(&self, slots: &Numbers, level: usize, scale: f64) -> Result<Self::Plaintext, Error>;

    /// The encryption of zero with that number, at a step's level and scale.
    fn zero(&self, index: u64, step: &Step) -> Result<Self::Ciphertext, Error>;

    /// Rotations of one ciphertext, with one decomposition.
    fn rotate_many(
        &self,
        spread: Spread,
        a: &Self::Ciphertext,
        by: &[i64],
    ) -> Result<Vec<Self::Ciphertext>, Error>;

    /// The result of any other step that computes.
    fn apply(
        &self,
        spread: Spread,
        step: &Step,
        operands: &[&Self::Ciphertext],
        plaintext: Option<&Self::Plaintext>,
    ) -> Result<Self::Ciphertext, Error>;
}

/// A key that was checked to be there.
pub fn key<'k, K>(held: Option<&'k K>, name: &str) -> Result<&'k K, Error> {
    held.ok_or_else(|| {
        Error::Keys(format!(
            "the evaluation keys hold no {name} key, which this program needs"
        ))
    })
}

/// The error of numbers of the other scheme.
pub fn other_numbers(wanted: &str) -> Error {
    Error::Input(format!("the slots of a plaintext have to be {wanted}"))
}

/// The error of a step that the scheme has no operation for.
pub fn unknown(scheme: &str, step: &Step) -> Error {
    let name = step.operation.name();
    Error::Input(format!("{scheme} has no {name} of such operands"))
}
