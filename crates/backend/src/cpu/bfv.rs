// SPDX-License-Identifier: Apache-2.0
//! BFV. A program's n/2 slots stand in both rows alike: a constant stays a constant polynomial.

use super::scheme::{Evaluators, Facts, Scheme, Spread, key, other_numbers, unknown};
use crate::{Error, KeySet};
use bfv::{BatchEncoder, BfvParams, Ciphertext, Encryptor, Evaluator, Plaintext};
use program::expression::Numbers;
use program::step::{Operation, Step};
use rlwe::{Seed, Threads};
use zq::Word;

/// BFV for one run.
pub struct Bfv<'a, W: Word> {
    pub(crate) params: &'a BfvParams<W>,
    pub(crate) keys: &'a KeySet<W>,
    pub(crate) evaluators: Evaluators<Evaluator<W>>,
    /// `None` where the plaintext modulus has no slots; programs without plaintexts need none.
    encoder: Option<BatchEncoder<W>>,
    zeros: Option<Encryptor<W>>,
}

impl<'a, W: Word> Bfv<'a, W> {
    pub fn new(
        params: &'a BfvParams<W>,
        keys: &'a KeySet<W>,
        seed: Seed,
        threads: &Threads,
    ) -> Result<Self, Error> {
        let made = || Evaluator::new(params);
        let evaluators = Evaluators {
            single: made().with_threads(Threads::ONE),
            all: made().with_threads(threads.clone()),
        };
        let zeros = match &keys.public {
            None => None,
            Some(public) => Some(Encryptor::new(params, public.clone(), seed)?),
        };
        let encoder = match params.batching() {
            Some(_) => Some(BatchEncoder::new(params)?),
            None => None,
        };
        Ok(Self {
            params,
            keys,
            evaluators,
            encoder,
            zeros,
        })
    }
}

impl<W: Word> Scheme for Bfv<'_, W> {
    type Ciphertext = Ciphertext<W>;
    type Plaintext = Plaintext;

    fn read(&self, bytes: &[u8]) -> Result<Ciphertext<W>, Error> {
        Ok(Ciphertext::from_bytes(self.params, bytes)?)
    }

    fn write(&self, ciphertext: &Ciphertext<W>) -> Vec<u8> {
        ciphertext.to_bytes()
    }

    fn facts(&self, ciphertext: &Ciphertext<W>) -> Facts {
        Facts {
            level: ciphertext.limbs().saturating_sub(1),
            size: ciphertext.size(),
            scale: None,
            slots: None,
            seeded: ciphertext.is_seeded(),
            key: ciphertext.key_id(),
        }
    }

    fn encode(&self, slots: &Numbers, _: usize, _: f64) -> Result<Plaintext, Error> {
        let Numbers::Integers(slots) = slots else {
            return Err(other_numbers("integers"));
        };
        let no_slots = || bfv::Error::NoBatching {
            t: self.params.plain_modulus(),
            n: self.params.n(),
            order: 2 * self.params.n(),
        };
        let encoder = self.encoder.as_ref().ok_or_else(no_slots)?;
        Ok(encoder.encode_signed(&[slots.as_slice(), slots].concat())?)
    }

    fn zero(&self, index: u64, step: &Step) -> Result<Ciphertext<W>, Error> {
        let zero = key(self.zeros.as_ref(), "public")?.zero_at(index)?;
        let limbs = step.level as usize + 1;
        if zero.limbs() == limbs {
            return Ok(zero);
        }
        Ok(self.evaluators.single.mod_switch_to(&zero, limbs)?)
    }

    fn rotate_many(
        &self,
        spread: Spread,
        a: &Ciphertext<W>,
        by: &[i64],
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let keys = key(self.keys.galois.as_deref(), "rotation")?;
        Ok(self.evaluators.on(spread).rotate_rows_many(a, by, keys)?)
    }

    fn apply(
        &self,
        spread: Spread,
        step: &Step,
        operands: &[&Ciphertext<W>],
        plaintext: Option<&Plaintext>,
    ) -> Result<Ciphertext<W>, Error> {
        let e = self.evaluators.on(spread);
        let done = match (step.operation, operands, plaintext) {
            (Operation::Add(..), [a, b], _) => e.add(a, b),
            (Operation::Sub(..), [a, b], _) => e.sub(a, b),
            (Operation::Negate(_), [a], _) => e.negate(a),
            (Operation::AddPlain(..), [a], Some(m)) => e.add_plain(a, m),
            (Operation::SubPlain(..), [a], Some(m)) => e.sub_plain(a, m),
            (Operation::MultiplyPlain(..), [a], Some(m)) => e.multiply_plain(a, m),
            (Operation::Multiply(..), [a, b], _) => e.multiply(a, b),
            (Operation::Square(_), [a], _) => e.square(a),
            (Operation::Relinearize(_), [a], _) => {
                let relin = key(self.keys.relinearization.as_deref(), "relinearization")?;
                e.relinearize(a, relin)
            }
            (Operation::Rotate(_, by), [a], _) => {
                let keys = key(self.keys.galois.as_deref(), "rotation")?;
                e.rotate_rows(a, i64::from(by), keys)
            }
            (Operation::ModDrop(_), [a], _) => e.mod_switch_to(a, step.level as usize + 1),
            _ => return Err(unknown("BFV", step)),
        };
        Ok(done?)
    }
}
