// SPDX-License-Identifier: Apache-2.0
//! Changes of one part of a program: what a careless or hostile writer would get wrong.

use crate::dice::Dice;
use program::expression::{Expression, PlainOp};
use program::operation::{Attributes, Kind};
use program::step::{Operation, Promise, Step};
use program::{Argument, Encryption, IndexMap, PlaintextSource, Program, Range, Secrecy, Strength};

/// Numbers that lie at an edge.
const INTEGERS: [u32; 9] = [0, 1, 2, 3, 15, 16, 17, 1 << 30, u32::MAX];
const REALS: [f64; 9] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    1073741824.0,
    1e-300,
    1e300,
    f64::INFINITY,
    f64::NAN,
];

/// Changes a part of the program.
pub(super) fn edit(program: &mut Program, dice: &mut Dice) {
    match dice.below(16) {
        0..=4 => edit_step(program, dice),
        5 => reorder(&mut program.steps, dice),
        6 | 7 => edit_expression(program, dice),
        8 => reorder(&mut program.expressions, dice),
        9 => edit_plaintext(program, dice),
        10 => edit_transform(program, dice),
        11 => reorder(&mut program.transforms, dice),
        12 => edit_argument(program, dice),
        13 => reorder(&mut program.arguments, dice),
        14 => edit_result(program, dice),
        _ => edit_promise(program, dice),
    }
}

/// An edge, or the number of something that is there or just is not.
fn number(dice: &mut Dice, there: usize) -> u32 {
    match dice.below(4) {
        0 => dice.of(&INTEGERS),
        _ => dice.below(there + 1) as u32,
    }
}

fn real(dice: &mut Dice, old: f64) -> f64 {
    match dice.below(4) {
        0 => dice.of(&REALS),
        1 => f64::from_bits(old.to_bits() ^ (1 << dice.below(64))),
        _ => old * 2.0_f64.powi(dice.below(81) as i32 - 40),
    }
}

fn picked<'a, T>(some: &'a mut [T], dice: &mut Dice) -> Option<&'a mut T> {
    let at = dice.below(some.len());
    some.get_mut(at)
}

/// One of some is doubled, left out, or changes its place with another.
fn reorder<T: Clone>(some: &mut Vec<T>, dice: &mut Dice) {
    if some.is_empty() {
        return;
    }
    let (at, other) = (dice.below(some.len()), dice.below(some.len()));
    match dice.below(3) {
        0 => some.insert(other, some[at].clone()),
        1 => drop(some.remove(at)),
        _ => some.swap(at, other),
    }
}

fn edit_map(map: &mut IndexMap, dice: &mut Dice) {
    let mut elements: Vec<Option<u32>> = map.iter().take(1 << 10).collect();
    let there = elements.len();
    match dice.below(3) {
        0 => reorder(&mut elements, dice),
        1 => elements.push(Some(number(dice, there))),
        _ => {
            let element = match dice.below(3) {
                0 => None,
                _ => Some(number(dice, there)),
            };
            if let Some(old) = picked(&mut elements, dice) {
                *old = element;
            }
        }
    }
    // A map beyond the limit is none; the old one stays.
    if let Ok(new) = IndexMap::new(elements) {
        *map = new;
    }
}

fn edit_shape(shape: &mut Vec<u32>, dice: &mut Dice) {
    match dice.below(3) {
        0 => reorder(shape, dice),
        1 => shape.push(number(dice, 4)),
        _ => {
            let axis = number(dice, 4);
            if let Some(old) = picked(shape, dice) {
                *old = axis;
            }
        }
    }
}

fn edit_step(program: &mut Program, dice: &mut Dice) {
    let (steps, transforms) = (program.steps.len(), program.transforms.len());
    let other = program.steps.get(dice.below(steps)).copied();
    let (a, b) = (number(dice, steps), number(dice, steps));
    let (choice, small, turn) = (dice.below(11), number(dice, 4), number(dice, 20) as i32);
    let transform = number(dice, transforms);
    let bound = real(dice, 1.0);
    let Some(step) = picked(&mut program.steps, dice) else {
        return;
    };
    match (choice, other) {
        (0, Some(other)) => step.operation = other.operation,
        (1, _) => step.level = small,
        (2, Some(other)) => step.scale = other.scale,
        (3, _) => step.scale = real(dice, step.scale),
        (4, _) => step.size = small as u8,
        (5, _) => step.operation = Operation::Rotate(a, turn.wrapping_sub(8)),
        (6, _) => step.operation = Operation::LinearTransform(a, transform),
        (7, _) => {
            let everywhere = bound > 1.0;
            let error = if bound < 0.5 { bound } else { f64::INFINITY };
            let promise = Promise {
                bound,
                everywhere,
                error,
            };
            step.operation = Operation::Within(a, promise);
        }
        (8, _) => step.place.line = small,
        _ => step.operation = with_operands(step, (a, b)),
    }
}

/// The same operation of other steps, or the next that the same attributes make one of.
fn with_operands(step: &Step, (a, b): (u32, u32)) -> Operation {
    let (kind, attributes) = (step.operation.kind(), step.operation.attributes());
    let next = Kind::ALL[(kind as usize + 1) % Kind::ALL.len()];
    let kind = if attributes == Attributes::NONE {
        next
    } else {
        kind
    };
    let made = kind.with(&[a, b][..kind.facts().operands], &attributes);
    made.unwrap_or_else(|_| step.operation.with_operands(|_| a))
}

fn edit_expression(program: &mut Program, dice: &mut Dice) {
    let there = program.expressions.len();
    let other = program.expressions.get(dice.below(there)).cloned();
    let (a, b) = (number(dice, there), number(dice, there));
    let choice = dice.below(7);
    let Some(Expression { operation, shape }) = picked(&mut program.expressions, dice) else {
        return;
    };
    match (choice, other) {
        (0, Some(other)) => *operation = other.operation,
        (1, Some(other)) => *shape = other.shape,
        (2, _) => edit_shape(shape, dice),
        (3, _) => *operation = dice.of(&[PlainOp::Add, PlainOp::Multiply, PlainOp::MatMul])(a, b),
        (4, _) => *operation = PlainOp::Power(a, b),
        (5, _) => *operation = PlainOp::Sum(a, (b < 9).then_some(b as u8)),
        _ => match operation {
            PlainOp::Gather(of, map) => {
                reorder(of, dice);
                edit_map(map, dice);
            }
            other => *other = PlainOp::Within(a, real(dice, 1.0)),
        },
    }
}

fn edit_plaintext(program: &mut Program, dice: &mut Dice) {
    let expression = number(dice, program.expressions.len());
    let choice = dice.below(4);
    if choice == 0 {
        return reorder(&mut program.plaintexts, dice);
    }
    let Some(source) = picked(&mut program.plaintexts, dice) else {
        return;
    };
    let PlaintextSource { slots, bound, .. } = source;
    match choice {
        1 => edit_map(slots, dice),
        2 => *bound = real(dice, *bound),
        _ => source.expression = expression,
    }
}

fn edit_transform(program: &mut Program, dice: &mut Dice) {
    let plaintext = number(dice, program.plaintexts.len());
    let Some(transform) = picked(&mut program.transforms, dice) else {
        return;
    };
    match dice.below(4) {
        0 => transform.scale = real(dice, transform.scale),
        1 => reorder(&mut transform.giants, dice),
        choice => {
            let turn = number(dice, 20) as i32;
            let Some(giant) = picked(&mut transform.giants, dice) else {
                return;
            };
            match (choice, dice.below(3)) {
                (2, _) => giant.rotation = turn.wrapping_sub(8),
                (_, 0) => reorder(&mut giant.terms, dice),
                (_, which) => {
                    if let Some(term) = picked(&mut giant.terms, dice) {
                        match which {
                            1 => term.rotation = turn.wrapping_sub(8),
                            _ => {
                                term.plaintext = (!plaintext.is_multiple_of(3)).then_some(plaintext)
                            }
                        }
                    }
                }
            }
        }
    }
}

fn edit_argument(program: &mut Program, dice: &mut Dice) {
    let (steps, level) = (program.steps.len(), number(dice, 4));
    let Some(argument) = picked(&mut program.arguments, dice) else {
        return;
    };
    let Argument {
        shape,
        range,
        secrecy,
        producer,
        ..
    } = argument;
    match (dice.below(5), range, secrecy, producer) {
        (0, Range::Reals { low, high }, ..) => {
            (*low, *high) = (real(dice, *high), real(dice, *low))
        }
        (0, Range::Integers { low, high }, ..) => (*low, *high) = (*high, low.wrapping_neg()),
        (1, _, Secrecy::Encrypted(packing), _) => edit_map(packing, dice),
        (2, _, secrecy, _) => *secrecy = Secrecy::Plain,
        (3, .., Some(producer)) => {
            reorder(&mut producer.ciphertexts, dice);
            if let Some(own) = picked(&mut producer.ciphertexts, dice) {
                own.output = number(dice, steps);
                own.level = level;
            }
        }
        _ => edit_shape(shape, dice),
    }
}

fn edit_result(program: &mut Program, dice: &mut Dice) {
    match dice.below(5) {
        0 => reorder(&mut program.outputs, dice),
        1 => program.outputs.push(number(dice, program.steps.len())),
        2 => edit_map(&mut program.result, dice),
        3 => edit_shape(&mut program.result_shape, dice),
        _ => {
            program.reading.complex ^= true;
            program.reading.divisor = number(dice, 12).into();
        }
    }
}

fn edit_promise(program: &mut Program, dice: &mut Dice) {
    let guarantee = &mut program.guarantee;
    match dice.below(6) {
        0 => guarantee.bits = real(dice, guarantee.bits),
        1 => guarantee.failure_bits = number(dice, 200),
        2 => guarantee.tolerance = real(dice, guarantee.tolerance),
        3 => guarantee.publish ^= true,
        4 => guarantee.strength = dice.of(&Strength::ALL),
        _ => program.encryption = dice.of(&Encryption::ALL),
    }
}
