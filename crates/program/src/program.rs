// SPDX-License-Identifier: Apache-2.0
//! The program: everything that is needed to encrypt, evaluate and decrypt, without the function it came from.

use crate::Error;
use crate::bootstrapping::Bootstrapping;
use crate::expression::Expression;
use crate::handed::{Handed, Producer, Received};
use crate::index_map::IndexMap;
use crate::operation::Key;
use crate::parameters::Parameters;
use crate::step::{SourceLine, Step};
use crate::transform::Transform;
use ckks::bootstrap::Effort;

/// Declared limits of an argument's values: reals in CKKS, integers in BFV.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Finite, low ≤ high.
    Reals {
        /// Least value.
        low: f64,
        /// Largest value.
        high: f64,
    },
    /// low ≤ high.
    Integers {
        /// Least value.
        low: i64,
        /// Largest value.
        high: i64,
    },
}

/// How an argument reaches the evaluator.
#[derive(Clone, Debug, PartialEq)]
pub enum Secrecy {
    /// In the clear.
    Plain,
    /// In `packing.len() / slots` ciphertexts: position c·slots + s of the map is slot s of ciphertext c.
    Encrypted(IndexMap),
}

/// One argument of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Vec<u32>,
    /// The values it may have.
    pub range: Range,
    /// Plain or encrypted, and how.
    pub secrecy: Secrecy,
    /// Of an encrypted one: the program whose result it is, if the client does not encrypt it. Its packing then says
    /// nothing of the slots without an element.
    pub producer: Option<Producer>,
}

impl Argument {
    /// Ciphertexts of `slots` slots that are sent for it.
    pub fn ciphertexts(&self, slots: usize) -> usize {
        match &self.secrecy {
            Secrecy::Plain => 0,
            Secrecy::Encrypted(packing) => packing.len() / slots,
        }
    }
}

/// A plaintext of the program: slot s (coefficient s where the set has no slots) is the element of an expression that
/// the map names, or 0.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaintextSource {
    /// Number of the expression.
    pub expression: u32,
    /// From slots to elements; its length is the number of slots.
    pub slots: IndexMap,
    /// No slot exceeds it in magnitude: what the noise guarantee reckons with, finite and at least 0;
    /// at most t/2 in BFV.
    pub bound: f64,
}

/// Which key the client encrypts under. Zeros of the evaluator are under the public key, and under the extended one
/// where the client's ciphertexts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// The secret key.
    Secret,
    /// The public key.
    Public,
    /// The extended public key, over Q·P: less noise.
    Extended,
}

impl Encryption {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Secret, Self::Public, Self::Extended];

    /// The name in the source of a kernel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Public => "public",
            Self::Extended => "extended",
        }
    }

    /// The key, in words.
    pub fn key(self) -> &'static str {
        match self {
            Self::Secret => "secret key",
            Self::Public => "public key",
            Self::Extended => "extended public key",
        }
    }

    /// Whether what the client sends is under a secret key, one polynomial a seed.
    pub fn is_secret(self) -> bool {
        self == Self::Secret
    }

    /// Its code in bytes.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// The evaluation keys a program needs, each at the highest level where it is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredKeys {
    /// Level of the relinearisation key.
    pub relinearization: Option<u32>,
    /// Level of the keys of rotations and of the row swap.
    pub galois: Option<u32>,
    /// The rotations, rising.
    pub rotations: Vec<i32>,
    /// Whether rows are swapped.
    pub swap_rows: bool,
    /// Whether the evaluator encrypts zeros.
    pub public: bool,
    /// Whether ciphertexts are refreshed.
    pub bootstrapping: bool,
}

/// What a guarantee rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strength {
    /// Errors of operands may all depend on each other: bounds add.
    #[default]
    Certain,
    /// What operations draw is independent: squares of bounds add, but for what is the same draw.
    Probable,
}

impl Strength {
    /// Both, in the order of their codes.
    pub const ALL: [Self; 2] = [Self::Certain, Self::Probable];

    /// The name in the source of a kernel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Probable => "probable",
        }
    }
}

/// The guarantee of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guarantee {
    /// CKKS: log2 of the largest error of a result. BFV: bits of noise budget left.
    pub bits: f64,
    /// The promise fails with probability below 2^−`failure_bits`.
    pub failure_bits: u32,
    /// CKKS: the error that was asked for; 0 in BFV.
    pub tolerance: f64,
    /// Whether there is room to publish decryptions; then the guarantee is certain.
    pub publish: bool,
    /// What it rests on.
    pub strength: Strength,
}

/// The reading of a result's numbers after decryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// CKKS: the first axis of the result, of extent 2, holds real and imaginary parts.
    pub complex: bool,
    /// BFV: the answer is the result divided by this, at least 1.
    pub divisor: u64,
}

impl Default for Reading {
    /// Numbers as they are.
    fn default() -> Self {
        Self {
            complex: false,
            divisor: 1,
        }
    }
}

/// A homomorphic program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The kernel's name.
    pub name: String,
    /// Which of its versions, often empty.
    pub variant: String,
    /// The parameter set.
    pub parameters: Parameters,
    /// What refreshes are made of, where there are any.
    pub bootstrapping: Option<Bootstrapping>,
    /// The key that inputs are encrypted under.
    pub encryption: Encryption,
    /// The guarantee of the result.
    pub guarantee: Guarantee,
    /// Arguments in the order of the kernel's signature.
    pub arguments: Vec<Argument>,
    /// Plaintext expressions, operands first.
    pub expressions: Vec<Expression>,
    /// Plaintexts.
    pub plaintexts: Vec<PlaintextSource>,
    /// Linear transforms that steps apply.
    pub transforms: Vec<Transform>,
    /// Lines of source.
    pub lines: Vec<SourceLine>,
    /// Inputs (of the encrypted arguments in order), then operations.
    pub steps: Vec<Step>,
    /// The steps whose ciphertexts are sent back.
    pub outputs: Vec<u32>,
    /// Shape of the result.
    pub result_shape: Vec<u32>,
    /// Element e of the result is slot `r mod slots` of output `r / slots`, where r is the map's element at e.
    pub result: IndexMap,
    /// The reading of the result's numbers.
    pub reading: Reading,
}

impl Program {
    /// The shapes of the plain arguments in order.
    pub fn plain_shapes(&self) -> Vec<&[u32]> {
        let plain = |a: &&Argument| a.secrecy == Secrecy::Plain;
        self.arguments
            .iter()
            .filter(plain)
            .map(|a| a.shape.as_slice())
            .collect()
    }

    /// Ciphertexts that the client sends.
    pub fn input_count(&self) -> usize {
        let slots = self.parameters.slots();
        self.arguments.iter().map(|a| a.ciphertexts(slots)).sum()
    }

    /// What is known of the noise of each ciphertext that is sent; none of those that the client encrypts.
    pub(crate) fn received(&self) -> Vec<Option<Received>> {
        let handed = self.handed().into_iter();
        handed.map(|own| own.map(|own| own.noise)).collect()
    }

    /// The ciphertexts that are sent, those of other programs with what is known of them.
    pub fn handed(&self) -> Vec<Option<Handed>> {
        let slots = self.parameters.slots();
        let mut found = Vec::new();
        for argument in &self.arguments {
            match &argument.producer {
                Some(producer) => found.extend(producer.ciphertexts.iter().copied().map(Some)),
                None => found.extend((0..argument.ciphertexts(slots)).map(|_| None)),
            }
        }
        found
    }

    /// The linear transform of a step, if it is one.
    pub fn transform(&self, step: &Step) -> Option<&Transform> {
        let number = step.operation.transform()?;
        Some(&self.transforms[number as usize])
    }

    /// Key switches of all steps: relinearisations, rotations and row swaps; a transform has one for each distinct baby
    /// rotation and each giant rotation.
    pub fn key_switches(&self) -> usize {
        let switches = |step: &Step| match step.operation.facts().key {
            Key::None | Key::Public => 0,
            Key::Relinearization | Key::Rotation | Key::RowSwap => 1,
            Key::Transform => self.transform(step).map_or(0, Transform::key_switches),
            Key::Bootstrapping => self.effort().map_or(0, |effort| effort.switches.len()),
        };
        self.steps.iter().map(switches).sum()
    }

    /// What a refresh takes, where the program has one.
    pub(crate) fn effort(&self) -> Option<&Effort> {
        Some(self.bootstrapping.as_ref()?.effort())
    }

    /// Refreshes among the steps.
    pub fn refreshes(&self) -> usize {
        let refreshes = |step: &&Step| step.operation.refreshes();
        self.steps.iter().filter(refreshes).count()
    }

    /// The keys that the steps need. A key serves the operand, which may have a prime more than the result.
    pub fn required_keys(&self) -> RequiredKeys {
        let mut keys = RequiredKeys::default();
        for step in &self.steps {
            let ([first, _], _) = step.operation.operands();
            let operand = self.steps.get(first as usize);
            let level = |old: Option<u32>| old.max(operand.map(|a| a.level));
            match step.operation.facts().key {
                Key::None => {}
                Key::Public => keys.public = true,
                Key::Bootstrapping => keys.bootstrapping = true,
                Key::Relinearization => keys.relinearization = level(keys.relinearization),
                Key::Rotation => {
                    keys.galois = level(keys.galois);
                    keys.rotations.extend(step.operation.attributes().rotation);
                }
                Key::RowSwap => {
                    keys.galois = level(keys.galois);
                    keys.swap_rows = true;
                }
                Key::Transform => {
                    let own = self.transform(step).map(Transform::rotations);
                    let own: Vec<i32> = own.into_iter().flatten().collect();
                    if !own.is_empty() {
                        keys.galois = level(keys.galois);
                    }
                    keys.rotations.extend(own);
                }
            }
        }
        keys.rotations.sort_unstable();
        keys.rotations.dedup();
        keys
    }

    /// An error at a step, with its number, operation and place.
    pub(crate) fn at(&self, number: usize, message: String) -> Error {
        let step = &self.steps[number];
        Error::Step {
            number,
            operation: step.operation.name(),
            place: self.place(step),
            message,
        }
    }

    /// `file:line` of a step, for messages.
    pub fn place(&self, step: &Step) -> String {
        let line = self.lines.get(step.place.line as usize);
        line.map_or_else(
            || "unknown place".into(),
            |l| format!("{}:{}", l.file, l.number),
        )
    }
}
