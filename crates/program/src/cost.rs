// SPDX-License-Identifier: Apache-2.0
//! What a run of a program will take, reckoned from its steps before anything runs: memory, size of the keys, work. A server
//! holds these against its quotas.

use crate::parameters::Parameters;
use crate::program::Program;
use crate::step::{Operation, Step};
use crate::transform::Transform;
use std::collections::{HashMap, HashSet};

/// What one run takes. Threads beyond the first add a few ciphertexts each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes of inputs, ciphertexts, encoded plaintexts and scratch at the fullest step of a walk in program order.
    pub memory: u64,
    /// Bytes of the evaluation keys, loaded.
    pub keys: u64,
    /// Bytes of the largest ciphertext.
    pub ciphertext: u64,
    /// Butterflies of all transforms, and a butterfly for each two products of pointwise passes.
    pub work: u64,
}

/// The shape of a parameter set, as far as costs go.
struct Shape {
    n: u64,
    word_bytes: u64,
    special: u64,
    dnum: u64,
    data: u64,
    bfv: bool,
}

impl Shape {
    fn of(parameters: &Parameters) -> Self {
        let (word_bytes, special, dnum) = match parameters {
            Parameters::Bfv(p) => (8, p.rlwe().special_primes(), p.rlwe().dnum()),
            Parameters::BfvWide(p) => (16, p.rlwe().special_primes(), p.rlwe().dnum()),
            Parameters::Ckks(p) => (8, p.rlwe().special_primes(), p.rlwe().dnum()),
        };
        Self {
            n: parameters.n() as u64,
            word_bytes,
            special: special as u64,
            dnum: dnum as u64,
            data: parameters.primes().len() as u64,
            bfv: parameters.plain_modulus().is_some(),
        }
    }

    /// Bytes of so many limbs.
    fn bytes(&self, limbs: u64) -> u64 {
        limbs * self.n * self.word_bytes
    }

    /// Digits of `limbs` data primes: groups of ⌈data / dnum⌉.
    fn digits(&self, limbs: u64) -> u64 {
        limbs.div_ceil(self.data.div_ceil(self.dnum.max(1)).max(1))
    }

    /// Bytes of one switching key for `limbs` data primes, both halves.
    fn switching_key(&self, limbs: u64) -> u64 {
        self.bytes(2 * self.digits(limbs) * (limbs + self.special))
    }

    fn ciphertext(&self, step: &Step) -> u64 {
        self.bytes(u64::from(step.size) * limbs(step))
    }

    /// Limbs transformed, limbs passed over pointwise, limbs of scratch.
    fn effort(&self, program: &Program, step: &Step, operand: u64) -> (u64, u64, u64) {
        let own = limbs(step);
        let size = u64::from(step.size);
        let switch = |own: u64| {
            let (digits, wide) = (self.digits(own), own + self.special);
            let scratch = (digits + 2) * wide;
            (own + digits * wide + 2 * wide, 2 * digits * wide, scratch)
        };
        match step.operation {
            Operation::Input | Operation::Within(..) => (0, 0, 0),
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
                switch(own)
            }
            Operation::RelinearizeRescale(_) => switch(operand),
            Operation::LinearTransform(..) => program
                .transform(step)
                .map_or((0, 0, 0), |transform| self.transform_effort(transform, own)),
            Operation::Rescale(_) => (size * operand, size * operand, operand),
            Operation::ModDrop(_) => (0, size * operand, 0),
        }
    }
}

impl Shape {
    /// [`Shape::effort`] of a linear transform: one decomposition for all baby steps, a division of one part and a decomposition
    /// for each giant step, and the plaintexts encoded over all primes.
    fn transform_effort(&self, transform: &Transform, own: u64) -> (u64, u64, u64) {
        let (digits, wide) = (self.digits(own), own + self.special);
        let giants = transform.giants.iter().filter(|g| g.rotation != 0).count() as u64;
        let switches = transform.key_switches() as u64;
        let terms = transform.terms().count() as u64;
        let plaintexts = transform.plaintexts().count() as u64;
        let decompositions = (1 + giants) * (own + digits * wide);
        let transforms = decompositions + (giants + 2) * wide + plaintexts * wide;
        let passes = 2 * (switches * digits + terms) * wide;
        (transforms, passes, (digits + 6 + plaintexts) * wide)
    }
}

fn limbs(step: &Step) -> u64 {
    u64::from(step.level) + 1
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
            uses[number] += u32::from(step.operation == Operation::Input);
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

    /// Adds what a step makes and first encodes; an encoding counts from its first use on.
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

    /// Takes off what nobody uses after a step.
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

/// What is encoded once: a plaintext for a level and a scale.
fn encoding(step: &Step) -> Option<(u32, u32, u64)> {
    let plaintext = step.operation.plaintext()?;
    Some((plaintext.number, step.level, plaintext.scale.to_bits()))
}

impl Program {
    /// What a run takes.
    pub fn cost(&self) -> Cost {
        let shape = Shape::of(&self.parameters);
        let log2_n = u64::from(shape.n.trailing_zeros());
        let mut held = Held::new(self, &shape);
        let mut encoded = HashSet::new();
        let mut cost = Cost {
            keys: self.key_bytes(&shape),
            ..Cost::default()
        };
        for (number, step) in self.steps.iter().enumerate() {
            let (operands, count) = step.operation.operands();
            let operand = operands[..count].first();
            let operand = operand.map_or(0, |&a| limbs(&self.steps[a as usize]));
            let (transforms, passes, scratch) = shape.effort(self, step, operand);
            cost.work += shape.n / 2 * (transforms * log2_n + passes);
            cost.ciphertext = cost.ciphertext.max(shape.ciphertext(step));
            held.make(number, &mut encoded);
            cost.memory = cost.memory.max(held.bytes + shape.bytes(scratch));
            held.free(number);
        }
        cost
    }

    fn key_bytes(&self, shape: &Shape) -> u64 {
        let keys = self.required_keys();
        let of = |level: Option<u32>| level.map_or(0, |l| shape.switching_key(u64::from(l) + 1));
        let automorphisms = keys.rotations.len() + usize::from(keys.swap_rows);
        let public = u64::from(keys.public) * shape.bytes(2 * shape.data);
        of(keys.relinearization) + of(keys.galois) * automorphisms as u64 + public
    }
}
