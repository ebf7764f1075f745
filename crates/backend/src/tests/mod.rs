// SPDX-License-Identifier: Apache-2.0
//! Random programs against a walk step by step, and what is refused.

mod batch;
pub mod clear;
mod client;
mod client_ckks;
mod conformance;
mod conversions;
mod coprocessor;
mod device_memory;
mod faults;
mod moves;
pub mod random;
pub mod reference;
mod refusals;
mod requests;
mod residency;
mod skeleton;
mod zeros;

use crate::{Cpu, Input, KeySet, Keys, Observer, Outcome, Unobserved};
use bfv::{BfvParams, BfvParamsLiteral};
use ckks::{CkksParams, CkksParamsLiteral};
use clear::Slots;
use program::expression::Numbers;
use program::{Encryption, Parameters, Program};
use random::Maker;
use reference::Client;
use requests::Asked;
use rlwe::{ParameterSet, RlweParamsLiteral, SecurityPolicy, Seed};
use std::sync::atomic::{AtomicUsize, Ordering};
use zq::Word;
use zq::primes::{Direction, ntt_primes};

/// 1 modulo 2048: it has slots for degrees up to 1024.
const PLAIN_MODULUS: u64 = 12289;

pub fn ckks_parameters() -> Parameters {
    let (q, p) = ckks::prime_chain(1024, 50, 40, 4, 50, 1).unwrap();
    let rlwe = RlweParamsLiteral {
        n: 1024,
        q,
        p,
        ..Default::default()
    };
    let scale = 40_f64.exp2();
    let literal = CkksParamsLiteral { rlwe, scale };
    Parameters::Ckks(CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap())
}

/// `count` data primes and a special one.
fn bfv_of<W: Word>(n: usize, bits: u32, count: usize) -> BfvParams<W> {
    let mut q = ntt_primes::<W>(bits, 2 * n as u64, count + 1, Direction::Down, &[]).unwrap();
    let p = q.split_off(count);
    let rlwe = RlweParamsLiteral {
        n,
        q,
        p,
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: PLAIN_MODULUS,
        auxiliary: vec![],
    };
    BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

pub fn bfv_parameters() -> Parameters {
    Parameters::Bfv(bfv_of(1024, 55, 3))
}

/// BFV of another degree.
pub fn parameters_of(n: usize) -> Parameters {
    Parameters::Bfv(bfv_of(n, 55, 3))
}

pub fn bfv_wide_parameters() -> Parameters {
    Parameters::BfvWide(bfv_of(256, 80, 3))
}

/// Runs a program on some threads.
pub fn run(
    program: &Program,
    client: &Client,
    plain: &[Numbers],
    threads: usize,
) -> Result<Outcome, crate::Error> {
    let bytes = client.lent();
    run_with(program, &client.keys, &bytes, plain, threads, &Unobserved)
}

pub fn run_with(
    program: &Program,
    keys: &Keys,
    inputs: &[&[u8]],
    plain: &[Numbers],
    threads: usize,
    observer: &dyn Observer,
) -> Result<Outcome, crate::Error> {
    let request = Asked::new(program, keys, inputs, plain);
    request.with(&Cpu, threads, observer)
}

fn random_programs(parameters: &Parameters, encryption: Encryption, seeds: u64) {
    for seed in 0..seeds {
        let (program, plain) = Maker::new(parameters.clone(), encryption, seed).finish();
        program.check(&program::Limits::default()).unwrap();
        let rows = clear::inputs(&program, seed);
        let client = Client::new(&program, &rows);
        let expected = client.reference(&program, &plain);
        for threads in [1, 2, 3] {
            let outcome = run(&program, &client, &plain, threads)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{program}"));
            assert_eq!(
                outcome.outputs, expected,
                "seed {seed}, {threads} threads\n{program}"
            );
            for step in &program.steps[program.input_count()..] {
                assert!(outcome.seconds.0.contains_key(step.operation.name()));
            }
            assert!(["read", "write"].map(|k| outcome.seconds.0[k] > 0.0) == [true; 2]);
        }
        let wanted = clear::evaluate(&program, &plain, &rows);
        for (bytes, wanted) in expected.iter().zip(wanted) {
            match (client.decrypt(&program, bytes), wanted) {
                (Slots::Integers(got), Slots::Integers(wanted)) => {
                    assert_eq!(got, wanted, "seed {seed}\n{program}");
                }
                (Slots::Reals(got), Slots::Reals(wanted)) => {
                    let error = got.iter().zip(&wanted).map(|(a, b)| (a - b).abs());
                    let error = error.fold(0.0, f64::max);
                    assert!(error < 1e-4, "seed {seed}: {error}\n{program}");
                }
                _ => panic!("slots of another scheme"),
            }
        }
    }
}

#[test]
fn random_ckks_programs_are_the_walk_step_by_step() {
    random_programs(&ckks_parameters(), Encryption::Secret, 12);
}

#[test]
fn random_bfv_programs_are_the_walk_step_by_step() {
    random_programs(&bfv_parameters(), Encryption::Secret, 12);
}

#[test]
fn random_wide_bfv_programs_are_the_walk_step_by_step() {
    random_programs(&bfv_wide_parameters(), Encryption::Public, 4);
}

#[test]
fn random_programs_under_extended_keys_are_the_walk_step_by_step() {
    random_programs(&ckks_parameters(), Encryption::Extended, 4);
    random_programs(&bfv_parameters(), Encryption::Extended, 4);
    random_programs(&bfv_wide_parameters(), Encryption::Extended, 2);
}

#[test]
fn ciphertexts_may_come_as_objects() {
    let parameters = ckks_parameters();
    let (program, plain) = Maker::new(parameters.clone(), Encryption::Secret, 3).finish();
    let client = Client::new(&program, &clear::inputs(&program, 3));
    let Parameters::Ckks(params) = &parameters else {
        panic!("CKKS")
    };
    let read = |bytes: &Vec<u8>| ckks::Ciphertext::from_bytes(params, bytes).unwrap();
    let inputs: Vec<ckks::Ciphertext> = client.inputs.iter().map(read).collect();
    let request = Asked {
        inputs: inputs.iter().map(|one| Input::Ciphertext(one)).collect(),
        ..Asked::new(&program, &client.keys, &[], &plain)
    };
    let outcome = request.of(&Cpu, &Unobserved).unwrap();
    assert_eq!(outcome.outputs, client.reference(&program, &plain));
}

/// Stops a run after some steps.
struct Impatient {
    most: usize,
    done: AtomicUsize,
}

impl Observer for Impatient {
    fn progress(&self, done: usize, total: usize) {
        assert!(done <= total);
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.most
    }
}

#[test]
fn a_cancelled_run_stops_between_two_steps() {
    let (program, plain) = Maker::new(bfv_parameters(), Encryption::Secret, 5).finish();
    let client = Client::new(&program, &clear::inputs(&program, 5));
    let bytes = client.lent();
    let total = program.steps.len() - program.input_count();
    for threads in [1, 2] {
        for most in [0, 4, total + 1] {
            let observer = Impatient {
                most,
                done: AtomicUsize::new(0),
            };
            let ended = run_with(&program, &client.keys, &bytes, &plain, threads, &observer);
            let done = observer.done.into_inner();
            if most > total {
                assert!(ended.is_ok() && done == total, "{done} of {total}");
            } else {
                assert_eq!(ended.unwrap_err(), crate::Error::Cancelled);
                assert!(done < total, "{done} of {total} after {most}");
            }
        }
    }
}

/// Keys of a set, all of them.
fn key_set<W: Word>(
    params: &impl ParameterSet<Word = W>,
    secret: &rlwe::SecretKey<W>,
    limbs: usize,
    elements: &[u64],
    encryption: Encryption,
) -> KeySet<W> {
    let generator = rlwe::KeyGenerator::new(params, Seed::from_text("keys"));
    let public = match encryption {
        Encryption::Extended => generator.extended_public_key(secret),
        _ => generator.public_key(secret),
    };
    KeySet {
        relinearization: Some(generator.relin_key(secret, limbs).unwrap().into()),
        galois: Some(
            generator
                .galois_keys(secret, elements, limbs)
                .unwrap()
                .into(),
        ),
        public: Some(public.unwrap().into()),
        bootstrapping: None,
    }
}
