// SPDX-License-Identifier: Apache-2.0
//! Operations on ciphertexts; none of them needs the secret key.

mod linear;
mod mod_switch;
mod multiply;
mod plain;
mod rotate;
mod transform;

pub use plain::Multiplier;

use crate::Error;
use crate::ciphertext::Ciphertext;
use crate::params::BfvParams;
use rlwe::wire::Fingerprint;
use rlwe::{ParameterSet, Threads};
use zq::Word;

/// Method of multiplying ciphertexts. Both give valid products of the same plaintext; the residues differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MultiplyAlgorithm {
    /// Halevi, Polyakov, Shoup, ePrint 2018/117: the textbook's rounding, the reference.
    Hps,
    /// HPSPOVERQ, ePrint 2021/204: one conversion and some limbs fewer (the default).
    #[default]
    HpsOverQ,
}

/// Evaluates. Immutable, shared freely between threads; every method returns a new ciphertext.
#[derive(Clone)]
pub struct Evaluator<W: Word> {
    params: BfvParams<W>,
    algorithm: MultiplyAlgorithm,
    threads: Threads,
}

impl<W: Word> Evaluator<W> {
    /// An evaluator on the calling thread with the default algorithm.
    pub fn new(params: &BfvParams<W>) -> Self {
        Self {
            params: params.clone(),
            algorithm: MultiplyAlgorithm::default(),
            threads: Threads::ONE,
        }
    }

    /// Spreads the work of each operation over these threads.
    ///
    /// Residues do not depend on the number of threads. Many ciphertexts are better served by [`Evaluator::batch`].
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Runs `operation` on every item, items spread over `threads`, each computed by one thread; results keep the
    /// order. All items read the same keys, one after the other in each thread, so the keys stay in the caches.
    ///
    /// # Errors
    /// The first item's whose operation failed.
    pub fn batch<T: Sync, R: Send>(
        &self,
        threads: &Threads,
        items: &[T],
        operation: impl Fn(&Self, &T) -> Result<R, Error> + Sync + Send,
    ) -> Result<Vec<R>, Error> {
        threads.try_map(items, |item| operation(self, item))
    }

    /// Chooses the algorithm of ciphertext multiplication.
    #[must_use]
    pub fn with_algorithm(mut self, algorithm: MultiplyAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// The parameters.
    pub fn params(&self) -> &BfvParams<W> {
        &self.params
    }

    /// Fails unless the ciphertext is of this set.
    fn check(&self, ct: &Ciphertext<W>) -> Result<(), Error> {
        Ok(self
            .params
            .check_fingerprint("the ciphertext", ct.fingerprint())?)
    }

    /// Fails unless the key is of this set's ring-LWE part.
    fn check_key(&self, what: &'static str, fingerprint: Fingerprint) -> Result<(), Error> {
        Ok(self.params.rlwe().check_fingerprint(what, fingerprint)?)
    }

    /// Fails unless two operands go together.
    fn check_pair(&self, a: &Ciphertext<W>, b: &Ciphertext<W>) -> Result<(), Error> {
        self.check(a)?;
        self.check(b)?;
        a.key_id().join(b.key_id(), "the second operand")?;
        if a.limbs() == b.limbs() {
            return Ok(());
        }
        Err(Error::LevelMismatch {
            left: a.limbs(),
            right: b.limbs(),
        })
    }
}
