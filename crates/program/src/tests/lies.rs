// SPDX-License-Identifier: Apache-2.0
//! Programs that no writer makes are refused with the reason.

use super::*;

#[test]
fn a_lie_in_a_program_is_refused_with_its_place() {
    type Lie = (&'static str, fn(&mut Program));
    let lies: [Lie; 45] = [
        ("a first axis of extent 2, the shape is [3]", |p| {
            p.reading.complex = true
        }),
        ("a divisor of 0", |p| p.reading.divisor = 0),
        ("a divisor of 4 in CKKS", |p| p.reading.divisor = 4),
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
            p.steps[11].operation = Operation::Within(10, Promise::of_values(-1.0, false));
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
            p.expressions[3].operation = PlainOp::Negate(3)
        }),
        ("there is no plain argument 1", |p| {
            p.expressions[0].operation = PlainOp::Argument(1)
        }),
        ("its map takes 3 positions from 9", |p| {
            p.expressions[11].operation =
                PlainOp::Gather(vec![8], IndexMap::new([Some(8), None, None]).unwrap());
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
            p.expressions[12].operation = PlainOp::Within(11, f64::NAN)
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
fn numbers_of_the_other_scheme_are_refused() {
    let mut program = sample(bfv_parameters());
    program.expressions[1].operation = PlainOp::Constant(Numbers::Integers(vec![49]));
    assert!(
        read(&program.to_bytes())
            .unwrap_err()
            .to_string()
            .contains("none of bfv")
    );
    let mut program = sample(ckks_parameters());
    program.expressions[1].operation = PlainOp::Constant(Numbers::Reals(vec![f64::INFINITY]));
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
