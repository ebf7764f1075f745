// SPDX-License-Identifier: Apache-2.0
//! A client, and the walk that a run is held to: one step after another on one thread, each rotation by itself.

use super::clear::{Slots, integer_row, integers, real_row, reals};
use super::key_set;
use crate::Keys;
use bfv::{BatchEncoder, BfvParams};
use ckks::CkksParams;
use program::expression::Numbers;
use program::step::Operation;
use program::{Encryption, Parameters, Program};
use rlwe::{KeyGenerator, SecretKey, Seed};
use std::sync::Arc;
use zq::Word;

/// A program's transform as a scheme has it, with its terms' plaintexts in order.
macro_rules! transform {
    ($scheme:ident, $transform:expr, $encoded:expr) => {{
        use $scheme::linear_transform::{Giant, LinearTransform, Term};
        let (mut encoded, mut giants) = ($encoded.iter(), vec![]);
        for giant in &$transform.giants {
            let terms = giant.terms.iter().map(|term| Term {
                rotation: term.rotation.into(),
                plaintext: term.plaintext.and_then(|_| encoded.next()),
            });
            giants.push(Giant {
                rotation: giant.rotation.into(),
                terms: terms.collect(),
            });
        }
        LinearTransform { giants }
    }};
}

/// A secret key over either word.
enum Secret {
    Narrow(Arc<SecretKey<u64>>),
    Wide(Arc<SecretKey<u128>>),
}

/// Keys and encrypted inputs of one program.
pub struct Client {
    pub keys: Keys,
    pub inputs: Vec<Vec<u8>>,
    secret: Secret,
}

impl Client {
    pub fn new(program: &Program, rows: &[Slots]) -> Self {
        Self::seeded(program, rows, "client")
    }

    pub fn seeded(program: &Program, rows: &[Slots], seed: &str) -> Self {
        let limbs = program.parameters.primes().len();
        let needs = program.required_keys();
        let n = program.parameters.n();
        let elements = |of: fn(usize, i64) -> u64| -> Vec<u64> {
            let swap = needs.swap_rows.then(|| rlwe::conjugation_element(n));
            let rotations = needs.rotations.iter().map(|&by| of(n, i64::from(by)));
            rotations.chain(swap).collect()
        };
        let seed = Seed::from_text(seed);
        match &program.parameters {
            Parameters::Bfv(params) => {
                let secret = KeyGenerator::new(params, seed).secret_key().unwrap();
                let elements = elements(rlwe::rotation_element);
                let set = key_set(params, &secret, limbs, &elements, program.encryption);
                let secret = Arc::new(secret);
                Self {
                    inputs: encrypt_bfv(params, program.encryption, &secret, &set, rows),
                    keys: Keys::Narrow(set),
                    secret: Secret::Narrow(secret),
                }
            }
            Parameters::BfvWide(params) => {
                let secret = KeyGenerator::new(params, seed).secret_key().unwrap();
                let elements = elements(rlwe::rotation_element);
                let set = key_set(params, &secret, limbs, &elements, program.encryption);
                let secret = Arc::new(secret);
                Self {
                    inputs: encrypt_bfv(params, program.encryption, &secret, &set, rows),
                    keys: Keys::Wide(set),
                    secret: Secret::Wide(secret),
                }
            }
            Parameters::Ckks(params) => {
                let secret = KeyGenerator::new(params, seed).secret_key().unwrap();
                let elements = elements(ckks::slot_rotation_element);
                let set = key_set(params, &secret, limbs, &elements, program.encryption);
                let encoder = ckks::Encoder::new(params);
                let encryptor = ckks::Encryptor::new(params, Seed::from_text("encrypt"));
                let one = |(index, row): (u64, &Slots)| {
                    let plain = encoder
                        .encode_real(&real_row(row), params.max_level(), params.scale())
                        .unwrap();
                    let sent = match program.encryption.is_secret() {
                        true => encryptor.encrypt_secret(&plain, &secret, index),
                        false => encryptor.encrypt(&plain, set.public.as_ref().unwrap(), index),
                    };
                    sent.unwrap().to_bytes()
                };
                Self {
                    inputs: (0..).zip(rows).map(one).collect(),
                    keys: Keys::Narrow(set),
                    secret: Secret::Narrow(Arc::new(secret)),
                }
            }
        }
    }

    pub fn decrypt(&self, program: &Program, bytes: &[u8]) -> Slots {
        match (&program.parameters, &self.secret) {
            (Parameters::Bfv(p), Secret::Narrow(secret)) => decrypt_bfv(p, secret, bytes),
            (Parameters::BfvWide(p), Secret::Wide(secret)) => decrypt_bfv(p, secret, bytes),
            (Parameters::Ckks(p), Secret::Narrow(secret)) => {
                let ciphertext = ckks::Ciphertext::from_bytes(p, bytes).unwrap();
                let decryptor = ckks::Decryptor::new(p, secret).unwrap();
                let slots = decryptor.decrypt_slots(&ciphertext).unwrap();
                Slots::Reals(slots.iter().map(|z| z.re).collect())
            }
            _ => panic!("a key of other words"),
        }
    }

    /// The outputs of the walk, with zeros from the seed that `tests::run` gives.
    pub fn reference(&self, program: &Program, plain: &[Numbers]) -> Vec<Vec<u8>> {
        let values = program.evaluate(plain).unwrap();
        let plain: Vec<Numbers> = (0..program.plaintexts.len() as u32)
            .map(|number| program.slots(&values, number).unwrap())
            .collect();
        match (&program.parameters, &self.keys) {
            (Parameters::Bfv(p), Keys::Narrow(keys)) => {
                walk_bfv(program, p, keys, &self.inputs, &plain)
            }
            (Parameters::BfvWide(p), Keys::Wide(keys)) => {
                walk_bfv(program, p, keys, &self.inputs, &plain)
            }
            (Parameters::Ckks(p), Keys::Narrow(keys)) => {
                walk_ckks(program, p, keys, &self.inputs, &plain)
            }
            _ => panic!("keys of other words"),
        }
    }
}

fn encrypt_bfv<W: Word>(
    params: &BfvParams<W>,
    encryption: Encryption,
    secret: &Arc<SecretKey<W>>,
    keys: &crate::KeySet<W>,
    rows: &[Slots],
) -> Vec<Vec<u8>> {
    let (encoder, seed) = (
        BatchEncoder::new(params).unwrap(),
        Seed::from_text("encrypt"),
    );
    let encryptor = match encryption {
        Encryption::Secret => bfv::Encryptor::symmetric(params, secret.clone(), seed),
        Encryption::Public | Encryption::Extended => {
            bfv::Encryptor::new(params, keys.public.clone().unwrap(), seed)
        }
    }
    .unwrap();
    let one = |row: &Slots| {
        let row = integer_row(row);
        let plain = encoder.encode_signed(&row).unwrap();
        encryptor.encrypt(&plain).unwrap().to_bytes()
    };
    rows.iter().map(one).collect()
}

fn decrypt_bfv<W: Word>(params: &BfvParams<W>, secret: &Arc<SecretKey<W>>, bytes: &[u8]) -> Slots {
    let ciphertext = bfv::Ciphertext::from_bytes(params, bytes).unwrap();
    let decryptor = bfv::Decryptor::new(params, secret.clone()).unwrap();
    let plain = decryptor.decrypt(&ciphertext).unwrap();
    let encoder = BatchEncoder::new(params).unwrap();
    Slots::Integers(encoder.decode_signed(&plain).unwrap())
}

fn walk_bfv<W: Word>(
    program: &Program,
    params: &BfvParams<W>,
    keys: &crate::KeySet<W>,
    inputs: &[Vec<u8>],
    plain: &[Numbers],
) -> Vec<Vec<u8>> {
    let e = bfv::Evaluator::new(params);
    let encoder = BatchEncoder::new(params).unwrap();
    let public = keys.public.clone().unwrap();
    let zeros = bfv::Encryptor::new(params, public, Seed::from_text("zeros")).unwrap();
    let encode = |number: u32| {
        let row = integers(&plain[number as usize]);
        encoder.encode_signed(row).unwrap()
    };
    let mut values: Vec<bfv::Ciphertext<W>> = Vec::new();
    for (number, step) in program.steps.iter().enumerate() {
        let of = |a: u32| &values[a as usize];
        let (relin, galois) = (
            keys.relinearization.as_ref().unwrap(),
            keys.galois.as_ref().unwrap(),
        );
        let value = match step.operation {
            Operation::Input => bfv::Ciphertext::from_bytes(params, &inputs[number]),
            Operation::EncryptZero => {
                zeros.encrypt(&bfv::Plaintext::from_signed(params, &[]).unwrap())
            }
            Operation::Add(a, b) => e.add(of(a), of(b)),
            Operation::Sub(a, b) => e.sub(of(a), of(b)),
            Operation::Negate(a) => e.negate(of(a)),
            Operation::AddPlain(a, p) => e.add_plain(of(a), &encode(p.number)),
            Operation::SubPlain(a, p) => e.sub_plain(of(a), &encode(p.number)),
            Operation::MultiplyPlain(a, p) => e.multiply_plain(of(a), &encode(p.number)),
            Operation::Multiply(a, b) => e.multiply(of(a), of(b)),
            Operation::Square(a) => e.square(of(a)),
            Operation::Relinearize(a) => e.relinearize(of(a), relin),
            Operation::Rotate(a, by) => e.rotate_rows(of(a), i64::from(by), galois),
            Operation::SwapRows(a) => e.swap_rows(of(a), galois),
            Operation::ModDrop(a) => {
                let mut value = of(a).clone();
                while value.limbs() > step.level as usize + 1 {
                    value = e.mod_switch(&value).unwrap();
                }
                Ok(value)
            }
            Operation::Within(a, _) => Ok(of(a).clone()),
            Operation::LinearTransform(a, number) => {
                let transform = &program.transforms[number as usize];
                let encoded: Vec<_> = transform
                    .plaintexts()
                    .map(|p| {
                        let slots = integers(&plain[p.number as usize]);
                        encoder
                            .encode_signed_extended(slots, step.level as usize + 1)
                            .unwrap()
                    })
                    .collect();
                e.linear_transform(of(a), &transform!(bfv, transform, encoded), galois)
            }
            Operation::Rescale(_) | Operation::RelinearizeRescale(_) | Operation::Bootstrap(_) => {
                panic!("BFV has none of these")
            }
        };
        values.push(value.unwrap());
    }
    let output = |&o: &u32| values[o as usize].to_bytes();
    program.outputs.iter().map(output).collect()
}

fn walk_ckks(
    program: &Program,
    params: &CkksParams,
    keys: &crate::KeySet<u64>,
    inputs: &[Vec<u8>],
    plain: &[Numbers],
) -> Vec<Vec<u8>> {
    let (e, encoder) = (ckks::Evaluator::new(params), ckks::Encoder::new(params));
    let zeros = ckks::Encryptor::new(params, Seed::from_text("zeros"));
    let mut next_zero = 0..;
    let mut values: Vec<ckks::Ciphertext> = Vec::new();
    for (number, step) in program.steps.iter().enumerate() {
        let of = |a: u32| &values[a as usize];
        let level = step.level as usize;
        let encode = |p: program::step::Plaintext| {
            let row = reals(&plain[p.number as usize]);
            encoder.encode_real(row, level, p.scale).unwrap()
        };
        let (relin, galois) = (
            keys.relinearization.as_ref().unwrap(),
            keys.galois.as_ref().unwrap(),
        );
        let value = match step.operation {
            Operation::Input => ckks::Ciphertext::from_bytes(params, &inputs[number]),
            Operation::EncryptZero => {
                let zero = encoder.encode_real(&[], level, step.scale).unwrap();
                let public = keys.public.as_ref().unwrap();
                zeros.encrypt(&zero, public, next_zero.next().unwrap())
            }
            Operation::Add(a, b) => e.add(of(a), of(b)),
            Operation::Sub(a, b) => e.sub(of(a), of(b)),
            Operation::Negate(a) => e.negate(of(a)),
            Operation::AddPlain(a, p) => e.add_plain(of(a), &encode(p)),
            Operation::SubPlain(a, p) => e.sub_plain(of(a), &encode(p)),
            Operation::MultiplyPlain(a, p) => e.multiply_plain(of(a), &encode(p)),
            Operation::Multiply(a, b) => e.multiply(of(a), of(b)),
            Operation::Square(a) => e.square(of(a)),
            Operation::Relinearize(a) => e.relinearize(of(a), relin),
            Operation::Rotate(a, by) => e.rotate(of(a), i64::from(by), galois),
            Operation::Rescale(a) => e.rescale(of(a)),
            Operation::RelinearizeRescale(a) => e.relinearize_rescale(of(a), relin),
            Operation::Bootstrap(a) => {
                let params = program.bootstrapping.as_ref().unwrap().params();
                let made = ckks::bootstrap::Bootstrapper::new(params, rlwe::Threads::ONE).unwrap();
                made.refresh(of(a), &**keys.bootstrapping.as_ref().unwrap())
            }
            Operation::LinearTransform(a, number) => {
                let transform = &program.transforms[number as usize];
                let encoded: Vec<_> = transform
                    .plaintexts()
                    .map(|p| {
                        let row = reals(&plain[p.number as usize]);
                        encoder.encode_real_extended(row, level, p.scale).unwrap()
                    })
                    .collect();
                e.linear_transform(of(a), &transform!(ckks, transform, encoded), galois)
            }
            Operation::ModDrop(a) => e.drop_to(of(a), level),
            Operation::Within(a, _) => Ok(of(a).clone()),
            Operation::SwapRows(_) => panic!("CKKS has one row"),
        };
        values.push(value.unwrap());
    }
    let output = |&o: &u32| values[o as usize].to_bytes();
    program.outputs.iter().map(output).collect()
}
