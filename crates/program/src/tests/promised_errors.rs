// SPDX-License-Identifier: Apache-2.0
//! Promised errors, slot by slot, beside a vector of the largest errors that goes through a dense matrix.

use super::guarantee::refused;
use super::*;

const SLOTS: usize = N / 2;
/// What is promised.
const ERROR: f64 = 1.0 / 256.0;
/// Rotations of the transforms here: giant steps, each with its baby steps.
const GIANTS: [(i32, &[i32]); 3] = [(0, &[0, 1]), (2, &[-3, 0, 1]), (4, &[2])];
const TERMS: usize = 6;

type Slots = [f64; SLOTS];
type Matrix = [Slots; SLOTS];

/// Numbers in [-1, 1), from a congruential generator.
struct Random(u64);

impl Random {
    fn slots(&mut self) -> Slots {
        std::array::from_fn(|_| {
            self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005))
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
    }

    fn diagonals(&mut self) -> [Slots; TERMS] {
        std::array::from_fn(|_| self.slots())
    }
}

fn slot(place: i32) -> usize {
    place.rem_euclid(SLOTS as i32) as usize
}

/// The matrix that a transform of `GIANTS` with these plaintexts is.
fn matrix(diagonals: &[Slots; TERMS]) -> Matrix {
    let mut matrix = [[0.0; SLOTS]; SLOTS];
    let terms = GIANTS
        .iter()
        .flat_map(|(giant, babies)| babies.iter().map(move |baby| (giant, baby)));
    for ((giant, baby), plaintext) in terms.zip(diagonals) {
        for (row, factors) in matrix.iter_mut().enumerate() {
            let inner = row as i32 + giant;
            factors[slot(inner + baby)] += plaintext[slot(inner)];
        }
    }
    matrix
}

/// What errors of these sizes do to each slot at worst.
fn worst(matrix: &Matrix, errors: &Slots) -> Slots {
    let row = |row: &Slots| row.iter().zip(errors).map(|(w, e)| w.abs() * e).sum();
    std::array::from_fn(|i| row(&matrix[i]))
}

fn largest(slots: &Slots, read: &[usize]) -> f64 {
    read.iter().map(|&slot| slots[slot]).fold(0.0, f64::max)
}

const ALL: [usize; SLOTS] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Writes a program step by step.
struct Writer(Program);

impl Writer {
    /// An input as step 0, whose values and errors step 1 makes larger than what is promised afterwards.
    fn new() -> Self {
        let mut program = sample(ckks_parameters());
        program.arguments.truncate(1);
        program.arguments[0].shape = vec![SLOTS as u32];
        program.arguments[0].secrecy = Secrecy::Encrypted(IndexMap::identity(SLOTS).unwrap());
        program.expressions.clear();
        program.plaintexts.clear();
        program.transforms.clear();
        program.steps.clear();
        program.guarantee.strength = Strength::Probable;
        let (level, scale) = (
            program.parameters.primes().len() as u32 - 1,
            program.parameters.scale(),
        );
        let mut writer = Self(program);
        writer.step(Operation::Input, level, scale, 2);
        let number = writer.plaintext(&[f64::from(1 << 26); SLOTS]);
        writer.step(
            Operation::MultiplyPlain(0, Plaintext { number, scale: 1.0 }),
            level,
            scale,
            2,
        );
        writer
    }

    fn step(&mut self, operation: Operation, level: u32, scale: f64, size: u8) -> u32 {
        let place = Place::default();
        self.0.steps.push(Step {
            operation,
            level,
            scale,
            size,
            place,
        });
        self.0.steps.len() as u32 - 1
    }

    fn plaintext(&mut self, values: &Slots) -> u32 {
        let largest = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        // One value fills the shape.
        let same = values.iter().all(|v| *v == values[0]);
        let held = if same { &values[..1] } else { values };
        self.0.expressions.push(Expression {
            operation: PlainOp::Constant(Numbers::Reals(held.to_vec())),
            shape: vec![SLOTS as u32],
        });
        self.0.plaintexts.push(PlaintextSource {
            expression: self.0.expressions.len() as u32 - 1,
            slots: IndexMap::identity(SLOTS).unwrap(),
            bound: largest,
        });
        self.0.plaintexts.len() as u32 - 1
    }

    /// A step at the level of its operand.
    fn after(&mut self, a: u32, operation: Operation) -> u32 {
        let Step {
            level, scale, size, ..
        } = self.0.steps[a as usize];
        self.step(operation, level, scale, size)
    }

    /// A promise about the magnitude 1 and an error.
    fn within(&mut self, a: u32, error: f64) -> u32 {
        let promise = Promise {
            error,
            ..Promise::of_values(1.0, true)
        };
        self.after(a, Operation::Within(a, promise))
    }

    fn scale(&self) -> f64 {
        self.0.parameters.scale()
    }

    fn rescaled(&mut self, a: u32) -> u32 {
        let Step { level, scale, .. } = self.0.steps[a as usize];
        let prime = self.0.parameters.primes()[level as usize] as f64;
        self.step(Operation::Rescale(a), level - 1, scale / prime, 2)
    }

    /// A product with a plaintext, rescaled.
    fn masked(&mut self, a: u32, mask: &Slots) -> u32 {
        let (number, scale) = (self.plaintext(mask), self.scale());
        let Step {
            level, scale: own, ..
        } = self.0.steps[a as usize];
        let product = Operation::MultiplyPlain(a, Plaintext { number, scale });
        let product = self.step(product, level, own * scale, 2);
        self.rescaled(product)
    }

    /// The square, relinearised and rescaled.
    fn square(&mut self, a: u32) -> u32 {
        let Step { level, scale, .. } = self.0.steps[a as usize];
        let square = self.step(Operation::Square(a), level, scale * scale, 3);
        let prime = self.0.parameters.primes()[level as usize] as f64;
        self.step(
            Operation::RelinearizeRescale(square),
            level - 1,
            scale * scale / prime,
            2,
        )
    }

    /// A transform of `GIANTS`, rescaled.
    fn transformed(&mut self, a: u32, diagonals: &[Slots; TERMS]) -> u32 {
        let (scale, mut numbers) = (self.scale(), diagonals.iter());
        let mut term = |baby| (baby, i64::from(self.plaintext(numbers.next().unwrap())));
        let giants = GIANTS.map(|(by, babies)| {
            (
                by,
                babies.iter().map(|&baby| term(baby)).collect::<Vec<_>>(),
            )
        });
        let giants: Vec<_> = giants
            .iter()
            .map(|(by, own)| (*by, own.as_slice()))
            .collect();
        self.0.transforms.push(transform(scale, &giants));
        let Step {
            level, scale: own, ..
        } = self.0.steps[a as usize];
        let number = self.0.transforms.len() as u32 - 1;
        let result = self.step(Operation::LinearTransform(a, number), level, own * scale, 2);
        self.rescaled(result)
    }

    /// The program with these slots of a step as its result, its guarantee as good as can be.
    fn program(mut self, output: u32, read: &[usize]) -> Program {
        self.0.outputs = vec![output];
        self.0.result_shape = vec![read.len() as u32];
        self.0.result = IndexMap::new(read.iter().map(|&slot| Some(slot as u32))).unwrap();
        self.0.guarantee.bits = self.0.bound(Assume::None, None).unwrap().bits;
        self.0
    }
}

/// A bound is no less than what is possible, and little more: roundings come on top.
fn close(program: &Program, possible: f64) {
    let bound = program.guarantee.bits.exp2();
    assert!(
        (possible..1.02 * possible + 1e-6).contains(&bound),
        "{bound} for {possible}"
    );
    // A reader finds the same.
    assert_eq!(&read(&program.to_bytes()).unwrap(), program);
    let mut lie = program.clone();
    lie.guarantee.bits -= 0.01;
    assert!(refused(read(&lie.to_bytes())).contains("promises more"));
}

#[test]
fn errors_go_through_a_matrix_slot_by_slot() {
    for seed in 0..8 {
        let mut random = Random(seed);
        let (diagonals, mask) = (random.diagonals(), random.slots());
        let every = worst(
            &matrix(&diagonals),
            &mask.map(|factor| factor.abs() * ERROR),
        );
        for read in [&ALL[..], &[seed as usize], &[1, 2, 5]] {
            let mut made = Writer::new();
            let promised = made.within(1, ERROR);
            let masked = made.masked(promised, &mask);
            let output = made.transformed(masked, &diagonals);
            let program = made.program(output, read);
            close(&program, largest(&every, read));
            // Who takes the result has all slots of it, those that are not read too.
            let [Received::Reals { log2_error, .. }] = program.results().unwrap()[..] else {
                panic!("one result of reals");
            };
            let all = largest(&every, &ALL);
            assert!((all..1.02 * all + 1e-6).contains(&log2_error.exp2()));
        }
    }
}

#[test]
fn the_largest_error_counts_by_the_weight_of_its_own_slot() {
    for seed in 0..8 {
        let (mut random, at) = (Random(seed), seed as usize);
        let mask: Slots = std::array::from_fn(|slot| if slot == at { 1.0 } else { 1.0 / 1024.0 });
        for large in [true, false] {
            // The weight of a column is that of its terms, each of which has it at another row.
            let mut diagonals = random.diagonals();
            let terms = GIANTS.iter().flat_map(|(_, babies)| babies.iter());
            for (plaintext, baby) in diagonals.iter_mut().zip(terms) {
                for (place, factor) in plaintext.iter_mut().enumerate() {
                    if (slot(place as i32 + baby) == at) != large {
                        *factor /= 1024.0;
                    }
                }
            }
            let errors = mask.map(|factor| factor * ERROR);
            let every = worst(&matrix(&diagonals), &errors);
            let mut made = Writer::new();
            let promised = made.within(1, ERROR);
            let masked = made.masked(promised, &mask);
            let output = made.transformed(masked, &diagonals);
            let program = made.program(output, &ALL);
            close(&program, largest(&every, &ALL));
            assert_eq!(largest(&every, &ALL) > ERROR / 16.0, large);
        }
    }
}

#[test]
fn errors_of_two_promises_and_of_a_square_add_up_in_each_slot() {
    for seed in 0..8 {
        let mut random = Random(seed);
        let (diagonals, masks) = (random.diagonals(), [random.slots(), random.slots()]);
        let mut made = Writer::new();
        let (first, second) = (made.within(1, ERROR), made.within(1, 3.0 * ERROR));
        let (a, b) = (
            made.masked(first, &masks[0]),
            made.masked(second, &masks[1]),
        );
        let sum = made.after(a, Operation::Sub(a, b));
        let turned = made.after(sum, Operation::Rotate(sum, 3));
        let output = made.transformed(turned, &diagonals);
        let both: Slots = std::array::from_fn(|slot| {
            let slot = (slot + 3) % SLOTS;
            ERROR * (masks[0][slot].abs() + 3.0 * masks[1][slot].abs())
        });
        let every = worst(&matrix(&diagonals), &both);
        close(&made.program(output, &[2, 7]), largest(&every, &[2, 7]));

        let mut made = Writer::new();
        let promised = made.within(1, ERROR);
        let masked = made.masked(promised, &masks[0]);
        let square = made.square(masked);
        let output = made.transformed(square, &diagonals);
        let squares = masks[0].map(|m| (m * (1.0 + ERROR)).powi(2) - m * m);
        let every = worst(&matrix(&diagonals), &squares);
        close(&made.program(output, &[0, 4]), largest(&every, &[0, 4]));
    }
}

#[test]
fn a_promise_that_says_less_than_the_bound_does_no_harm() {
    let mut random = Random(1);
    let diagonals = random.diagonals();
    let bits = |error: f64, last: f64| {
        let mut made = Writer::new();
        let promised = made.within(0, error);
        let output = made.transformed(promised, &diagonals);
        let output = made.within(output, last);
        made.program(output, &ALL).guarantee.bits
    };
    let none = bits(f64::INFINITY, f64::INFINITY);
    assert_eq!(bits(0.5, f64::INFINITY), none);
    assert_eq!(bits(0.5, 0.25), none);
    // What stands before the last promise has no part in it.
    let tiny = none.exp2() / 4.0;
    assert!((bits(f64::INFINITY, tiny).exp2() / tiny - 1.0).abs() < 1e-6);
    assert!((bits(tiny, tiny).exp2() / tiny - 1.0).abs() < 1e-6);
}
