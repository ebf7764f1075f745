// SPDX-License-Identifier: Apache-2.0
//! Circuits that a compiler makes step by step, against the programs they become.

use super::guarantee::{integers, reals, refused, scaled, transforming};
use super::*;

/// The circuit of a program, step by step.
fn by_hand(program: &Program) -> Circuit<'_> {
    let mut circuit = Circuit {
        refresh: None,
        effort: None,
        steps: vec![].into(),
        ..program.circuit()
    };
    for (number, step) in program.steps.iter().enumerate() {
        assert_eq!(circuit.push(*step).unwrap(), number);
    }
    circuit
}

#[test]
fn a_circuit_by_hand_has_the_bounds_of_its_program() {
    let programs = [scaled(false, reals()), scaled(true, integers())];
    for program in programs
        .into_iter()
        .flat_map(|p| [p.clone(), transforming(p)])
    {
        let (circuit, estimator) = (by_hand(&program), program.estimator());
        for assume in [Assume::None, Assume::Constants, Assume::All] {
            let bound = circuit
                .bound(&estimator, Strength::Certain, assume)
                .unwrap();
            assert_eq!(bound, program.bound(assume, None).unwrap());
        }
        assert_eq!(circuit.encodings(), program.encodings());
    }
}

#[test]
fn a_circuit_that_names_what_is_not_there_is_refused() {
    let program = scaled(false, reals());
    let mut circuit = by_hand(&program);
    let mut push = |operation| {
        let step = Step {
            operation,
            ..program.steps[0]
        };
        refused(circuit.push(step))
    };
    let plaintext = Plaintext {
        number: 3,
        scale: 1.0,
    };
    assert!(push(Operation::Negate(99)).contains("operand 99 is not defined before it"));
    assert!(push(Operation::MultiplyPlain(0, plaintext)).contains("there is no plaintext 3"));
    assert!(push(Operation::LinearTransform(0, 0)).contains("there is no transform 0"));
    let estimator = program.estimator();
    let bound = |change: &dyn Fn(&mut Circuit<'_>), estimator| {
        let mut changed = by_hand(&program);
        change(&mut changed);
        refused(changed.bound(estimator, Strength::Certain, Assume::None))
    };
    let output = bound(&|c| c.outputs = vec![77].into(), &estimator);
    assert!(output.contains("there is no step 77"), "{output}");
    let level = bound(&|c| c.steps.to_mut()[0].level = 9, &estimator);
    assert!(
        level.contains("level 9, the set has 3 data primes"),
        "{level}"
    );
    let exact = scaled(true, integers()).estimator();
    let other = bound(&|_| {}, &exact);
    assert!(other.contains("the other scheme"), "{other}");
}
