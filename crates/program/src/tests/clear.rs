// SPDX-License-Identifier: Apache-2.0
//! Programs on values in the clear.

use super::*;

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
    program.expressions[12].operation = PlainOp::Within(11, 48.0);
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
fn a_transform_in_the_clear_is_the_sum_it_says() {
    let mut program = sample(bfv_parameters());
    // Any residue holds.
    program.expressions[12].operation = PlainOp::Within(11, 48.0);
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

/// A set whose plaintext modulus has no slots.
fn polynomials() -> Program {
    let Parameters::Bfv(params) = bfv_parameters() else {
        panic!("BFV")
    };
    let literal = BfvParamsLiteral {
        plain_modulus: 33,
        ..params.literal()
    };
    let params = BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap();
    let mut program = sample(bfv_parameters());
    program.parameters = Parameters::Bfv(params);
    // Any residue holds.
    program.expressions[12].operation = PlainOp::Within(11, 16.0);
    program.plaintexts.iter_mut().for_each(|p| p.bound = 16.0);
    program
}

#[test]
fn without_slots_products_are_those_of_polynomials() {
    let mut program = polynomials();
    let one = program.steps[0];
    let product = |operation| Step {
        operation,
        size: 3,
        ..one
    };
    let first = program.steps.len() as u32;
    program.steps.push(product(Operation::Multiply(0, 1)));
    program.steps.push(product(Operation::Square(1)));
    program.outputs = vec![first, first + 1];
    let x: Vec<i64> = (0..N as i64).map(|i| i % 5 - 2).collect();
    // 3·X^(n-1) - 2: X^n = -1.
    let mut y = vec![0; N];
    (y[0], y[N - 1]) = (-2, 3);
    let inputs = [x.clone(), y].map(Numbers::Integers);
    let got = program.clear(&inputs, &[Numbers::Integers(vec![0; 3])]);
    let got = got.unwrap_or_else(|error| panic!("{error}"));
    let ring = IntegersModulo(33);
    let next = |i: usize| if i + 1 < N { -x[i + 1] } else { x[0] };
    let wanted = (0..N).map(|i| ring.centre((-2 * x[i] + 3 * next(i)).into()));
    assert_eq!(got[0], Numbers::Integers(wanted.collect()));
    let mut square = vec![0; N];
    (square[0], square[N - 1], square[N - 2]) = (4, -12, -9);
    assert_eq!(got[1], Numbers::Integers(square));
}

#[test]
fn without_slots_nothing_rotates() {
    for operation in [Operation::Rotate(0, 1), Operation::SwapRows(0)] {
        let mut program = polynomials();
        program
            .steps
            .retain(|step| step.operation == Operation::Input);
        program.transforms.clear();
        program.steps.push(Step {
            operation,
            ..program.steps[0]
        });
        program.outputs = vec![program.steps.len() as u32 - 1];
        let refused = program.check(&Limits::default()).unwrap_err().to_string();
        let wanted = "plaintext modulus 33 has no slots at n = 16";
        assert!(refused.contains(wanted), "{refused}");
    }
}
