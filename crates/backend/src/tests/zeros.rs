// SPDX-License-Identifier: Apache-2.0
//! Encryptions of zero within programs, on co-processors: the same bytes, and who makes them.

use super::coprocessor::{build, engine, held_on, held_to_the_walk, held_where_taken};
use super::moves::moves;
use super::random::Maker;
use super::{bfv_parameters, bfv_wide_parameters, ckks_parameters};
use program::step::{Operation, Step};
use program::{Encryption, Parameters, Program};

/// Three sums of an input with a fresh encryption of zero, `below` levels below the top.
fn sums(parameters: Parameters, encryption: Encryption, below: [u32; 3]) -> Program {
    let (mut program, _) = Maker::new(parameters, encryption, 0).finish();
    program.steps.truncate(3);
    let input = program.steps[0];
    let mut push = |operation, level| {
        let step = Step {
            operation,
            level,
            ..input
        };
        program.steps.push(step);
        program.steps.len() as u32 - 1
    };
    program.outputs = Vec::new();
    for (number, below) in (0..3).zip(below) {
        let level = input.level - below;
        let dropped = match below {
            0 => number,
            _ => push(Operation::ModDrop(number), level),
        };
        let zero = push(Operation::EncryptZero, level);
        program
            .outputs
            .push(push(Operation::Add(dropped, zero), level));
    }
    program
}

#[test]
fn zeros_of_both_schemes_and_both_public_keys_are_the_device_s() {
    for (parameters, below, builds) in [
        (
            ckks_parameters(),
            [0, 2, 1],
            vec![build(62, 1, 10), moves(62, 12, 10), moves(62, 5, 10)],
        ),
        (
            bfv_parameters(),
            [0; 3],
            vec![build(62, 2, 9), moves(62, 8, 10), build(128, 1, 10)],
        ),
        (bfv_wide_parameters(), [0; 3], vec![build(128, 1, 8)]),
    ] {
        for encryption in [Encryption::Public, Encryption::Extended] {
            let program = sums(parameters.clone(), encryption, below);
            for info in &builds {
                let usage = held_to_the_walk(&program, info);
                assert_eq!(usage.offloaded["zero-encrypt"], 3, "{info:?}");
                assert!(!usage.on_host.contains_key("zero-encrypt"));
                assert!(usage.operands["randomness"].loads > 0);
            }
        }
    }
}

/// Where the preset does not name them they are whole steps of the host, with no operation for the device.
#[test]
fn zeros_that_no_preset_names_are_the_host_s() {
    let program = sums(ckks_parameters(), Encryption::Public, [0, 0, 0]);
    let usage = held_where_taken(&program, &build(62, 1, 10), &["key-switch", "tensor"]);
    assert_eq!(usage.on_host["zero-encrypt"], 3);
    assert_eq!(usage.instructions, 0);
}

/// Encryptions of zero depend on no input: the host makes them before, also for a device alone.
#[test]
fn a_device_alone_is_given_its_zeros() {
    let program = sums(ckks_parameters(), Encryption::Public, [0, 0, 0]);
    let device = engine(moves(62, 5, 10), &["key-switch"]).alone(true);
    let usage = held_on(&device, &program);
    assert_eq!(usage.on_host["zero-encrypt"], 3);
    assert!(usage.instructions > 0);
}
