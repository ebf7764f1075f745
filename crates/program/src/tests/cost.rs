// SPDX-License-Identifier: Apache-2.0
//! The cost of a run, against counts by hand.

use super::*;

/// Bytes of `count` limbs of the sample's ring.
fn limbs(count: usize) -> u64 {
    (count * N * 8) as u64
}

fn step(operation: Operation, level: u32, size: u8) -> Step {
    Step {
        operation,
        level,
        scale: 1.0,
        size,
        place: Place::default(),
    }
}

fn of(steps: Vec<Step>, outputs: Vec<u32>) -> Cost {
    let mut program = sample(ckks_parameters());
    (program.steps, program.outputs) = (steps, outputs);
    program.cost()
}

#[test]
fn a_chain_holds_its_input_its_operand_and_its_result() {
    // Three data primes, one special: ciphertexts of 2 x 3 limbs; the caller keeps the input, dead results go.
    let mut steps = vec![step(Operation::Input, 2, 2)];
    steps.extend((0..50).map(|i| step(Operation::Negate(i), 2, 2)));
    let cost = of(steps, vec![50]);
    assert_eq!(cost.memory, limbs(3 * 6));
    assert_eq!(cost.ciphertext, limbs(6));
    assert_eq!(cost.work, 50 * 6 * N as u64 / 2);
    assert_eq!(cost.keys, 0);
}

#[test]
fn what_is_used_later_is_held() {
    let mut steps = vec![step(Operation::Input, 2, 2)];
    steps.extend((0..10).map(|_| step(Operation::Negate(0), 2, 2)));
    steps
        .extend((0..9).map(|i| step(Operation::Add(if i == 0 { 1 } else { 10 + i }, i + 2), 2, 2)));
    // The input, ten negatives and the first sum.
    assert_eq!(of(steps, vec![19]).memory, limbs(12 * 6));
}

#[test]
fn a_promise_holds_what_it_speaks_of() {
    let promise = Promise::of_values(1.0, true);
    let steps = vec![
        step(Operation::Input, 0, 2),
        step(Operation::Negate(0), 0, 2),
        step(Operation::Within(1, promise), 0, 2),
        step(Operation::Negate(0), 0, 2),
        step(Operation::Add(2, 3), 0, 2),
    ];
    // Input, both negatives, their sum; the promise has no ciphertext of its own.
    assert_eq!(of(steps, vec![4]).memory, limbs(4 * 2));
}

#[test]
fn keys_are_reckoned_at_the_level_of_their_use() {
    let steps = |level| {
        vec![
            step(Operation::Input, level, 2),
            step(Operation::Rotate(0, 1), level, 2),
            step(Operation::Rotate(0, 2), level, 2),
        ]
    };
    // One digit a prime: per digit two halves of data and special limbs, for two rotations.
    assert_eq!(of(steps(2), vec![1, 2]).keys, 2 * limbs(3 * 2 * 4));
    assert_eq!(of(steps(0), vec![1, 2]).keys, 2 * limbs(2 * 2));
    assert!(of(steps(2), vec![1, 2]).work > 2 * of(steps(0), vec![1, 2]).work);
}

#[test]
fn plaintexts_are_counted_once_for_each_level_and_scale() {
    let times = |a, scale| Operation::MultiplyPlain(a, Plaintext { number: 0, scale });
    let steps = vec![
        step(Operation::Input, 2, 2),
        step(times(0, 2.0), 2, 2),
        step(times(0, 2.0), 2, 2),
        step(times(0, 4.0), 2, 2),
        step(times(0, 2.0), 1, 2),
        step(Operation::LinearTransform(0, 0), 2, 2),
    ];
    // At level 2 at two scales, at level 1; in four terms of a transform once, over the special prime as well.
    assert_eq!(of(steps, vec![5]).plaintexts, limbs(3 + 3 + 2 + 4));
}

#[test]
fn every_kind_of_step_has_a_cost() {
    for program in both() {
        let cost = program.cost();
        assert!(
            cost.work > 0 && cost.memory > cost.ciphertext && cost.keys > 0,
            "{cost:?}"
        );
    }
}
