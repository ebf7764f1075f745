// SPDX-License-Identifier: Apache-2.0
//! Programs as bytes: what is written is read again, and what no writer makes is refused with its reason.

mod circuit;
mod cost;
mod guarantee;
mod vectors;

use crate::evaluate::IntegersModulo;
use crate::expression::{Expression, Numbers, Operation as Plain};
use crate::step::{Operation, Place, Plaintext, Promise, SourceLine, Step};
use crate::transform::{Giant, Term, Transform};
use crate::*;
use bfv::{BfvParams, BfvParamsLiteral};
use ckks::{CkksParams, CkksParamsLiteral};
use rlwe::wire::{WireError, mutate};
use rlwe::{RlweParamsLiteral, SecurityPolicy, Threads};

const N: usize = 16;

fn ckks_parameters() -> Parameters {
    let (q, p) = ckks::prime_chain(N, 40, 30, 3, 40, 1).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        q,
        p,
        ..Default::default()
    };
    let literal = CkksParamsLiteral {
        rlwe,
        scale: 2.0_f64.powi(30),
    };
    Parameters::Ckks(CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap())
}

fn bfv_parameters() -> Parameters {
    let (q, p) = ckks::prime_chain(N, 40, 30, 1, 40, 1).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        q,
        p,
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: 97,
        auxiliary: vec![],
    };
    Parameters::Bfv(BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap())
}

/// Every kind of step, of expression and of field, in a program of either scheme.
fn sample(parameters: Parameters) -> Program {
    let bfv = parameters.plain_modulus().is_some();
    let primes = parameters.primes();
    let top = primes.len() as u32 - 1;
    let (scale, slots) = (parameters.scale(), parameters.slots() as u32);
    let mut steps = Vec::new();
    let mut step = |operation, level, scale, size| {
        steps.push(Step {
            operation,
            level,
            scale,
            size,
            place: Place {
                line: 0,
                column: 4,
                end_column: 9,
            },
        });
        steps.len() as u32 - 1
    };
    let plaintext = |scale| Plaintext { number: 0, scale };
    let (x, y) = (
        step(Operation::Input, top, scale, 2),
        step(Operation::Input, top, scale, 2),
    );
    let mut at = step(Operation::Multiply(x, y), top, scale * scale, 3);
    at = step(Operation::Relinearize(at), top, scale * scale, 2);
    let squared = step(Operation::Square(x), top, scale * scale, 3);
    at = step(Operation::Sub(squared, at), top, scale * scale, 3);
    at = step(Operation::Relinearize(at), top, scale * scale, 2);
    let (mut level, mut now) = (top, scale * scale);
    if !bfv {
        now /= primes[top as usize] as f64;
        level -= 1;
        at = step(Operation::Rescale(at), level, now, 2);
    }
    at = step(Operation::Rotate(at, -3), level, now, 2);
    let zero = step(Operation::EncryptZero, level, now, 2);
    at = step(Operation::Add(at, zero), level, now, 2);
    at = step(
        Operation::Within(
            at,
            Promise {
                bound: 3.5,
                everywhere: true,
            },
        ),
        level,
        now,
        2,
    );
    at = step(Operation::AddPlain(at, plaintext(now)), level, now, 2);
    at = step(Operation::SubPlain(at, plaintext(now)), level, now, 2);
    at = step(
        Operation::MultiplyPlain(at, plaintext(scale)),
        level,
        now * scale,
        2,
    );
    now *= scale;
    at = step(Operation::Negate(at), level, now, 2);
    if !bfv {
        now /= primes[level as usize] as f64;
        level -= 1;
        at = step(Operation::Rescale(at), level, now, 2);
    }
    if bfv {
        at = step(Operation::SwapRows(at), level, now, 2);
    }
    at = step(Operation::ModDrop(at), 0, now, 2);
    let (mut level, mut now) = (top, scale * scale);
    let mut other = step(Operation::LinearTransform(x, 0), level, now, 2);
    if !bfv {
        now /= primes[level as usize] as f64;
        level -= 1;
        other = step(Operation::Rescale(other), level, now, 2);
    }
    other = step(Operation::LinearTransform(other, 1), level, now, 2);
    if !bfv {
        now *= now;
        other = step(Operation::Square(other), level, now, 3);
        now /= primes[level as usize] as f64;
        level -= 1;
        other = step(Operation::RelinearizeRescale(other), level, now, 2);
    }
    let range = if bfv {
        Range::Integers { low: -3, high: 4 }
    } else {
        Range::Reals {
            low: -1.0,
            high: 1.5,
        }
    };
    let numbers = |values: &[i64]| {
        if bfv {
            Numbers::Integers(values.to_vec())
        } else {
            Numbers::Reals(values.iter().map(|&v| v as f64).collect())
        }
    };
    let expression = |operation, shape: &[u32]| Expression {
        operation,
        shape: shape.to_vec(),
    };
    let packed =
        IndexMap::new((0..2 * slots).map(|i| (i % slots < 3).then_some(i / slots * 3 + i % slots)))
            .unwrap();
    let mut program = Program {
        name: "sample".into(),
        variant: "every kind".into(),
        encryption: Encryption::Public,
        guarantee: Guarantee {
            bits: 0.0,
            failure_bits: 40,
            tolerance: if bfv { 0.0 } else { 0.25 },
            publish: false,
        },
        arguments: vec![
            Argument {
                name: "x".into(),
                shape: vec![2, 3],
                range,
                secrecy: Secrecy::Encrypted(packed),
            },
            Argument {
                name: "w".into(),
                shape: vec![3],
                range,
                secrecy: Secrecy::Plain,
            },
        ],
        expressions: vec![
            expression(Plain::Argument(0), &[3]),
            expression(Plain::Constant(numbers(&[2])), &[2, 3]),
            expression(Plain::Add(0, 1), &[2, 3]),
            expression(Plain::Subtract(2, 0), &[2, 3]),
            expression(Plain::Multiply(2, 3), &[2, 3]),
            expression(Plain::Negate(4), &[2, 3]),
            expression(Plain::Power(5, 3), &[2, 3]),
            expression(Plain::Polynomial(6, numbers(&[1, 0, -1])), &[2, 3]),
            expression(Plain::MatMul(7, 0), &[2]),
            expression(Plain::Sum(7, Some(1)), &[2]),
            expression(Plain::Sum(7, None), &[]),
            expression(
                Plain::Gather(
                    vec![8, 9, 10],
                    IndexMap::new([Some(4), None, Some(0)]).unwrap(),
                ),
                &[3],
            ),
            expression(Plain::Within(11, 4.0), &[3]),
        ],
        plaintexts: vec![PlaintextSource {
            expression: 12,
            bound: 4.0,
            slots: IndexMap::new((0..slots).map(|i| (i < 3).then_some(i))).unwrap(),
        }],
        transforms: vec![
            transform(scale, &[(-3, &[(-1, 0), (0, 0), (2, 0)]), (0, &[(1, 0)])]),
            transform(1.0, &[(0, &[(0, -1), (1, -1), (3, -1)]), (4, &[(0, -1)])]),
        ],
        lines: vec![SourceLine {
            file: "kernel.py".into(),
            number: 12,
            text: "    return x * y".into(),
        }],
        steps,
        outputs: vec![at, other],
        result_shape: vec![3],
        result: IndexMap::identity(3).unwrap(),
        parameters,
    };
    program.guarantee.bits = promised(&program);
    program
}

/// A transform of giant rotations with their terms: rotations and plaintexts, −1 for none.
fn transform(scale: f64, giants: &[(i32, &[(i32, i64)])]) -> Transform {
    let term = |&(rotation, plaintext): &(i32, i64)| Term {
        rotation,
        plaintext: u32::try_from(plaintext).ok(),
    };
    let giant = |&(rotation, terms): &(i32, &[(i32, i64)])| Giant {
        rotation,
        terms: terms.iter().map(term).collect(),
    };
    Transform {
        scale,
        giants: giants.iter().map(giant).collect(),
    }
}

/// What a program may promise, in quarters of a bit: other platforms' logarithms may differ in their last digits.
fn promised(program: &Program) -> f64 {
    let quarters = 4.0 * program.bound(Assume::None, None).unwrap().bits;
    match program.parameters.plain_modulus() {
        Some(_) => quarters.floor() / 4.0,
        None => quarters.ceil() / 4.0,
    }
}

fn both() -> [Program; 2] {
    [sample(ckks_parameters()), sample(bfv_parameters())]
}

fn read(bytes: &[u8]) -> Result<Program, Error> {
    Program::from_bytes(bytes, SecurityPolicy::insecure(), &Limits::default())
}

#[test]
fn what_is_written_is_read_again() {
    for program in both() {
        program.check(&Limits::default()).unwrap();
        let bytes = program.to_bytes();
        let back = read(&bytes).unwrap();
        assert_eq!(back, program);
        assert_eq!(back.to_bytes(), bytes);
        assert_eq!(back.hash(), program.hash());
        let keys = program.required_keys();
        assert_eq!(keys.rotations, [-3, -1, 1, 2, 3, 4]);
        assert!(keys.public);
        assert_eq!(keys.swap_rows, program.parameters.scheme() == "bfv");
        // Two relinearisations and a rotation, four and three in the transforms, in BFV a row swap and in CKKS a
        // relinearisation with a rescale.
        assert_eq!(program.key_switches(), 3 + 7 + 1);
        assert_eq!(
            keys.relinearization,
            Some(program.parameters.primes().len() as u32 - 1)
        );
    }
}

#[test]
fn mutated_bytes_never_panic_and_what_is_accepted_is_canonical() {
    for program in both() {
        let bytes = program.to_bytes();
        let mut accepted = 0;
        mutate::for_each_mutation(&bytes, 20_000, |bad| {
            if let Ok(program) = read(bad) {
                assert_eq!(program.to_bytes(), bad);
                evaluate_zeros(&program);
                accepted += 1;
            }
        });
        // Names, bounds and places may change; that much is seen as right shows that the decoders are reached.
        assert!(accepted > 50, "{accepted}");
    }
}

/// Values are refused or not, whatever the program.
fn evaluate_zeros(program: &Program) {
    let exact = program.parameters.plain_modulus().is_some();
    let zeros = |shape: &&[u32]| {
        let elements = shape.iter().map(|&axis| axis as usize).product();
        match exact {
            true => Numbers::Integers(vec![0; elements]),
            false => Numbers::Reals(vec![0.0; elements]),
        }
    };
    let arguments: Vec<Numbers> = program.plain_shapes().iter().map(zeros).collect();
    if let Ok(values) = program.evaluate(&arguments)
        && let Ok(effects) = program.measure(&values, &Threads::ONE)
    {
        let _ = program.check_plaintexts(&effects);
    }
}

#[test]
fn a_lie_in_a_program_is_refused_with_its_place() {
    type Lie = (&'static str, fn(&mut Program));
    let lies: [Lie; 42] = [
        ("operand 2 is not defined before it", |p| {
            p.steps[2].operation = Operation::Multiply(0, 2)
        }),
        ("operand 99 is not defined", |p| {
            p.steps[3].operation = Operation::Relinearize(99)
        }),
        ("level 1; its operands give", |p| p.steps[0].level = 1),
        (
            "step 17 (mod_drop, kernel.py:12): level 7 is not below",
            |p| p.steps[17].level = 7,
        ),
        ("scales", |p| p.steps[2].scale *= 1.001),
        ("2 polynomials; its operands give 3", |p| {
            p.steps[2].size = 2
        }),
        ("only the first 2 steps", |p| {
            p.steps[9].operation = Operation::Input
        }),
        ("the first 2 steps are", |p| {
            p.steps[1].operation = Operation::EncryptZero
        }),
        ("no plaintext 7", |p| {
            p.steps[12].operation = Operation::AddPlain(
                11,
                Plaintext {
                    number: 7,
                    scale: 1.0,
                },
            )
        }),
        ("a rotation by 0", |p| {
            p.steps[8].operation = Operation::Rotate(7, 0)
        }),
        ("a rotation by 8", |p| {
            p.steps[8].operation = Operation::Rotate(7, 8)
        }),
        ("swap_rows, kernel.py:12): CKKS has one row of slots", |p| {
            p.steps[8].operation = Operation::SwapRows(7)
        }),
        ("an operand of 3 polynomials", |p| {
            p.steps[3].operation = Operation::Rotate(2, 1)
        }),
        ("a promise of -1", |p| {
            p.steps[11].operation = Operation::Within(
                10,
                Promise {
                    bound: -1.0,
                    everywhere: false,
                },
            );
        }),
        ("a plaintext cannot have scale", |p| {
            p.steps[14].operation = Operation::MultiplyPlain(
                13,
                Plaintext {
                    number: 0,
                    scale: f64::NAN,
                },
            );
        }),
        ("there is no source line 1", |p| p.steps[4].place.line = 1),
        ("there is no step 99", |p| p.outputs[0] = 99),
        (
            "plaintext expression 2 (add): its shape is [2, 3], not [3, 2]",
            |p| p.expressions[2].shape = vec![3, 2],
        ),
        ("operand 3 is not defined before it", |p| {
            p.expressions[3].operation = Plain::Negate(3)
        }),
        ("there is no plain argument 1", |p| {
            p.expressions[0].operation = Plain::Argument(1)
        }),
        ("its map takes 3 positions from 9", |p| {
            p.expressions[11].operation =
                Plain::Gather(vec![8], IndexMap::new([Some(8), None, None]).unwrap());
        }),
        ("is too large", |p| {
            p.expressions[1].shape = vec![1 << 20, 1 << 20]
        }),
        ("there are two of that name", |p| {
            p.arguments[1].name = "x".into()
        }),
        ("its packing takes element 5 of 3", |p| {
            p.arguments[0].shape = vec![3]
        }),
        ("guarantee", |p| p.guarantee.bits = f64::NAN),
        ("is none", |p| p.guarantee.publish = true),
        ("plaintext 0: a bound of -1", |p| {
            p.plaintexts[0].bound = -1.0
        }),
        ("a bound of inf", |p| p.plaintexts[0].bound = f64::INFINITY),
        ("a bound of NaN", |p| p.plaintexts[0].bound = f64::NAN),
        ("plaintext expression 12 (within): a promise of NaN", |p| {
            p.expressions[12].operation = Plain::Within(11, f64::NAN)
        }),
        ("there is no transform 2, there are 2", |p| {
            p.steps[18].operation = Operation::LinearTransform(0, 2)
        }),
        (
            "step 22 (relinearize_rescale, kernel.py:12): an operand of 2",
            |p| p.steps[22].operation = Operation::RelinearizeRescale(20),
        ),
        ("level 2; its operands give 1", |p| p.steps[22].level = 2),
        (
            "transform 0: a giant step by -3 after one by 0; they",
            |p| p.transforms[0].giants.reverse(),
        ),
        ("transform 1: a baby step by 0 after one by 0", |p| {
            p.transforms[1].giants[0].terms[1].rotation = 0
        }),
        ("transform 0: no baby step", |p| {
            p.transforms[0].giants[1].terms.clear()
        }),
        ("transform 1: no giant step", |p| {
            p.transforms[1].giants.clear()
        }),
        ("transform 0: a rotation by 5; from -3 to 4", |p| {
            p.transforms[0].giants[0].terms[2].rotation = 5
        }),
        ("transform 1: nothing is rotated", |p| {
            p.transforms[1] = transform(1.0, &[(0, &[(0, -1)])])
        }),
        ("transform 1: scale 2 without plaintexts; 1 is", |p| {
            p.transforms[1].scale = 2.0
        }),
        ("transform 0: there is no plaintext 7, there are 1", |p| {
            p.transforms[0].giants[0].terms[0].plaintext = Some(7)
        }),
        ("transform 0: a plaintext cannot have scale 0.5", |p| {
            p.transforms[0].scale = 0.5
        }),
    ];
    for (number, (reason, lie)) in lies.into_iter().enumerate() {
        let mut program = sample(ckks_parameters());
        lie(&mut program);
        let text = read(&program.to_bytes()).expect_err(reason).to_string();
        assert!(text.contains(reason), "lie {number}: {text}");
    }
}

#[test]
fn rows_are_swapped_and_turned_each_by_itself() {
    let mut program = sample(bfv_parameters());
    let of_two = |operation| Step {
        operation,
        size: 2,
        ..program.steps[0]
    };
    let added = [
        of_two(Operation::Rotate(0, -3)),
        of_two(Operation::SwapRows(0)),
    ];
    let first = program.steps.len() as u32;
    program.steps.extend(added);
    program.outputs = vec![first, first + 1];
    program.expressions[12].operation = Plain::Within(11, 48.0);
    program.plaintexts[0].bound = 48.0;
    let slots: Vec<i64> = (0..N as i64).collect();
    let inputs = [&slots, &slots].map(|row| Numbers::Integers(row.clone()));
    let got = program
        .clear(&inputs, &[Numbers::Integers(vec![0; 3])])
        .unwrap();
    let expected = [
        [5, 6, 7, 0, 1, 2, 3, 4, 13, 14, 15, 8, 9, 10, 11, 12],
        [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7],
    ];
    assert_eq!(got, expected.map(|row| Numbers::Integers(row.to_vec())));
    // A product of three polynomials cannot be switched.
    program.steps[first as usize + 1].operation = Operation::SwapRows(2);
    let refused = program.check(&Limits::default()).unwrap_err().to_string();
    assert!(refused.contains("an operand of 3 polynomials"), "{refused}");
}

#[test]
fn numbers_of_the_other_scheme_are_refused() {
    let mut program = sample(bfv_parameters());
    program.expressions[1].operation = Plain::Constant(Numbers::Integers(vec![49]));
    assert!(
        read(&program.to_bytes())
            .unwrap_err()
            .to_string()
            .contains("none of bfv")
    );
    let mut program = sample(ckks_parameters());
    program.expressions[1].operation = Plain::Constant(Numbers::Reals(vec![f64::INFINITY]));
    assert!(
        read(&program.to_bytes())
            .unwrap_err()
            .to_string()
            .contains("none of ckks")
    );
    // 97/2 rounded down.
    let mut program = sample(bfv_parameters());
    program.plaintexts[0].bound = 48.0;
    read(&program.to_bytes()).unwrap();
    program.plaintexts[0].bound = 49.0;
    assert!(
        read(&program.to_bytes())
            .unwrap_err()
            .to_string()
            .contains("from 0 to 4.8e1 is needed")
    );
    let mut program = sample(bfv_parameters());
    program.steps[7].scale = 2.0;
    assert!(
        read(&program.to_bytes())
            .unwrap_err()
            .to_string()
            .contains("scale 2 in BFV")
    );
}

#[test]
fn limits_hold_before_work_is_done() {
    let bytes = sample(ckks_parameters()).to_bytes();
    let refused = |limits: &Limits| {
        Program::from_bytes(&bytes, SecurityPolicy::insecure(), limits)
            .unwrap_err()
            .to_string()
    };
    let limits = Limits::default();
    assert!(
        refused(&Limits {
            degree: 8,
            ..limits
        })
        .contains("16 coefficients a polynomial; at most 8")
    );
    assert!(
        refused(&Limits {
            ciphertexts: 1,
            ..limits
        })
        .contains("2 ciphertexts; at most 1")
    );
    assert!(
        refused(&Limits {
            plain_work: 5,
            ..limits
        })
        .contains("plain operations; at most 5")
    );
    // The transforms have eight terms, each of which counts for 4096.
    let work = 8 * 4096;
    assert!(
        refused(&Limits {
            plain_work: work,
            ..limits
        })
        .contains("plain operations; at most 32768")
    );
    let roomy = Limits {
        plain_work: work + 1000,
        ..limits
    };
    Program::from_bytes(&bytes, SecurityPolicy::insecure(), &roomy).unwrap();
    let secure = Program::from_bytes(&bytes, SecurityPolicy::default(), &limits).unwrap_err();
    assert!(secure.to_string().contains("insecure"));
}

#[test]
fn counts_are_checked_before_memory_is_taken() {
    let program = sample(ckks_parameters());
    let bytes = program.to_bytes();
    // The count of arguments follows the two names, the parameters, the encryption and the guarantee.
    let at = 32 + 4 + 6 + 4 + 10 + 4 + program.parameters.to_bytes().len() + 1 + 21;
    let mut bad = bytes.clone();
    bad[at..at + 4].copy_from_slice(&1_000_000_000_u32.to_le_bytes());
    mutate::repair(&mut bad);
    let error = read(&bad).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Wire(WireError::Truncated {
                what: "arguments",
                needed: 24_000_000_000,
                ..
            })
        ),
        "{error}"
    );
}

#[test]
fn the_plaintext_of_the_sample_is_what_python_computes() {
    // w = (1, 2, 3): in numpy, p = (-((w+2)·(w+2-w)))**3; 1 - p²; @ w; sum(axis=1); sum() — here modulo 97.
    let program = sample(bfv_parameters());
    let expressions = &program.expressions[..12];
    let values = evaluate::evaluate(&IntegersModulo(97), expressions, &[vec![1, 2, 3]]).unwrap();
    let row: Vec<i128> = [1_i128, 2, 3]
        .iter()
        .map(|w| 1 - (-(w + 2) * 2_i128).pow(6))
        .collect();
    let dot: i128 = row.iter().zip(1..).map(|(a, b)| a * b).sum();
    let ring = IntegersModulo(97);
    let expected = [
        ring.centre(2 * row.iter().sum::<i128>()),
        0,
        ring.centre(dot),
    ];
    assert_eq!(values[11], expected);
}

#[test]
fn a_transform_has_a_plaintext_in_every_term_or_in_none() {
    let mut program = sample(ckks_parameters());
    program.transforms[0].giants[0].terms[1].plaintext = None;
    let text = program.check(&Limits::default()).unwrap_err().to_string();
    assert_eq!(
        text,
        "transform 0: a term without a plaintext beside others that have one"
    );
    // Such a program has no bytes: what is written for the missing number is out of range.
    let text = read(&program.to_bytes()).unwrap_err().to_string();
    assert!(text.contains("no plaintext 4294967295"), "{text}");
}

#[test]
fn a_transform_in_the_clear_is_the_sum_it_says() {
    let mut program = sample(bfv_parameters());
    // Any residue holds.
    program.expressions[12].operation = Plain::Within(11, 48.0);
    program.plaintexts[0].bound = 48.0;
    let (slots, width) = (N as i64, N as i64 / 2);
    let x: Vec<i64> = (1..=slots).collect();
    let inputs = [Numbers::Integers(x.clone()), Numbers::Integers(vec![0; N])];
    let w = Numbers::Integers(vec![1, 2, 3]);
    let values = program.evaluate(std::slice::from_ref(&w)).unwrap();
    let Numbers::Integers(p) = program.slots(&values, 0).unwrap() else {
        panic!("integers")
    };
    // Slot `by` places to the right of slot i, in the same row.
    let turned = |i: i64, by: i64| i / width * width + (i + by).rem_euclid(width);
    let at = |v: &[i64], i: i64, by: i64| v[turned(i, by) as usize];
    let inner = |i: i64| p[i as usize] * (at(&x, i, -1) + at(&x, i, 0) + at(&x, i, 2));
    let first: Vec<i64> = (0..slots)
        .map(|i| inner(turned(i, -3)) + p[i as usize] * at(&x, i, 1))
        .collect();
    let sum = |i: i64| [0, 1, 3, 4].map(|by| at(&first, i, by)).iter().sum::<i64>();
    let ring = IntegersModulo(97);
    let wanted: Vec<i64> = (0..slots).map(|i| ring.centre(sum(i).into())).collect();
    let outputs = program.clear(&inputs, &[w]).unwrap();
    assert_eq!(outputs[1], Numbers::Integers(wanted));
}
