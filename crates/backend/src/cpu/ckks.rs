// SPDX-License-Identifier: Apache-2.0
//! CKKS.

use super::scheme::{Evaluators, Facts, Scheme, Spread, key, other_numbers, unknown};
use crate::{Error, KeySet};
use ckks::{Ciphertext, CkksParams, Encoder, Encryptor, Evaluator, Plaintext};
use program::expression::Numbers;
use program::step::{Operation, Step};
use rlwe::{Seed, Threads};

/// CKKS for one run.
pub struct Ckks<'a> {
    pub(crate) params: &'a CkksParams,
    pub(crate) keys: &'a KeySet<u64>,
    evaluators: Evaluators<Evaluator>,
    encoder: Encoder,
    zeros: Encryptor,
}

impl<'a> Ckks<'a> {
    pub fn new(
        params: &'a CkksParams,
        keys: &'a KeySet<u64>,
        seed: Seed,
        threads: &Threads,
    ) -> Self {
        Self {
            params,
            keys,
            evaluators: Evaluators {
                single: Evaluator::new(params),
                all: Evaluator::with_threads(params, threads),
            },
            encoder: Encoder::new(params),
            zeros: Encryptor::new(params, seed),
        }
    }
}

impl Scheme for Ckks<'_> {
    type Ciphertext = Ciphertext;
    type Plaintext = Plaintext;

    fn read(&self, bytes: &[u8]) -> Result<Ciphertext, Error> {
        Ok(Ciphertext::from_bytes(self.params, bytes)?)
    }

    fn write(&self, ciphertext: &Ciphertext) -> Vec<u8> {
        ciphertext.to_bytes()
    }

    fn facts(&self, ciphertext: &Ciphertext) -> Facts {
        Facts {
            level: ciphertext.level(),
            size: ciphertext.size(),
            scale: Some(ciphertext.scale()),
            slots: Some(ciphertext.slots()),
            seeded: ciphertext.is_seeded(),
            key: ciphertext.key_id(),
        }
    }

    fn encode(&self, slots: &Numbers, level: usize, scale: f64) -> Result<Plaintext, Error> {
        match slots {
            Numbers::Reals(slots) => Ok(self.encoder.encode_real(slots, level, scale)?),
            Numbers::Integers(_) => Err(other_numbers("reals")),
        }
    }

    fn zero(&self, index: u64, step: &Step) -> Result<Ciphertext, Error> {
        let public = key(self.keys.public.as_deref(), "public")?;
        let zero = self
            .encoder
            .encode_real(&[], step.level as usize, step.scale)?;
        Ok(self.zeros.encrypt(&zero, public, index)?)
    }

    fn rotate_many(
        &self,
        spread: Spread,
        a: &Ciphertext,
        by: &[i64],
    ) -> Result<Vec<Ciphertext>, Error> {
        let keys = key(self.keys.galois.as_deref(), "rotation")?;
        Ok(self.evaluators.on(spread).rotate_many(a, by, keys)?)
    }

    fn apply(
        &self,
        spread: Spread,
        step: &Step,
        operands: &[&Ciphertext],
        plaintext: Option<&Plaintext>,
    ) -> Result<Ciphertext, Error> {
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
                e.rotate(a, i64::from(by), keys)
            }
            (Operation::Rescale(_), [a], _) => e.rescale(a),
            (Operation::ModDrop(_), [a], _) => e.drop_to(a, step.level as usize),
            _ => return Err(unknown("CKKS", step)),
        };
        Ok(done?)
    }
}
