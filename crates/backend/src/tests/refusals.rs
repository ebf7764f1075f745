// SPDX-License-Identifier: Apache-2.0
//! Keys, ciphertexts and arguments that are not the program's.

use super::random::Maker;
use super::reference::Client;
use super::requests::Asked;
use super::{bfv_parameters, ckks_parameters, clear, run, run_with};
use crate::{Error, Input, KeySet, Keys, Unobserved};
use program::expression::Numbers;
use program::step::{Operation, Plaintext, Step};
use program::{Encryption, Parameters, Program};

fn sample(parameters: Parameters) -> (Program, Vec<Numbers>, Client) {
    let (program, plain) = Maker::new(parameters, Encryption::Secret, 1).finish();
    let client = Client::new(&program, &clear::inputs(&program, 1));
    (program, plain, client)
}

fn with_inputs(sample: &(Program, Vec<Numbers>, Client), inputs: &[&[u8]]) -> String {
    let (program, plain, client) = sample;
    run_with(program, &client.keys, inputs, plain, 2, &Unobserved)
        .unwrap_err()
        .to_string()
}

fn with_keys(sample: &(Program, Vec<Numbers>, Client), keys: Keys) -> Error {
    let (program, plain, client) = sample;
    let inputs = client.lent();
    run_with(program, &keys, &inputs, plain, 2, &Unobserved).unwrap_err()
}

#[test]
fn ciphertexts_that_are_not_what_the_program_has_there() {
    let sample = sample(ckks_parameters());
    let (program, plain, client) = &sample;
    let Parameters::Ckks(params) = &program.parameters else {
        panic!("CKKS")
    };
    let inputs = client.lent();
    assert_eq!(
        with_inputs(&sample, &inputs[..2]),
        "2 ciphertexts came, the program takes 3"
    );
    // A result in the place of an argument: its level and seed are gone.
    let fresh = ckks::Ciphertext::from_bytes(params, inputs[1]).unwrap();
    let e = ckks::Evaluator::new(params);
    let dropped = e.drop_to(&fresh, 1).unwrap().to_bytes();
    let message = with_inputs(&sample, &[inputs[0], &dropped, inputs[2]]);
    let place = "ciphertext 1 of argument x has seeded false, the program has seeded true there";
    assert!(message.starts_with(place), "{message}");
    let mut public = program.clone();
    public.encryption = Encryption::Public;
    let message = run(&public, client, plain, 1).unwrap_err().to_string();
    assert!(message.contains("has seeded true"), "{message}");
    let other = Client::seeded(program, &clear::inputs(program, 1), "another client");
    let message = with_inputs(&sample, &[inputs[0], inputs[1], &other.inputs[2]]);
    assert!(
        message.starts_with("ciphertext 0 of argument y belongs to key"),
        "{message}"
    );
    let mut broken = inputs[0].to_vec();
    broken[100] ^= 1;
    assert!(with_inputs(&sample, &[&broken, inputs[1], inputs[2]]).contains("checksum"));
    let number: u64 = 1;
    let request = Asked {
        inputs: vec![Input::Ciphertext(&number)],
        ..Asked::new(program, &client.keys, &[], plain)
    };
    let refused = request.of(&crate::Cpu, &Unobserved).unwrap_err();
    assert!(refused.to_string().contains("another scheme"));
}

#[test]
fn keys_that_do_not_suffice() {
    let mut sample = sample(bfv_parameters());
    let top = sample.0.steps[0];
    for (operation, size) in [
        (Operation::Square(0), 3),
        (Operation::Relinearize(sample.0.steps.len() as u32), 2),
        (Operation::Rotate(0, 5), 2),
        (Operation::EncryptZero, 2),
    ] {
        sample.0.steps.push(Step {
            operation,
            size,
            ..top
        });
    }
    let Keys::Narrow(given) = &sample.2.keys else {
        panic!("64-bit words")
    };
    let given = given.clone();
    let refused = |keys: KeySet<u64>| with_keys(&sample, Keys::Narrow(keys)).to_string();
    assert_eq!(
        refused(given.clone()),
        "the evaluation keys lack rotation 5; generate keys with program.client()"
    );
    for (name, keys) in [
        (
            "relinearization",
            KeySet {
                relinearization: None,
                ..given.clone()
            },
        ),
        (
            "rotation",
            KeySet {
                galois: None,
                ..given.clone()
            },
        ),
        (
            "public",
            KeySet {
                public: None,
                ..given.clone()
            },
        ),
    ] {
        let message = format!("the evaluation keys hold no {name} key, which this program needs");
        assert_eq!(refused(keys), message);
    }
    let Parameters::Bfv(params) = &sample.0.parameters else {
        panic!("BFV")
    };
    let secret = rlwe::KeyGenerator::new(params, rlwe::Seed::from_text("client"))
        .secret_key()
        .unwrap();
    let low = super::key_set(params, &secret, 1, &[], Encryption::Secret);
    assert_eq!(
        refused(KeySet {
            relinearization: low.relinearization,
            ..given.clone()
        }),
        "the relinearization key serves level 0, the program needs level 2; generate keys with program.client()"
    );
    let extended = super::key_set(params, &secret, 1, &[], Encryption::Extended);
    assert_eq!(
        refused(KeySet {
            public: extended.public,
            ..given.clone()
        }),
        "the evaluation keys hold the extended public key, the program needs the public key; generate keys with \
         program.client()"
    );
    sample.0.steps.truncate(sample.0.steps.len() - 2);
    let other = Client::seeded(&sample.0, &clear::inputs(&sample.0, 1), "another client");
    let Keys::Narrow(other) = &other.keys else {
        panic!("64-bit words")
    };
    let mixed = KeySet {
        public: other.public.clone(),
        ..given.clone()
    };
    let message = with_keys(&sample, Keys::Narrow(mixed)).to_string();
    assert!(message.starts_with("the public key is of key"), "{message}");
    let wide = with_keys(&sample, Keys::Wide(KeySet::default())).to_string();
    assert!(wide.contains("different word widths"), "{wide}");
}

#[test]
fn a_missing_key_for_the_row_swap_is_named() {
    let (mut program, plain, client) = sample(bfv_parameters());
    let needs = program.required_keys();
    program.steps.push(Step {
        operation: Operation::SwapRows(0),
        ..program.steps[0]
    });
    assert!(program.required_keys().swap_rows);
    let Parameters::Bfv(params) = &program.parameters else {
        panic!("BFV")
    };
    let secret = rlwe::KeyGenerator::new(params, rlwe::Seed::from_text("client"))
        .secret_key()
        .unwrap();
    let turns = needs.rotations.iter();
    let elements: Vec<u64> = turns
        .map(|&by| rlwe::rotation_element(params.n(), i64::from(by)))
        .collect();
    let keys = Keys::Narrow(super::key_set(
        params,
        &secret,
        3,
        &elements,
        Encryption::Secret,
    ));
    let message = with_keys(&(program, plain, client), keys).to_string();
    let expected = "the evaluation keys lack the row swap; generate keys with program.client()";
    assert_eq!(message, expected);
}

#[test]
fn plain_arguments_that_the_program_was_not_made_for() {
    let (program, _, client) = sample(ckks_parameters());
    let refused = |plain: &[Numbers]| run(&program, &client, plain, 2).unwrap_err().to_string();
    let slots = program.parameters.slots();
    assert!(refused(&[]).contains("0 plain arguments; 1 are needed"));
    assert!(refused(&[Numbers::Reals(vec![0.5])]).contains("w has 1 values"));
    assert!(refused(&[Numbers::Integers(vec![1; slots])]).contains("reals"));
    assert!(refused(&[Numbers::Reals(vec![1.5; slots])]).contains("at most 1"));
    assert!(refused(&[Numbers::Reals(vec![f64::NAN; slots])]).contains("NaN"));
}

#[test]
fn a_failed_step_says_where_it_stands() {
    // A reader of programs refuses scales that differ; a program made by hand may have them.
    let (mut program, plain, client) = sample(ckks_parameters());
    program.steps.truncate(3);
    let step = program.steps[0];
    let plaintext = Plaintext {
        number: 0,
        scale: 2.0 * step.scale,
    };
    program.steps.push(Step {
        operation: Operation::AddPlain(0, plaintext),
        ..step
    });
    program.outputs = vec![3];
    let inputs = client.lent();
    let Err(error) = run_with(&program, &client.keys, &inputs, &plain, 2, &Unobserved) else {
        panic!("added");
    };
    let message = error.to_string();
    assert!(
        message.starts_with("step 3 (add_plain, kernel.py:7): ")
            && message.contains("scales differ"),
        "{message}"
    );
    assert!(matches!(error.cause(), Error::Ckks(_)));
}
