// SPDX-License-Identifier: Apache-2.0
//! CKKS.

use super::interface::{
    Evaluators, Facts, Scheme, Spread, applied, lent_transform, other_numbers, unknown,
};
use crate::keys::key;
use crate::{Error, KeySet};
use ckks::bootstrap::{BootstrapParams, Bootstrapper};
use ckks::linear_transform::ExtendedPlaintext;
use ckks::{Ciphertext, CkksParams, Encoder, Encryptor, Evaluator, Plaintext};
use program::Program;
use program::expression::Numbers;
use program::step::{Operation, Step};
use program::transform::Transform;
use rlwe::{KeyId, Seed, Threads};
use std::sync::{Arc, OnceLock};

/// CKKS with the keys of a run.
pub struct Ckks {
    pub(crate) params: CkksParams,
    pub(crate) keys: KeySet<u64>,
    evaluators: Evaluators<Evaluator>,
    encoder: Encoder,
    bootstrapping: Option<BootstrapParams>,
    /// Made for the first refresh, for all that follow.
    bootstrappers: OnceLock<Result<Evaluators<Bootstrapper>, ckks::Error>>,
    threads: Threads,
}

impl Ckks {
    pub fn new(
        program: &Program,
        params: &CkksParams,
        keys: &KeySet<u64>,
        threads: &Threads,
    ) -> Self {
        let bootstrapping = program.bootstrapping.as_ref();
        Self {
            bootstrapping: bootstrapping.map(|own| own.params().clone()),
            bootstrappers: OnceLock::new(),
            threads: threads.clone(),
            params: params.clone(),
            keys: keys.clone(),
            evaluators: Evaluators {
                single: Evaluator::new(params),
                all: Evaluator::new(params).with_threads(threads.clone()),
            },
            encoder: Encoder::new(params),
        }
    }
}

impl Ckks {
    fn bootstrapper(&self, spread: Spread) -> Result<&Bootstrapper, Error> {
        let make = || {
            let params = self.bootstrapping.as_ref().ok_or(ckks::Error::Bootstrap {
                what: "the bootstrapping of the program",
                got: "none".into(),
                allowed: "one where ciphertexts are refreshed".into(),
            })?;
            let all = Bootstrapper::new(params, self.threads.clone())?;
            let single = all.with_threads(Threads::ONE);
            Ok(Evaluators { single, all })
        };
        let made = self.bootstrappers.get_or_init(make).as_ref();
        Ok(made.map_err(Clone::clone)?.on(spread))
    }
}

impl Scheme for Ckks {
    type Ciphertext = Ciphertext;
    type Plaintext = Plaintext;
    type Extended = ExtendedPlaintext;
    type Zeros = Encryptor;

    fn check_keys(&self, program: &Program) -> Result<Option<KeyId>, Error> {
        let rlwe = self.params.rlwe();
        self.keys.check(program, rlwe, ckks::slot_rotation_element)
    }

    fn zeros(&self, seed: Seed) -> Result<Encryptor, Error> {
        Ok(Encryptor::new(&self.params, seed))
    }

    fn read(&self, bytes: &[u8]) -> Result<Ciphertext, Error> {
        Ok(Ciphertext::from_bytes(&self.params, bytes)?)
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

    fn encode_extended(
        &self,
        slots: &Numbers,
        level: usize,
        scale: f64,
    ) -> Result<ExtendedPlaintext, Error> {
        match slots {
            Numbers::Reals(slots) => Ok(self.encoder.encode_real_extended(slots, level, scale)?),
            Numbers::Integers(_) => Err(other_numbers("reals")),
        }
    }

    fn transform(
        &self,
        spread: Spread,
        a: &Ciphertext,
        transform: &Transform,
        plaintexts: &[Arc<ExtendedPlaintext>],
    ) -> Result<Ciphertext, Error> {
        let keys = self.keys.galois.as_deref();
        let transform = lent_transform!(ckks, transform, plaintexts);
        let e = self.evaluators.on(spread);
        Ok(e.linear_transform(a, &transform, key(keys, "rotation")?)?)
    }

    fn plaintext_bytes(plaintext: &Plaintext) -> usize {
        size_of_val(plaintext.poly().data())
    }

    fn extended_bytes(plaintext: &ExtendedPlaintext) -> usize {
        size_of_val(plaintext.poly().data())
    }

    fn zero(&self, zeros: &Encryptor, index: u64, step: &Step) -> Result<Ciphertext, Error> {
        let public = key(self.keys.public.as_deref(), "public")?;
        let zero = self
            .encoder
            .encode_real(&[], step.level as usize, step.scale)?;
        Ok(zeros.encrypt(&zero, public, index)?)
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

    fn refresh(
        &self,
        spread: Spread,
        a: &Ciphertext,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Ciphertext, Error> {
        let keys = key(self.keys.bootstrapping.as_deref(), "bootstrapping")?;
        let made = self.bootstrapper(spread)?;
        match made.refresh_unless(a, keys, stopped) {
            Err(ckks::Error::Stopped) => Err(Error::Cancelled),
            refreshed => Ok(refreshed?),
        }
    }

    fn apply(
        &self,
        spread: Spread,
        step: &Step,
        operands: &[&Ciphertext],
        plaintext: Option<&Plaintext>,
    ) -> Result<Ciphertext, Error> {
        let e = self.evaluators.on(spread);
        applied!("CKKS", e, self.keys, step, operands, plaintext, |a| {
            Operation::Rotate(_, by) => {
                let keys = key(self.keys.galois.as_deref(), "rotation")?;
                e.rotate(a()?, i64::from(by), keys)
            },
            Operation::Rescale(_) => e.rescale(a()?),
            Operation::RelinearizeRescale(_) => {
                let relin = key(self.keys.relinearization.as_deref(), "relinearization")?;
                e.relinearize_rescale(a()?, relin)
            },
            Operation::ModDrop(_) => e.drop_to(a()?, step.level as usize),
            Operation::SwapRows(_) => return Err(unknown("CKKS", step)),
        })
    }
}
