// SPDX-License-Identifier: Apache-2.0
//! The probable guarantee: which errors add as squares, and what a reader makes of it.

use super::guarantee::{integers, reals, refused, scaled, transforming};
use super::*;

/// The bits of a program under a strength.
fn bits(program: &Program, strength: Strength) -> f64 {
    let mut program = program.clone();
    program.guarantee.strength = strength;
    program.bound(Assume::None, None).unwrap().bits
}

fn probable(program: &Program) -> Program {
    let mut program = program.clone();
    program.guarantee.strength = Strength::Probable;
    program.guarantee.bits = bits(&program, Strength::Probable);
    program
}

fn programs() -> [Program; 2] {
    [scaled(false, reals()), scaled(true, integers())]
}

/// A circuit of two inputs, or twice the same, on the sets of the samples.
fn circuit_of(exact: bool, operations: &[Operation]) -> f64 {
    let [ckks, bfv] = programs();
    let program = if exact { bfv } else { ckks };
    let input = program.steps[0];
    let mut circuit = Circuit {
        refresh: None,
        effort: None,
        inputs: vec![1.0; 2],
        received: vec![],
        steps: vec![].into(),
        outputs: vec![operations.len() as u32 + 1].into(),
        ..program.circuit()
    };
    let all = [Operation::Input; 2]
        .into_iter()
        .chain(operations.iter().copied());
    for operation in all {
        circuit.push(Step { operation, ..input }).unwrap();
    }
    let found = circuit.bound(&program.estimator(), Strength::Probable, Assume::None);
    let bits = found.unwrap().bits;
    if exact { -bits } else { bits }
}

#[test]
fn what_is_one_draw_adds_up_and_what_is_two_adds_squares() {
    use Operation::{Add, Negate, Rotate, Sub};
    for exact in [false, true] {
        let one = circuit_of(exact, &[Add(0, 1)]);
        let close = |operations: &[Operation], more: f64| {
            let found = circuit_of(exact, operations) - one;
            assert!((found - more).abs() < 0.01, "{operations:?}: {found}");
        };
        close(&[Add(0, 0)], 0.5);
        close(&[Sub(0, 0)], 0.5);
        close(&[Negate(0), Sub(0, 2)], 0.5);
        close(&[Sub(0, 1)], 0.0);
        // Switched twice by the same key, whatever the sign: the same noise.
        let rotated = circuit_of(exact, &[Rotate(0, 1), Rotate(1, 1), Add(2, 3)]);
        let same = circuit_of(exact, &[Rotate(0, 1), Negate(0), Rotate(3, 1), Sub(2, 4)]);
        assert!((same - rotated - 0.5).abs() < 0.01, "{same} {rotated}");
    }
    // Rotations of one error are other slots' errors, but a coefficient may stay where it is.
    let turned = [Rotate(0, 1), Rotate(0, 2), Add(2, 3)];
    let two = [Rotate(0, 1), Rotate(1, 2), Add(2, 3)];
    assert!((circuit_of(false, &turned) - circuit_of(false, &two)).abs() < 0.01);
    assert!(circuit_of(true, &turned) > circuit_of(true, &two) + 0.01);
}

#[test]
fn it_promises_more_than_the_certain_one_where_errors_are_independent() {
    for program in programs()
        .into_iter()
        .flat_map(|p| [p.clone(), transforming(p)])
    {
        let exact = program.parameters.plain_modulus().is_some();
        let gained = bits(&program, Strength::Certain) - bits(&program, Strength::Probable);
        let gained = if exact { -gained } else { gained };
        assert!((0.0..20.0).contains(&gained), "{exact} {gained}");
    }
}

#[test]
fn a_reader_finds_the_same_and_refuses_more() {
    for program in programs()
        .into_iter()
        .flat_map(|p| [p.clone(), transforming(p)])
    {
        let program = probable(&program);
        let read = |p: &Program| {
            Program::from_bytes(
                &p.to_bytes(),
                SecurityPolicy::insecure(),
                &Limits::default(),
            )
        };
        assert_eq!(read(&program).unwrap(), program);
        let exact = program.parameters.plain_modulus().is_some();
        let mut lie = program.clone();
        lie.guarantee.bits += if exact { 0.01 } else { -0.01 };
        assert!(refused(read(&lie)).contains("promises more"));
        // The noise that hides a decryption has to cover the largest error there can be.
        let mut published = program.clone();
        (
            published.guarantee.publish,
            published.guarantee.failure_bits,
        ) = (true, 128);
        assert!(refused(published.check(&Limits::default())).contains("is none"));
        assert!(program.to_string().contains("probable, failing below"));
        let certain = Program {
            guarantee: Guarantee {
                strength: Strength::Certain,
                ..program.guarantee
            },
            ..program.clone()
        };
        assert_ne!(certain.sections()[0], program.sections()[0]);
    }
}
