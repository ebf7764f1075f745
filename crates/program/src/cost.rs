// SPDX-License-Identifier: Apache-2.0
//! Cost of a run of a program, computed from its steps in advance: memory, size of the keys, work. A server holds
//! these against its quotas; a compiler weighs key-switching digits by the work ([`Circuit::work`]).

mod key_switch;

use crate::guarantee::Circuit;
use crate::parameters::Parameters;
use crate::program::{Encryption, Program};
use crate::step::{Operation, Step};
use crate::transform::Transform;
use ckks::bootstrap::Effort as Refresh;
use std::collections::{HashMap, HashSet};

/// Cost of one run. Threads beyond the first add a few ciphertexts each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes of inputs, ciphertexts, encoded plaintexts and scratch at the fullest step of a walk in program order.
    pub memory: u64,
    /// Bytes of the evaluation keys, loaded.
    pub keys: u64,
    /// Bytes of all encoded plaintexts, of which a server keeps for the next run what it has room for.
    pub plaintexts: u64,
    /// Bytes of the largest ciphertext.
    pub ciphertext: u64,
    /// Time in butterflies: those of all transforms, one for each two products of pointwise passes, and what base
    /// conversions and reading keys take besides.
    pub work: u64,
}

/// Cost of a step.
#[derive(Clone, Copy, Default)]
struct Effort {
    /// Limbs transformed.
    transforms: u64,
    /// Limbs passed over pointwise.
    passes: u64,
    /// Butterflies besides these.
    more: u64,
    /// Limbs of scratch.
    scratch: u64,
}

impl Effort {
    fn of(transforms: u64, passes: u64, scratch: u64) -> Self {
        Self {
            transforms,
            passes,
            more: 0,
            scratch,
        }
    }

    fn work(&self, n: u64) -> u64 {
        let log2_n = u64::from(n.trailing_zeros());
        n / 2 * (self.transforms * log2_n + self.passes) + self.more
    }
}

/// The shape of a parameter set, as far as costs go.
#[derive(Clone, Default)]
struct Shape {
    /// What a refresh takes.
    refresh: Option<Refresh>,
    n: u64,
    word_bytes: u64,
    special: u64,
    dnum: u64,
    data: u64,
    bfv: bool,
    /// Whether the public key is over Q·P.
    extended: bool,
}

impl Shape {
    fn of(program: &Program) -> Self {
        let parameters = &program.parameters;
        let (word_bytes, dnum) = match parameters {
            Parameters::Bfv(p) => (8, p.rlwe().dnum()),
            Parameters::BfvWide(p) => (16, p.rlwe().dnum()),
            Parameters::Ckks(p) => (8, p.rlwe().dnum()),
        };
        Self {
            n: parameters.n() as u64,
            word_bytes,
            special: parameters.special_primes() as u64,
            dnum: dnum as u64,
            data: parameters.primes().len() as u64,
            bfv: parameters.plain_modulus().is_some(),
            extended: program.encryption == Encryption::Extended,
            refresh: program.effort().cloned(),
        }
    }

    /// A refresh: its key switches; its products with plaintexts are small beside them.
    fn refresh(&self) -> Effort {
        let switches = self.refresh.iter().flat_map(|effort| &effort.switches);
        let each = switches.map(|&limbs| self.key_switch(limbs as u64));
        each.fold(Effort::default(), |sum, one| Effort {
            transforms: sum.transforms + one.transforms,
            passes: sum.passes + one.passes,
            more: sum.more + one.more,
            scratch: sum.scratch.max(one.scratch),
        })
    }

    /// Bytes of `limbs` limbs.
    fn bytes(&self, limbs: u64) -> u64 {
        limbs * self.n * self.word_bytes
    }

    /// Data primes of a digit: ⌈data / dnum⌉.
    fn digit_len(&self) -> u64 {
        self.data.div_ceil(self.dnum.max(1)).max(1)
    }

    /// Digits of `limbs` data primes.
    fn digits(&self, limbs: u64) -> u64 {
        limbs.div_ceil(self.digit_len())
    }

    /// Bytes of one switching key for `limbs` data primes, both halves.
    fn switching_key(&self, limbs: u64) -> u64 {
        self.bytes(2 * self.digits(limbs) * (limbs + self.special))
    }

    fn ciphertext(&self, step: &Step) -> u64 {
        self.bytes(u64::from(step.size) * limbs(step))
    }

    /// Cost of a step whose first operand has `operand` limbs.
    fn effort(&self, transforms: &[Transform], step: &Step, operand: u64) -> Effort {
        let own = limbs(step);
        let size = u64::from(step.size);
        let (transformed, passes, scratch) = match step.operation {
            Operation::Input | Operation::Within(..) => (0, 0, 0),
            // Over Q·P both parts are transformed once more to be divided.
            Operation::EncryptZero if self.extended => {
                let wide = own + self.special;
                (5 * wide, 4 * wide, 5 * wide)
            }
            Operation::EncryptZero => (3 * own, 2 * own, 3 * own),
            Operation::Add(..) | Operation::Sub(..) | Operation::Negate(_) => (0, size * own, 0),
            Operation::AddPlain(..) | Operation::SubPlain(..) => (own, own, own),
            Operation::MultiplyPlain(..) if self.bfv => ((2 * size + 1) * own, size * own, own),
            Operation::MultiplyPlain(..) => (own, size * own, own),
            // HPS: operands lifted to an auxiliary basis as long as their own, three products scaled back.
            Operation::Multiply(..) | Operation::Square(_) if self.bfv => {
                (14 * (own + 1), 4 * own * own, 14 * (own + 1))
            }
            Operation::Multiply(..) | Operation::Square(_) => (0, 4 * own, 0),
            Operation::Relinearize(_) | Operation::Rotate(..) | Operation::SwapRows(_) => {
                return self.key_switch(own);
            }
            Operation::RelinearizeRescale(_) => return self.key_switch(operand),
            Operation::Bootstrap(_) => return self.refresh(),
            Operation::LinearTransform(_, number) => {
                let transform = transforms.get(number as usize);
                return transform.map_or(Effort::default(), |transform| {
                    self.linear_transform(transform, own)
                });
            }
            Operation::Rescale(_) => (size * operand, size * operand, operand),
            Operation::ModDrop(_) => (0, size * operand, 0),
        };
        Effort::of(transformed, passes, scratch)
    }
}

fn limbs(step: &Step) -> u64 {
    u64::from(step.level) + 1
}

/// Limbs of a step's first operand.
fn operand_limbs(steps: &[Step], step: &Step) -> u64 {
    let (operands, count) = step.operation.operands();
    let operand = operands[..count].first();
    operand.map_or(0, |&a| limbs(&steps[a as usize]))
}

/// The primes of a set that digits are weighed for: as many data primes, special primes and digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits {
    /// Ring degree.
    pub n: usize,
    /// Data primes.
    pub data: usize,
    /// Special primes.
    pub special: usize,
    /// Digits of a key over all data primes.
    pub dnum: usize,
}

impl Circuit<'_> {
    /// [`Cost::work`] of the steps under a set of one-word primes that has them all.
    pub fn work(&self, digits: Digits) -> u64 {
        let shape = Shape {
            n: digits.n as u64,
            word_bytes: 8,
            special: digits.special as u64,
            dnum: digits.dnum as u64,
            data: digits.data as u64,
            bfv: self.exact,
            extended: self.encryption == Encryption::Extended,
            refresh: self.effort.clone(),
        };
        let work = |step: &Step| {
            let operand = operand_limbs(&self.steps, step);
            shape.effort(&self.transforms, step, operand).work(shape.n)
        };
        self.steps.iter().map(work).sum()
    }
}

/// Ciphertexts and encodings that are held on the way, and the uses that they still have.
struct Held<'a> {
    program: &'a Program,
    shape: &'a Shape,
    /// The step whose ciphertext a step's value is: promises make none of their own.
    root: Vec<usize>,
    uses: Vec<u32>,
    encodings: HashMap<(u32, u32, u64), u32>,
    bytes: u64,
}

impl<'a> Held<'a> {
    fn new(program: &'a Program, shape: &'a Shape) -> Self {
        let mut root: Vec<usize> = (0..program.steps.len()).collect();
        let mut uses = vec![0; program.steps.len()];
        let mut encodings = HashMap::new();
        for (number, step) in program.steps.iter().enumerate() {
            if let Operation::Within(a, _) = step.operation {
                root[number] = root[a as usize];
                continue;
            }
            let (operands, count) = step.operation.operands();
            for &a in &operands[..count] {
                uses[root[a as usize]] += 1;
            }
            if let Some(key) = encoding(step) {
                *encodings.entry(key).or_insert(0) += 1;
            }
            // Inputs belong to the caller for the whole run.
            uses[number] += u32::from(step.operation.is_input());
        }
        for &output in &program.outputs {
            uses[root[output as usize]] += 1;
        }
        Self {
            program,
            shape,
            root,
            uses,
            encodings,
            bytes: 0,
        }
    }

    /// Adds the result and new encodings of a step; an encoding counts from its first use on.
    fn make(&mut self, number: usize, encoded: &mut HashSet<(u32, u32, u64)>) {
        let step = &self.program.steps[number];
        if self.root[number] == number {
            self.bytes += self.shape.ciphertext(step);
        }
        if let Some(key) = encoding(step)
            && encoded.insert(key)
        {
            self.bytes += self.shape.bytes(limbs(step));
        }
    }

    /// Takes off the values that no later step uses.
    fn free(&mut self, number: usize) {
        let step = &self.program.steps[number];
        if self.root[number] != number {
            return;
        }
        let (operands, count) = step.operation.operands();
        for &a in &operands[..count] {
            let root = self.root[a as usize];
            self.uses[root] -= 1;
            if self.uses[root] == 0 {
                self.bytes -= self.shape.ciphertext(&self.program.steps[root]);
            }
        }
        if let Some(uses) = encoding(step).and_then(|key| self.encodings.get_mut(&key)) {
            *uses -= 1;
            if *uses == 0 {
                self.bytes -= self.shape.bytes(limbs(step));
            }
        }
    }
}

/// Identity of an encoding: plaintext, level and scale.
fn encoding(step: &Step) -> Option<(u32, u32, u64)> {
    let plaintext = step.operation.plaintext()?;
    Some((plaintext.number, step.level, plaintext.scale.to_bits()))
}

impl Program {
    /// Cost of a run.
    pub fn cost(&self) -> Cost {
        let shape = Shape::of(self);
        let mut held = Held::new(self, &shape);
        let mut encoded = HashSet::new();
        let mut cost = Cost {
            keys: self.key_bytes(&shape),
            plaintexts: self.plaintext_bytes(&shape),
            ..Cost::default()
        };
        // The matrices of refreshes stay for the whole run.
        if let Some(effort) = shape.refresh.as_ref().filter(|_| self.refreshes() > 0) {
            let limbs = |&limbs: &usize| limbs as u64 + shape.special;
            held.bytes += shape.bytes(effort.plaintexts.iter().map(limbs).sum());
        }
        for (number, step) in self.steps.iter().enumerate() {
            let operand = operand_limbs(&self.steps, step);
            let effort = shape.effort(&self.transforms, step, operand);
            cost.work += effort.work(shape.n);
            cost.ciphertext = cost.ciphertext.max(shape.ciphertext(step));
            held.make(number, &mut encoded);
            cost.memory = cost.memory.max(held.bytes + shape.bytes(effort.scratch));
            held.free(number);
        }
        cost
    }

    /// Those of transforms are encoded for the special primes as well, whose products are summed before the division.
    fn plaintext_bytes(&self, shape: &Shape) -> u64 {
        let mut seen = HashSet::new();
        let mut total = 0;
        for step in &self.steps {
            let own = encoding(step).map(|key| (key, false));
            let transform = self.transform(step).into_iter();
            let wide = transform.flat_map(Transform::plaintexts).map(|p| {
                let key = (p.number, step.level, p.scale.to_bits());
                (key, true)
            });
            for (key, extended) in own.into_iter().chain(wide) {
                if seen.insert((key, extended)) {
                    total += shape.bytes(limbs(step) + if extended { shape.special } else { 0 });
                }
            }
        }
        total
    }

    fn key_bytes(&self, shape: &Shape) -> u64 {
        let keys = self.required_keys();
        let of = |level: Option<u32>| level.map_or(0, |l| shape.switching_key(u64::from(l) + 1));
        let automorphisms = keys.rotations.len() + usize::from(keys.swap_rows);
        let limbs = shape.data + u64::from(shape.extended) * shape.special;
        let public = u64::from(keys.public) * shape.bytes(2 * limbs);
        let refresh = self.bootstrapping.as_ref().filter(|_| keys.bootstrapping);
        let refresh = refresh.map_or(0, |own| own.params().key_memory()[1] as u64);
        of(keys.relinearization) + of(keys.galois) * automorphisms as u64 + public + refresh
    }
}
