// SPDX-License-Identifier: Apache-2.0
//! What every backend has to keep: the bytes of the walk step by step, for requests in any order, whatever memory a run
//! is given.

use super::clear;
use super::coprocessor::{ALL, Plain, build, engine};
use super::random::Maker;
use super::reference::Client;
use super::requests::{Asked, PLENTY, resources};
use super::skeleton::{MOST_COEFFICIENTS, Skeleton};
use super::{bfv_parameters, bfv_wide_parameters, ckks_parameters};
use crate::{Backend, Cpu, Error, KeySet, Keys, Observer, Recorder, Unobserved};
use program::expression::Numbers;
use program::{Encryption, Parameters};
use std::sync::Arc;

/// All backends; a new one has its line here.
pub fn backends() -> Vec<Box<dyn Backend>> {
    vec![
        Box::new(Cpu),
        Box::new(engine(build(62, 2, 10), &ALL)),
        Box::new(engine(build(124, 1, 10), &ALL)),
        Box::new(Recorder::default()),
        Box::new(Plain),
        Box::new(Skeleton),
    ]
}

/// The same arguments with another first number.
pub fn changed(plain: &[Numbers]) -> Vec<Numbers> {
    let mut plain = plain.to_vec();
    match plain.first_mut() {
        Some(Numbers::Integers(numbers)) => numbers[0] = i64::from(numbers[0] == 0),
        Some(Numbers::Reals(numbers)) => numbers[0] = f64::from(u8::from(numbers[0] == 0.0)),
        None => {}
    }
    plain
}

/// An opened program gives the reference's bytes for each request: the first, a second with other plain arguments, and
/// the first again, with what is kept. The program is the first random one whose plain argument counts.
fn conforms(parameters: &Parameters, encryption: Encryption) {
    let drawn = (0..).map(|seed| {
        let (program, plain) = Maker::new(parameters.clone(), encryption, seed).finish();
        let client = Client::new(&program, &clear::inputs(&program, seed));
        let requests = [plain.clone(), changed(&plain), plain];
        let expected = requests
            .each_ref()
            .map(|plain| client.reference(&program, plain));
        (program, client, requests, expected)
    });
    let mut drawn = drawn.filter(|(.., expected)| expected[0] != expected[1]);
    let Some((program, client, requests, expected)) = drawn.next() else {
        unreachable!("seeds do not end")
    };
    let inputs = client.lent();
    let program = Arc::new(program);
    for backend in backends() {
        for (threads, memory) in [(1, 1 << 16), (2, PLENTY)] {
            let resources = resources(threads, memory);
            let run = backend.open(&program, &client.keys, &resources).unwrap();
            for (plain, expected) in requests.iter().zip(&expected) {
                let asked = Asked::new(&program, &client.keys, &inputs, plain);
                let outcome = run.evaluate(&asked.request(), &Unobserved).unwrap();
                assert!(
                    outcome.outputs == *expected,
                    "{}, {memory} bytes\n{program}",
                    backend.name()
                );
            }
        }
    }
}

#[test]
fn every_backend_gives_the_bytes_of_the_walk_whatever_it_keeps() {
    conforms(&bfv_parameters(), Encryption::Secret);
    conforms(&ckks_parameters(), Encryption::Public);
    conforms(&bfv_wide_parameters(), Encryption::Extended);
}

#[test]
fn every_backend_refuses_missing_keys_when_a_program_is_opened() {
    let (program, _) = Maker::new(bfv_parameters(), Encryption::Secret, 1).finish();
    for backend in backends() {
        for keys in [
            Keys::Narrow(KeySet::default()),
            Keys::Wide(KeySet::default()),
        ] {
            let refused = backend.open(&Arc::new(program.clone()), &keys, &resources(1, 0));
            assert!(
                matches!(refused.err(), Some(Error::Keys(_))),
                "{}",
                backend.name()
            );
        }
    }
}

/// Wants no run.
struct Cancelling;

impl Observer for Cancelling {
    fn progress(&self, _: usize, _: usize) {}

    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn every_backend_stops_when_its_observer_says_so_and_goes_on_afterwards() {
    let (program, plain) = Maker::new(bfv_parameters(), Encryption::Secret, 1).finish();
    let client = Client::new(&program, &clear::inputs(&program, 1));
    let inputs = client.lent();
    let asked = Asked::new(&program, &client.keys, &inputs, &plain);
    let expected = client.reference(&program, &plain);
    for backend in backends() {
        // `Plain` computes nothing before its results are written.
        if backend.name() == "plain" {
            continue;
        }
        let run = backend.open(
            &Arc::new(program.clone()),
            &client.keys,
            &resources(1, PLENTY),
        );
        let run = run.unwrap();
        let ended = run.evaluate(&asked.request(), &Cancelling);
        assert_eq!(ended.unwrap_err(), Error::Cancelled, "{}", backend.name());
        let outcome = run.evaluate(&asked.request(), &Unobserved).unwrap();
        assert!(outcome.outputs == expected, "{}", backend.name());
    }
}

#[test]
fn a_backend_says_what_it_cannot_do_when_a_program_is_opened() {
    let Parameters::Bfv(params) = super::parameters_of(2 * MOST_COEFFICIENTS) else {
        panic!("BFV")
    };
    let (program, _) = Maker::new(Parameters::Bfv(params), Encryption::Secret, 1).finish();
    let client = Client::new(&program, &clear::inputs(&program, 1));
    let refused = Skeleton
        .open(&Arc::new(program), &client.keys, &resources(1, 0))
        .err();
    let message = "skeleton: has degrees up to 1024, the program has 2048";
    assert_eq!(refused.unwrap().to_string(), message);
}
