// SPDX-License-Identifier: Apache-2.0
//! Evaluation of a program in the clear, on slots.

use program::Program;
use program::expression::Numbers;
use program::step::Operation;

/// The slots of one ciphertext.
#[derive(Clone, Debug, PartialEq)]
pub enum Slots {
    Integers(Vec<i64>),
    Reals(Vec<f64>),
}

/// Rows to encrypt.
pub fn inputs(program: &Program, seed: u64) -> Vec<Slots> {
    let slots = program.parameters.slots();
    let value = |row: usize, i: usize| ((row + 3) * (i + 1) + seed as usize) as i64 % 17 - 8;
    let row = |row| {
        let values: Vec<i64> = (0..slots).map(|i| value(row, i)).collect();
        match program.parameters.plain_modulus() {
            Some(_) => Slots::Integers(values),
            None => Slots::Reals(values.iter().map(|&v| v as f64 / 8.0).collect()),
        }
    };
    (0..program.input_count()).map(row).collect()
}

/// A ring's sum, difference, product and zero.
struct Arithmetic<E> {
    add: fn(E, E) -> E,
    sub: fn(E, E) -> E,
    multiply: fn(E, E) -> E,
    zero: E,
}

fn walk<E: Copy>(
    program: &Program,
    ring: &Arithmetic<E>,
    inputs: &[Vec<E>],
    plain: &[Vec<E>],
    reduce: impl Fn(E) -> E,
) -> Vec<Vec<E>> {
    let (slots, width) = (program.parameters.slots(), program.parameters.n() / 2);
    // Every row by itself, to the left.
    let turned = |x: &[E], by: i32| -> Vec<E> {
        let column = |i: usize| (i as i64 + i64::from(by)).rem_euclid(width as i64) as usize;
        (0..slots)
            .map(|i| x[i / width * width + column(i % width)])
            .collect()
    };
    let mut values: Vec<Vec<E>> = Vec::new();
    for (number, step) in program.steps.iter().enumerate() {
        let of = |a: u32| values[a as usize].as_slice();
        let zip = |a: &[E], b: &[E], f: fn(E, E) -> E| -> Vec<E> {
            a.iter().zip(b).map(|(&x, &y)| reduce(f(x, y))).collect()
        };
        let zeros = vec![ring.zero; slots];
        let own = match step.operation {
            Operation::Input => inputs[number].clone(),
            Operation::EncryptZero => zeros,
            Operation::Add(a, b) => zip(of(a), of(b), ring.add),
            Operation::Sub(a, b) => zip(of(a), of(b), ring.sub),
            Operation::Negate(a) => zip(&zeros, of(a), ring.sub),
            Operation::AddPlain(a, p) => zip(of(a), &plain[p.number as usize], ring.add),
            Operation::SubPlain(a, p) => zip(of(a), &plain[p.number as usize], ring.sub),
            Operation::MultiplyPlain(a, p) => zip(of(a), &plain[p.number as usize], ring.multiply),
            Operation::Multiply(a, b) => zip(of(a), of(b), ring.multiply),
            Operation::Square(a) => zip(of(a), of(a), ring.multiply),
            Operation::Rotate(a, by) => turned(of(a), by),
            Operation::SwapRows(a) => (0..slots).map(|i| of(a)[i ^ (slots / 2)]).collect(),
            Operation::Relinearize(a)
            | Operation::Rescale(a)
            | Operation::ModDrop(a)
            | Operation::Within(a, _)
            | Operation::RelinearizeRescale(a)
            | Operation::Bootstrap(a) => of(a).to_vec(),
            Operation::LinearTransform(a, number) => {
                let mut sum = zeros;
                for giant in &program.transforms[number as usize].giants {
                    let mut inner = vec![ring.zero; slots];
                    for term in &giant.terms {
                        let x = turned(of(a), term.rotation);
                        let x = match term.plaintext {
                            Some(p) => zip(&x, &plain[p as usize], ring.multiply),
                            None => x,
                        };
                        inner = zip(&inner, &x, ring.add);
                    }
                    sum = zip(&sum, &turned(&inner, giant.rotation), ring.add);
                }
                sum
            }
        };
        values.push(own);
    }
    let output = |&o: &u32| values[o as usize].clone();
    program.outputs.iter().map(output).collect()
}

/// The slots of every output.
pub fn evaluate(program: &Program, plain: &[Numbers], inputs: &[Slots]) -> Vec<Slots> {
    let values = program.evaluate(plain).unwrap();
    let plain: Vec<Numbers> = (0..program.plaintexts.len() as u32)
        .map(|number| program.slots(&values, number).unwrap())
        .collect();
    match program.parameters.plain_modulus() {
        None => {
            let ring = Arithmetic {
                add: |a: f64, b| a + b,
                sub: |a, b| a - b,
                multiply: |a, b| a * b,
                zero: 0.0,
            };
            let plain: Vec<Vec<f64>> = plain.iter().map(|p| reals(p).to_vec()).collect();
            let rows: Vec<Vec<f64>> = inputs.iter().map(real_row).collect();
            let outputs = walk(program, &ring, &rows, &plain, |x| x);
            outputs.into_iter().map(Slots::Reals).collect()
        }
        Some(t) => {
            let ring = Arithmetic {
                add: |a: i64, b| a + b,
                sub: |a, b| a - b,
                multiply: |a, b| a * b,
                zero: 0,
            };
            let t = t as i64;
            let centred = |x: i64| (x + t / 2).rem_euclid(t) - t / 2;
            let plain: Vec<Vec<i64>> = plain.iter().map(|p| integers(p).to_vec()).collect();
            let rows: Vec<Vec<i64>> = inputs.iter().map(integer_row).collect();
            let outputs = walk(program, &ring, &rows, &plain, centred);
            outputs.into_iter().map(Slots::Integers).collect()
        }
    }
}

pub fn reals(numbers: &Numbers) -> &[f64] {
    match numbers {
        Numbers::Reals(values) => values,
        Numbers::Integers(_) => panic!("reals"),
    }
}

pub fn integers(numbers: &Numbers) -> &[i64] {
    match numbers {
        Numbers::Integers(values) => values,
        Numbers::Reals(_) => panic!("integers"),
    }
}

pub fn real_row(row: &Slots) -> Vec<f64> {
    match row {
        Slots::Reals(values) => values.clone(),
        Slots::Integers(_) => panic!("reals"),
    }
}

pub fn integer_row(row: &Slots) -> Vec<i64> {
    match row {
        Slots::Integers(values) => values.clone(),
        Slots::Reals(_) => panic!("integers"),
    }
}
