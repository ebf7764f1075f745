// SPDX-License-Identifier: Apache-2.0
//! Programs drawn at random: every operation, several levels, sums of unrelinearised products, many rotations of one
//! ciphertext.

use program::expression::{Expression, Numbers, PlainOp};
use program::step::{Operation, Place, Plaintext, Promise, SourceLine, Step};
use program::transform::{Giant, Term, Transform};
use program::{
    Argument, Encryption, Guarantee, IndexMap, Parameters, PlaintextSource, Program, Range,
    Reading, Secrecy,
};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

const OPERATIONS: usize = 20;
/// Products in a row that the BFV sets have room for.
const DEPTH: usize = 2;

pub struct Maker {
    rng: ChaCha8Rng,
    program: Program,
    /// Products on the longest way to each step.
    depth: Vec<usize>,
}

fn argument(name: &str, exact: bool, shape: Vec<u32>, secrecy: Secrecy) -> Argument {
    let range = match exact {
        true => Range::Integers { low: -8, high: 8 },
        false => Range::Reals {
            low: -1.0,
            high: 1.0,
        },
    };
    Argument {
        name: name.into(),
        shape,
        range,
        secrecy,
        producer: None,
    }
}

impl Maker {
    /// The arguments of every program here: x of two ciphertexts, y of one, plain w.
    pub fn new(parameters: Parameters, encryption: Encryption, seed: u64) -> Self {
        let exact = parameters.plain_modulus().is_some();
        let slots = parameters.slots();
        let packed = |rows| Secrecy::Encrypted(IndexMap::identity(rows * slots).unwrap());
        let s = slots as u32;
        let constant = match exact {
            true => Numbers::Integers(vec![-2, 3]),
            false => Numbers::Reals(vec![-0.5, 0.75]),
        };
        let expression = |operation, shape: &[u32]| Expression {
            operation,
            shape: shape.to_vec(),
        };
        let source = |expression, slots| PlaintextSource {
            expression,
            slots,
            bound: if exact { 100.0 } else { 1.0 },
        };
        let alternating = IndexMap::new((0..s).map(|i| (i % 3 < 2).then_some(i % 3))).unwrap();
        let program = Program {
            name: "random".into(),
            bootstrapping: None,
            variant: seed.to_string(),
            encryption,
            guarantee: Guarantee {
                bits: if exact { 1e-3 } else { 100.0 },
                failure_bits: 40,
                tolerance: if exact { 0.0 } else { 1.0 },
                publish: false,
                strength: ::program::Strength::Certain,
            },
            arguments: vec![
                argument("x", exact, vec![2, s], packed(2)),
                argument("w", exact, vec![s], Secrecy::Plain),
                argument("y", exact, vec![s], packed(1)),
            ],
            expressions: vec![
                expression(PlainOp::Argument(0), &[s]),
                expression(PlainOp::Constant(constant), &[2]),
                expression(PlainOp::Negate(0), &[s]),
            ],
            plaintexts: vec![
                source(0, IndexMap::identity(slots).unwrap()),
                source(1, alternating),
                source(2, IndexMap::identity(slots).unwrap()),
            ],
            transforms: vec![],
            lines: vec![SourceLine {
                file: "kernel.py".into(),
                number: 7,
                text: "return x".into(),
            }],
            steps: vec![],
            outputs: vec![],
            result_shape: vec![],
            result: IndexMap::default(),
            reading: Reading::default(),
            parameters,
        };
        let mut made = Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            program,
            depth: vec![],
        };
        let (level, scale) = (made.top(), made.program.parameters.scale());
        (0..3).for_each(|_| {
            made.push(Operation::Input, level, scale, 2);
        });
        while made.program.steps.len() < OPERATIONS + 3 {
            made.draw();
        }
        made
    }

    /// The program, with several outputs, and its plain argument.
    pub fn finish(mut self) -> (Program, Vec<Numbers>) {
        let last = self.program.steps.len() as u32 - 1;
        let outputs = [last, self.below(last as usize) as u32, last];
        let slots = self.program.parameters.slots();
        self.program.outputs = outputs.to_vec();
        self.program.result_shape = vec![3, slots as u32];
        self.program.result = IndexMap::identity(3 * slots).unwrap();
        let exact = self.program.parameters.plain_modulus().is_some();
        let integers = (0..slots).map(|_| self.below(17) as i64 - 8);
        let integers: Vec<i64> = integers.collect();
        let plain = match exact {
            true => Numbers::Integers(integers),
            false => Numbers::Reals(integers.iter().map(|&v| v as f64 / 8.0).collect()),
        };
        (self.program, vec![plain])
    }

    fn below(&mut self, limit: usize) -> usize {
        self.rng.next_u32() as usize % limit
    }

    fn top(&self) -> u32 {
        self.program.parameters.primes().len() as u32 - 1
    }

    fn exact(&self) -> bool {
        self.program.parameters.plain_modulus().is_some()
    }

    fn step(&self, number: u32) -> Step {
        self.program.steps[number as usize]
    }

    fn push(&mut self, operation: Operation, level: u32, scale: f64, size: u8) -> u32 {
        let (operands, count) = operation.operands();
        let before = operands[..count].iter().map(|&a| self.depth[a as usize]);
        let product = matches!(
            operation,
            Operation::Multiply(..)
                | Operation::Square(_)
                | Operation::MultiplyPlain(..)
                | Operation::LinearTransform(..)
        );
        self.depth
            .push(before.max().unwrap_or(0) + usize::from(product));
        let place = Place {
            line: 0,
            column: 4,
            end_column: 9,
        };
        self.program.steps.push(Step {
            operation,
            level,
            scale,
            size,
            place,
        });
        self.program.steps.len() as u32 - 1
    }

    /// A step with two polynomials.
    fn pick(&mut self) -> u32 {
        loop {
            let at = self.below(self.program.steps.len()) as u32;
            if self.step(at).size == 2 && self.step(at).scale.log2() < 45.0 {
                return at;
            }
        }
    }

    /// Another with the same level and scale.
    fn partner(&mut self, a: u32) -> u32 {
        let alike = |number: &u32| {
            let (one, two) = (self.step(a), self.step(*number));
            one.level == two.level && one.scale == two.scale && two.size == 2
        };
        let all: Vec<u32> = (0..self.program.steps.len() as u32).filter(alike).collect();
        all[self.below(all.len())]
    }

    /// Same level, scale and size as an operand.
    fn same(&mut self, operation: Operation, a: u32) -> u32 {
        let of = self.step(a);
        self.push(operation, of.level, of.scale, of.size)
    }

    fn plaintext(&mut self, scale: f64) -> Plaintext {
        let number = self.below(3) as u32;
        Plaintext { number, scale }
    }

    /// Divides a product's scale again, in CKKS.
    fn reduced(&mut self, a: u32) -> u32 {
        if self.exact() {
            return a;
        }
        let of = self.step(a);
        let scale = of.scale / self.prime(of.level);
        self.push(Operation::Rescale(a), of.level - 1, scale, of.size)
    }

    fn prime(&self, level: u32) -> f64 {
        self.program.parameters.primes()[level as usize] as f64
    }

    /// A transform of two giant steps, one of them without a rotation, and up to four terms.
    fn transform(&mut self, scale: Option<f64>) -> u32 {
        let terms = |made: &mut Self, rotations: [i32; 2]| {
            let count = if scale.is_some() { 2 } else { 1 };
            let term = |made: &mut Self, rotation: i32| Term {
                rotation,
                plaintext: scale.map(|_| made.below(3) as u32),
            };
            let first = made.below(3 - count);
            let rotations = rotations[first..first + count].iter();
            rotations.map(|&by| term(made, by)).collect::<Vec<_>>()
        };
        let giants = vec![
            Giant {
                rotation: -16,
                terms: terms(self, [-3, 0]),
            },
            Giant {
                rotation: 0,
                terms: terms(self, [0, 2]),
            },
        ];
        let scale = scale.unwrap_or(1.0);
        self.program.transforms.push(Transform { scale, giants });
        self.program.transforms.len() as u32 - 1
    }

    fn draw(&mut self) {
        let a = self.pick();
        let of = self.step(a);
        let room = match self.exact() {
            true => self.depth[a as usize] < DEPTH,
            false => of.level > 0,
        };
        match self.below(14) {
            0 => {
                let b = self.partner(a);
                self.same(Operation::Add(a, b), a);
            }
            1 => {
                let b = self.partner(a);
                self.same(Operation::Sub(a, b), a);
            }
            2 => {
                self.same(Operation::Negate(a), a);
            }
            3 => {
                let p = self.plaintext(of.scale);
                self.same(Operation::AddPlain(a, p), a);
            }
            4 => {
                let p = self.plaintext(of.scale);
                self.same(Operation::SubPlain(a, p), a);
            }
            5 if room => {
                let p = self.plaintext(self.program.parameters.scale());
                let scale = of.scale * p.scale;
                let product = self.push(Operation::MultiplyPlain(a, p), of.level, scale, 2);
                self.reduced(product);
            }
            6 if room => {
                let b = self.partner(a);
                if self.exact() && self.depth[b as usize] >= DEPTH {
                    return;
                }
                let scale = of.scale * of.scale;
                let square = self.push(Operation::Square(a), of.level, scale, 3);
                let product = self.push(Operation::Multiply(a, b), of.level, scale, 3);
                let sum = self.push(Operation::Sub(square, product), of.level, scale, 3);
                if !self.exact() && self.below(2) == 0 {
                    let (level, prime) = (of.level - 1, self.prime(of.level));
                    self.push(Operation::RelinearizeRescale(sum), level, scale / prime, 2);
                } else {
                    let two = self.push(Operation::Relinearize(sum), of.level, scale, 2);
                    self.reduced(two);
                }
            }
            7 | 8 => {
                let by = [1, -3, 2, 16][self.below(4)];
                self.same(Operation::Rotate(a, by), a);
            }
            9 if !self.exact() || of.level == self.top() => {
                let zero = self.push(Operation::EncryptZero, of.level, of.scale, 2);
                self.same(Operation::Add(a, zero), a);
            }
            10 if of.level > 0 && (self.exact() && of.level > 1 || !self.exact()) => {
                self.push(Operation::ModDrop(a), of.level - 1, of.scale, of.size);
            }
            11 if room => {
                let scale = self.program.parameters.scale();
                let number = self.transform(Some(scale));
                let transform = Operation::LinearTransform(a, number);
                let product = self.push(transform, of.level, of.scale * scale, 2);
                self.reduced(product);
            }
            12 if room => {
                let number = self.transform(None);
                self.same(Operation::LinearTransform(a, number), a);
            }
            13 if self.exact() => {
                self.same(Operation::SwapRows(a), a);
            }
            _ => {
                let promise = Promise::of_values(1e9, false);
                self.same(Operation::Within(a, promise), a);
            }
        }
    }
}
