// SPDX-License-Identifier: Apache-2.0
//! BFV.

use super::interface::{
    Evaluators, Facts, Scheme, Spread, applied, lent_transform, other_numbers, unknown,
};
use crate::keys::key;
use crate::{Error, KeySet};
use bfv::linear_transform::ExtendedPlaintext;
use bfv::{BatchEncoder, BfvParams, Ciphertext, Encryptor, Evaluator, Plaintext};
use program::Program;
use program::expression::Numbers;
use program::step::{Operation, Step};
use program::transform::Transform;
use rlwe::{KeyId, Seed, Threads};
use std::sync::Arc;
use zq::Word;

/// BFV with the keys of a run.
pub struct Bfv<W: Word> {
    pub(crate) params: BfvParams<W>,
    pub(crate) keys: KeySet<W>,
    pub(crate) evaluators: Evaluators<Evaluator<W>>,
    /// `None` where the plaintext modulus has no slots, and for programs without plaintexts.
    encoder: Option<BatchEncoder<W>>,
}

impl<W: Word> Bfv<W> {
    pub fn new(
        params: &BfvParams<W>,
        keys: &KeySet<W>,
        threads: &Threads,
        encodes: bool,
    ) -> Result<Self, Error> {
        let made = || Evaluator::new(params);
        let evaluators = Evaluators {
            single: made().with_threads(Threads::ONE),
            all: made().with_threads(threads.clone()),
        };
        let encoder = match params.batching().filter(|_| encodes) {
            Some(_) => Some(BatchEncoder::new(params)?),
            None => None,
        };
        Ok(Self {
            params: params.clone(),
            keys: keys.clone(),
            evaluators,
            encoder,
        })
    }
}

impl<W: Word> Bfv<W> {
    fn encoder(&self) -> Result<&BatchEncoder<W>, Error> {
        let no_slots = || bfv::Error::NoBatching {
            t: self.params.plain_modulus(),
            n: self.params.n(),
            order: 2 * self.params.n(),
        };
        Ok(self.encoder.as_ref().ok_or_else(no_slots)?)
    }
}

fn integers(slots: &Numbers) -> Result<&[i64], Error> {
    match slots {
        Numbers::Integers(slots) => Ok(slots),
        Numbers::Reals(_) => Err(other_numbers("integers")),
    }
}

impl<W: Word> Scheme for Bfv<W> {
    type Ciphertext = Ciphertext<W>;
    type Plaintext = Plaintext;
    type Extended = ExtendedPlaintext<W>;
    /// None without a public key.
    type Zeros = Option<Encryptor<W>>;

    fn check_keys(&self, program: &Program) -> Result<Option<KeyId>, Error> {
        let rlwe = self.params.rlwe();
        self.keys.check(program, rlwe, rlwe::rotation_element)
    }

    fn zeros(&self, seed: Seed) -> Result<Self::Zeros, Error> {
        let public = self.keys.public.as_ref();
        let made = public.map(|public| Encryptor::new(&self.params, public.clone(), seed));
        Ok(made.transpose()?)
    }

    fn read(&self, bytes: &[u8]) -> Result<Ciphertext<W>, Error> {
        Ok(Ciphertext::from_bytes(&self.params, bytes)?)
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
        let slots = integers(slots)?;
        Ok(match &self.encoder {
            Some(encoder) => encoder.encode_signed(slots)?,
            // Without slots they are the coefficients.
            None => Plaintext::from_signed(&self.params, slots)?,
        })
    }

    fn encode_extended(
        &self,
        slots: &Numbers,
        level: usize,
        _: f64,
    ) -> Result<ExtendedPlaintext<W>, Error> {
        let slots = integers(slots)?;
        Ok(self.encoder()?.encode_signed_extended(slots, level + 1)?)
    }

    fn transform(
        &self,
        spread: Spread,
        a: &Ciphertext<W>,
        transform: &Transform,
        plaintexts: &[Arc<ExtendedPlaintext<W>>],
    ) -> Result<Ciphertext<W>, Error> {
        let keys = self.keys.galois.as_deref();
        let transform = lent_transform!(bfv, transform, plaintexts);
        let e = self.evaluators.on(spread);
        Ok(e.linear_transform(a, &transform, key(keys, "rotation")?)?)
    }

    fn plaintext_bytes(plaintext: &Plaintext) -> usize {
        size_of_val(plaintext.coefficients())
    }

    fn extended_bytes(plaintext: &ExtendedPlaintext<W>) -> usize {
        size_of_val(plaintext.poly().data())
    }

    fn zero(&self, zeros: &Self::Zeros, index: u64, step: &Step) -> Result<Ciphertext<W>, Error> {
        let zero = key(zeros.as_ref(), "public")?.zero_at(index)?;
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

    fn refresh(
        &self,
        _: Spread,
        _: &Ciphertext<W>,
        _: &dyn Fn() -> bool,
    ) -> Result<Ciphertext<W>, Error> {
        Err(Error::Input("BFV has no bootstrapping".into()))
    }

    fn apply(
        &self,
        spread: Spread,
        step: &Step,
        operands: &[&Ciphertext<W>],
        plaintext: Option<&Plaintext>,
    ) -> Result<Ciphertext<W>, Error> {
        let e = self.evaluators.on(spread);
        applied!("BFV", e, self.keys, step, operands, plaintext, |a| {
            Operation::Rotate(_, by) => {
                let keys = key(self.keys.galois.as_deref(), "rotation")?;
                e.rotate_rows(a()?, i64::from(by), keys)
            },
            Operation::SwapRows(_) => {
                let keys = key(self.keys.galois.as_deref(), "rotation")?;
                e.swap_rows(a()?, keys)
            },
            Operation::ModDrop(_) => e.mod_switch_to(a()?, step.level as usize + 1),
            Operation::Rescale(_) | Operation::RelinearizeRescale(_) => {
                return Err(unknown("BFV", step));
            },
        })
    }
}
