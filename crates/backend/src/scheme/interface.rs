// SPDX-License-Identifier: Apache-2.0
//! The scheme interface of a run: each method is one call of an evaluator, encoder or encryptor.

use crate::Error;
use program::Program;
use program::expression::Numbers;
use program::step::Step;
use program::transform::Transform;
use rlwe::{KeyId, Seed};
use std::any::Any;
use std::sync::Arc;

/// Number of threads that share one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// One: others are busy with other steps.
    Single,
    /// All: no other step can run then.
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

/// Metadata of a ciphertext, readable without a key.
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
pub trait Scheme: Send + Sync + Sized + 'static {
    type Ciphertext: Any + Send + Sync;
    type Plaintext: Send + Sync;
    /// A plaintext of a linear transform, whose products are summed before the division by the special primes.
    type Extended: Send + Sync;
    /// The source of a request's encryptions of zero.
    type Zeros: Send + Sync;

    /// Fails unless the keys belong together and suffice for a program; returns their owner, if there are any.
    fn check_keys(&self, program: &Program) -> Result<Option<KeyId>, Error>;

    /// The encryptions of zero of a seed.
    fn zeros(&self, seed: Seed) -> Result<Self::Zeros, Error>;

    fn read(&self, bytes: &[u8]) -> Result<Self::Ciphertext, Error>;

    fn write(&self, ciphertext: &Self::Ciphertext) -> Vec<u8>;

    fn facts(&self, ciphertext: &Self::Ciphertext) -> Facts;

    /// The plaintext of a vector of slots.
    fn encode(&self, slots: &Numbers, level: usize, scale: f64) -> Result<Self::Plaintext, Error>;

    /// The same for a linear transform of ciphertexts of that level.
    fn encode_extended(
        &self,
        slots: &Numbers,
        level: usize,
        scale: f64,
    ) -> Result<Self::Extended, Error>;

    /// The encryption of zero with that number, at a step's level and scale.
    fn zero(&self, zeros: &Self::Zeros, index: u64, step: &Step)
    -> Result<Self::Ciphertext, Error>;

    /// Bytes of memory that a plaintext takes.
    fn plaintext_bytes(plaintext: &Self::Plaintext) -> usize;

    /// Bytes of memory that a plaintext of a linear transform takes.
    fn extended_bytes(plaintext: &Self::Extended) -> usize;

    /// Rotations of one ciphertext, with one decomposition.
    fn rotate_many(
        &self,
        spread: Spread,
        a: &Self::Ciphertext,
        by: &[i64],
    ) -> Result<Vec<Self::Ciphertext>, Error>;

    /// A linear transform; `plaintexts` are those of its terms in order.
    fn transform(
        &self,
        spread: Spread,
        a: &Self::Ciphertext,
        transform: &Transform,
        plaintexts: &[Arc<Self::Extended>],
    ) -> Result<Self::Ciphertext, Error>;

    /// A refreshed ciphertext; [`Error::Cancelled`] soon after `stopped` says so.
    fn refresh(
        &self,
        spread: Spread,
        a: &Self::Ciphertext,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Self::Ciphertext, Error>;

    /// The result of any other step that computes.
    fn apply(
        &self,
        spread: Spread,
        step: &Step,
        operands: &[&Self::Ciphertext],
        plaintext: Option<&Self::Plaintext>,
    ) -> Result<Self::Ciphertext, Error>;
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

/// [`Scheme::apply`] of what both schemes have, and of a scheme's own operations, whose operand is `$a()?`.
/// `Operation` and [`crate::keys::key`] are in scope.
macro_rules! applied {
    (
        $scheme:literal, $evaluator:expr, $keys:expr, $step:expr, $operands:expr, $plaintext:expr,
        |$a:ident| { $($own:pat => $done:expr),* $(,)? }
    ) => {{
        let e = $evaluator;
        let unknown = || $crate::scheme::interface::unknown($scheme, $step);
        let $a = || $operands.first().copied().ok_or_else(unknown);
        let b = || $operands.get(1).copied().ok_or_else(unknown);
        let m = || $plaintext.ok_or_else(unknown);
        let done = match $step.operation {
            Operation::Add(..) => e.add($a()?, b()?),
            Operation::Sub(..) => e.sub($a()?, b()?),
            Operation::Negate(_) => e.negate($a()?),
            Operation::AddPlain(..) => e.add_plain($a()?, m()?),
            Operation::SubPlain(..) => e.sub_plain($a()?, m()?),
            Operation::MultiplyPlain(..) => e.multiply_plain($a()?, m()?),
            Operation::Multiply(..) => e.multiply($a()?, b()?),
            Operation::Square(_) => e.square($a()?),
            Operation::Relinearize(_) => {
                e.relinearize($a()?, key($keys.relinearization.as_deref(), "relinearization")?)
            }
            // The walk does these itself: they need no ciphertext, no evaluator, several plaintexts or an
            // observer.
            Operation::Input
            | Operation::EncryptZero
            | Operation::Within(..)
            | Operation::LinearTransform(..)
            | Operation::Bootstrap(_) => return Err(unknown()),
            $($own => $done,)*
        };
        Ok(done?)
    }};
}
pub(super) use applied;

/// A transform as an evaluator's crate has it, its plaintexts in order.
macro_rules! lent_transform {
    ($scheme:ident, $transform:expr, $plaintexts:expr) => {{
        use ::$scheme::linear_transform::{Giant, LinearTransform, Term};
        let mut plaintexts = $plaintexts.iter();
        let mut term = |term: &::program::transform::Term| Term {
            rotation: i64::from(term.rotation),
            plaintext: term.plaintext.and_then(|_| plaintexts.next()).map(|p| &**p),
        };
        let giants = $transform.giants.iter().map(|giant| Giant {
            rotation: i64::from(giant.rotation),
            terms: giant.terms.iter().map(&mut term).collect(),
        });
        LinearTransform {
            giants: giants.collect(),
        }
    }};
}
pub(super) use lent_transform;
