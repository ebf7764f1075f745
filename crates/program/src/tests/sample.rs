// SPDX-License-Identifier: Apache-2.0
//! Programs that the tests start from.

use super::*;

pub const N: usize = 16;

pub fn ckks_parameters() -> Parameters {
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

pub fn bfv_parameters() -> Parameters {
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
pub fn sample(parameters: Parameters) -> Program {
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
        Operation::Within(at, Promise::of_values(3.5, true)),
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
            strength: Strength::Certain,
        },
        arguments: vec![
            Argument {
                name: "x".into(),
                shape: vec![2, 3],
                range,
                secrecy: Secrecy::Encrypted(packed),
                producer: None,
            },
            Argument {
                name: "w".into(),
                shape: vec![3],
                range,
                secrecy: Secrecy::Plain,
                producer: None,
            },
        ],
        expressions: vec![
            expression(PlainOp::Argument(0), &[3]),
            expression(PlainOp::Constant(numbers(&[2])), &[2, 3]),
            expression(PlainOp::Add(0, 1), &[2, 3]),
            expression(PlainOp::Subtract(2, 0), &[2, 3]),
            expression(PlainOp::Multiply(2, 3), &[2, 3]),
            expression(PlainOp::Negate(4), &[2, 3]),
            expression(PlainOp::Power(5, 3), &[2, 3]),
            expression(PlainOp::Polynomial(6, numbers(&[1, 0, -1])), &[2, 3]),
            expression(PlainOp::MatMul(7, 0), &[2]),
            expression(PlainOp::Sum(7, Some(1)), &[2]),
            expression(PlainOp::Sum(7, None), &[]),
            expression(
                PlainOp::Gather(
                    vec![8, 9, 10],
                    IndexMap::new([Some(4), None, Some(0)]).unwrap(),
                ),
                &[3],
            ),
            expression(PlainOp::Within(11, 4.0), &[3]),
        ],
        plaintexts: vec![PlaintextSource {
            expression: 12,
            bound: 4.0,
            slots: IndexMap::new((0..slots).map(|i| (i < 3).then_some(i))).unwrap(),
        }],
        bootstrapping: None,
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
        reading: Reading::default(),
        parameters,
    };
    program.guarantee.bits = promised(&program);
    program
}

/// A transform of giant rotations with their terms: rotations and plaintexts, −1 for none.
pub fn transform(scale: f64, giants: &[(i32, &[(i32, i64)])]) -> Transform {
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

/// The sample with an argument that is the result of another program.
pub fn receiving(parameters: Parameters) -> Program {
    let mut program = sample(parameters);
    let (level, scale) = (program.steps[0].level, program.parameters.scale());
    let noise = match program.parameters.plain_modulus() {
        None => Received::Reals {
            log2_error: -20.5,
            magnitude: 1.5,
            everywhere: 2.25,
        },
        Some(_) => Received::Integers {
            log2_variance: 6.5,
            factors: 1,
        },
    };
    let handed = |output| Handed {
        output,
        level,
        scale,
        noise,
    };
    program.arguments[0].producer = Some(Producer {
        name: "other".into(),
        identity: std::array::from_fn(|i| i as u8),
        ciphertexts: vec![handed(0), handed(2)],
    });
    program.guarantee.bits = promised(&program);
    program
}

/// Tightest guarantee, in quarters of a bit: other platforms' logarithms may differ in their last digits.
pub fn promised(program: &Program) -> f64 {
    let quarters = 4.0 * program.bound(Assume::None, None).unwrap().bits;
    match program.parameters.plain_modulus() {
        Some(_) => quarters.floor() / 4.0,
        None => quarters.ceil() / 4.0,
    }
}

pub fn both() -> [Program; 2] {
    [sample(ckks_parameters()), sample(bfv_parameters())]
}

pub fn read(bytes: &[u8]) -> Result<Program, Error> {
    Program::from_bytes(bytes, SecurityPolicy::insecure(), &Limits::default())
}
