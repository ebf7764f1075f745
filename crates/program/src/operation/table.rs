// SPDX-License-Identifier: Apache-2.0
// Generated from spec/operations.yaml by `python -m ringsmith.gen`; do not edit.
//! The homomorphic operations, and the table of what is known of each.

use super::attributes::{Attribute, Attributes, Misfit, Plaintext, Promise};
use super::facts::{Facts, Key, Level, Parts, Scale};

/// A homomorphic operation. Operands are the numbers of earlier steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// The next ciphertext that the client sends.
    Input,
    /// A fresh encryption of zero under the public key, by the evaluator.
    EncryptZero,
    /// a + b.
    Add(u32, u32),
    /// a − b.
    Sub(u32, u32),
    /// −a.
    Negate(u32),
    /// a + plaintext.
    AddPlain(u32, Plaintext),
    /// a − plaintext.
    SubPlain(u32, Plaintext),
    /// a · plaintext.
    MultiplyPlain(u32, Plaintext),
    /// a · b, three polynomials.
    Multiply(u32, u32),
    /// a², three polynomials.
    Square(u32),
    /// Back to two polynomials (a key switch).
    Relinearize(u32),
    /// The slots of every row moved left by that many places (a key switch).
    Rotate(u32, i32),
    /// Value and scale divided by the last prime, which is dropped.
    Rescale(u32),
    /// The last primes dropped (CKKS), or divided out (BFV), down to the step's level.
    ModDrop(u32),
    /// The author's promise that values are at most the bound, and errors at most another: those that matter later, or
    /// everywhere. Nothing runs.
    Within(u32, Promise),
    /// The two rows of a BFV ciphertext swapped (a key switch).
    SwapRows(u32),
    /// Back to two polynomials, value and scale divided by the last prime, with one division for both (a key switch).
    RelinearizeRescale(u32),
    /// The linear transform of that number among the program's.
    LinearTransform(u32, u32),
    /// The same values with the levels that the program's bootstrapping leaves (many key switches).
    Bootstrap(u32),
}

/// What an operation is, without its operands; the discriminant is its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// The next ciphertext that the client sends.
    Input = 0,
    /// A fresh encryption of zero under the public key, by the evaluator.
    EncryptZero = 1,
    /// a + b.
    Add = 2,
    /// a − b.
    Sub = 3,
    /// −a.
    Negate = 4,
    /// a + plaintext.
    AddPlain = 5,
    /// a − plaintext.
    SubPlain = 6,
    /// a · plaintext.
    MultiplyPlain = 7,
    /// a · b, three polynomials.
    Multiply = 8,
    /// a², three polynomials.
    Square = 9,
    /// Back to two polynomials (a key switch).
    Relinearize = 10,
    /// The slots of every row moved left by that many places (a key switch).
    Rotate = 11,
    /// Value and scale divided by the last prime, which is dropped.
    Rescale = 12,
    /// The last primes dropped (CKKS), or divided out (BFV), down to the step's level.
    ModDrop = 13,
    /// The author's promise that values are at most the bound, and errors at most another: those that matter later, or
    /// everywhere. Nothing runs.
    Within = 14,
    /// The two rows of a BFV ciphertext swapped (a key switch).
    SwapRows = 15,
    /// Back to two polynomials, value and scale divided by the last prime, with one division for both (a key switch).
    RelinearizeRescale = 16,
    /// The linear transform of that number among the program's.
    LinearTransform = 17,
    /// The same values with the levels that the program's bootstrapping leaves (many key switches).
    Bootstrap = 18,
}

impl Operation {
    /// Its kind.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Input => Kind::Input,
            Self::EncryptZero => Kind::EncryptZero,
            Self::Add(..) => Kind::Add,
            Self::Sub(..) => Kind::Sub,
            Self::Negate(..) => Kind::Negate,
            Self::AddPlain(..) => Kind::AddPlain,
            Self::SubPlain(..) => Kind::SubPlain,
            Self::MultiplyPlain(..) => Kind::MultiplyPlain,
            Self::Multiply(..) => Kind::Multiply,
            Self::Square(..) => Kind::Square,
            Self::Relinearize(..) => Kind::Relinearize,
            Self::Rotate(..) => Kind::Rotate,
            Self::Rescale(..) => Kind::Rescale,
            Self::ModDrop(..) => Kind::ModDrop,
            Self::Within(..) => Kind::Within,
            Self::SwapRows(..) => Kind::SwapRows,
            Self::RelinearizeRescale(..) => Kind::RelinearizeRescale,
            Self::LinearTransform(..) => Kind::LinearTransform,
            Self::Bootstrap(..) => Kind::Bootstrap,
        }
    }

    /// The numbers of the earlier steps it uses, and how many of them count.
    pub const fn operands(&self) -> ([u32; 2], usize) {
        match *self {
            Self::Input => ([0, 0], 0),
            Self::EncryptZero => ([0, 0], 0),
            Self::Add(a, b) => ([a, b], 2),
            Self::Sub(a, b) => ([a, b], 2),
            Self::Negate(a) => ([a, 0], 1),
            Self::AddPlain(a, _) => ([a, 0], 1),
            Self::SubPlain(a, _) => ([a, 0], 1),
            Self::MultiplyPlain(a, _) => ([a, 0], 1),
            Self::Multiply(a, b) => ([a, b], 2),
            Self::Square(a) => ([a, 0], 1),
            Self::Relinearize(a) => ([a, 0], 1),
            Self::Rotate(a, _) => ([a, 0], 1),
            Self::Rescale(a) => ([a, 0], 1),
            Self::ModDrop(a) => ([a, 0], 1),
            Self::Within(a, _) => ([a, 0], 1),
            Self::SwapRows(a) => ([a, 0], 1),
            Self::RelinearizeRescale(a) => ([a, 0], 1),
            Self::LinearTransform(a, _) => ([a, 0], 1),
            Self::Bootstrap(a) => ([a, 0], 1),
        }
    }

    /// The same with the numbers of its operands replaced.
    #[must_use]
    pub fn with_operands(self, f: impl Fn(u32) -> u32) -> Self {
        match self {
            Self::Input => Self::Input,
            Self::EncryptZero => Self::EncryptZero,
            Self::Add(a, b) => Self::Add(f(a), f(b)),
            Self::Sub(a, b) => Self::Sub(f(a), f(b)),
            Self::Negate(a) => Self::Negate(f(a)),
            Self::AddPlain(a, plaintext) => Self::AddPlain(f(a), plaintext),
            Self::SubPlain(a, plaintext) => Self::SubPlain(f(a), plaintext),
            Self::MultiplyPlain(a, plaintext) => Self::MultiplyPlain(f(a), plaintext),
            Self::Multiply(a, b) => Self::Multiply(f(a), f(b)),
            Self::Square(a) => Self::Square(f(a)),
            Self::Relinearize(a) => Self::Relinearize(f(a)),
            Self::Rotate(a, rotation) => Self::Rotate(f(a), rotation),
            Self::Rescale(a) => Self::Rescale(f(a)),
            Self::ModDrop(a) => Self::ModDrop(f(a)),
            Self::Within(a, promise) => Self::Within(f(a), promise),
            Self::SwapRows(a) => Self::SwapRows(f(a)),
            Self::RelinearizeRescale(a) => Self::RelinearizeRescale(f(a)),
            Self::LinearTransform(a, transform) => Self::LinearTransform(f(a), transform),
            Self::Bootstrap(a) => Self::Bootstrap(f(a)),
        }
    }

    /// What it takes besides ciphertexts.
    pub const fn attributes(&self) -> Attributes {
        match *self {
            Self::Input => Attributes::NONE,
            Self::EncryptZero => Attributes::NONE,
            Self::Add(_, _) => Attributes::NONE,
            Self::Sub(_, _) => Attributes::NONE,
            Self::Negate(_) => Attributes::NONE,
            Self::AddPlain(_, plaintext) => Attributes { plaintext: Some(plaintext), ..Attributes::NONE },
            Self::SubPlain(_, plaintext) => Attributes { plaintext: Some(plaintext), ..Attributes::NONE },
            Self::MultiplyPlain(_, plaintext) => Attributes { plaintext: Some(plaintext), ..Attributes::NONE },
            Self::Multiply(_, _) => Attributes::NONE,
            Self::Square(_) => Attributes::NONE,
            Self::Relinearize(_) => Attributes::NONE,
            Self::Rotate(_, rotation) => Attributes { rotation: Some(rotation), ..Attributes::NONE },
            Self::Rescale(_) => Attributes::NONE,
            Self::ModDrop(_) => Attributes::NONE,
            Self::Within(_, promise) => Attributes { promise: Some(promise), ..Attributes::NONE },
            Self::SwapRows(_) => Attributes::NONE,
            Self::RelinearizeRescale(_) => Attributes::NONE,
            Self::LinearTransform(_, transform) => Attributes { transform: Some(transform), ..Attributes::NONE },
            Self::Bootstrap(_) => Attributes::NONE,
        }
    }
}

impl Kind {
    /// All kinds, in order of their codes.
    pub const ALL: [Self; 19] = [
        Self::Input,
        Self::EncryptZero,
        Self::Add,
        Self::Sub,
        Self::Negate,
        Self::AddPlain,
        Self::SubPlain,
        Self::MultiplyPlain,
        Self::Multiply,
        Self::Square,
        Self::Relinearize,
        Self::Rotate,
        Self::Rescale,
        Self::ModDrop,
        Self::Within,
        Self::SwapRows,
        Self::RelinearizeRescale,
        Self::LinearTransform,
        Self::Bootstrap,
    ];

    /// The operation of this kind with operands, and those of the attributes that the kind has.
    ///
    /// # Errors
    /// [`Misfit`]: another number of operands, or an attribute that is missing.
    pub fn with(self, operands: &[u32], attributes: &Attributes) -> Result<Operation, Misfit> {
        Ok(match (self, operands) {
            (Self::Input, []) => Operation::Input,
            (Self::EncryptZero, []) => Operation::EncryptZero,
            (Self::Add, [a, b]) => Operation::Add(*a, *b),
            (Self::Sub, [a, b]) => Operation::Sub(*a, *b),
            (Self::Negate, [a]) => Operation::Negate(*a),
            (Self::AddPlain, [a]) => Operation::AddPlain(*a, attributes.plaintext()?),
            (Self::SubPlain, [a]) => Operation::SubPlain(*a, attributes.plaintext()?),
            (Self::MultiplyPlain, [a]) => Operation::MultiplyPlain(*a, attributes.plaintext()?),
            (Self::Multiply, [a, b]) => Operation::Multiply(*a, *b),
            (Self::Square, [a]) => Operation::Square(*a),
            (Self::Relinearize, [a]) => Operation::Relinearize(*a),
            (Self::Rotate, [a]) => Operation::Rotate(*a, attributes.rotation()?),
            (Self::Rescale, [a]) => Operation::Rescale(*a),
            (Self::ModDrop, [a]) => Operation::ModDrop(*a),
            (Self::Within, [a]) => Operation::Within(*a, attributes.promise()?),
            (Self::SwapRows, [a]) => Operation::SwapRows(*a),
            (Self::RelinearizeRescale, [a]) => Operation::RelinearizeRescale(*a),
            (Self::LinearTransform, [a]) => Operation::LinearTransform(*a, attributes.transform()?),
            (Self::Bootstrap, [a]) => Operation::Bootstrap(*a),
            (Self::Input | Self::EncryptZero | Self::Add | Self::Sub | Self::Negate | Self::AddPlain | Self::SubPlain | Self::MultiplyPlain | Self::Multiply | Self::Square | Self::Relinearize | Self::Rotate | Self::Rescale | Self::ModDrop | Self::Within | Self::SwapRows | Self::RelinearizeRescale | Self::LinearTransform | Self::Bootstrap, _) => return Err(Misfit::Operands(self.facts().operands)),
        })
    }
}

/// What is known of each kind, in order of their codes.
pub(super) static TABLE: [Facts; 19] = [
    Facts { name: "input", bfv: true, ckks: true, operands: 0, takes: None, attributes: &[], parts: Parts::Two, level: Level::Top, scale: Scale::Set, key: Key::None, runs: false },
    Facts { name: "encrypt_zero", bfv: true, ckks: true, operands: 0, takes: None, attributes: &[], parts: Parts::Two, level: Level::Chosen, scale: Scale::Chosen, key: Key::Public, runs: true },
    Facts { name: "add", bfv: true, ckks: true, operands: 2, takes: None, attributes: &[], parts: Parts::Same, level: Level::Same, scale: Scale::Same, key: Key::None, runs: true },
    Facts { name: "sub", bfv: true, ckks: true, operands: 2, takes: None, attributes: &[], parts: Parts::Same, level: Level::Same, scale: Scale::Same, key: Key::None, runs: true },
    Facts { name: "negate", bfv: true, ckks: true, operands: 1, takes: None, attributes: &[], parts: Parts::Same, level: Level::Same, scale: Scale::Same, key: Key::None, runs: true },
    Facts { name: "add_plain", bfv: true, ckks: true, operands: 1, takes: None, attributes: &[Attribute::Plaintext], parts: Parts::Same, level: Level::Same, scale: Scale::Same, key: Key::None, runs: true },
    Facts { name: "sub_plain", bfv: true, ckks: true, operands: 1, takes: None, attributes: &[Attribute::Plaintext], parts: Parts::Same, level: Level::Same, scale: Scale::Same, key: Key::None, runs: true },
    Facts { name: "multiply_plain", bfv: true, ckks: true, operands: 1, takes: None, attributes: &[Attribute::Plaintext], parts: Parts::Same, level: Level::Same, scale: Scale::Product, key: Key::None, runs: true },
    Facts { name: "multiply", bfv: true, ckks: true, operands: 2, takes: Some(2), attributes: &[], parts: Parts::Three, level: Level::Same, scale: Scale::Product, key: Key::None, runs: true },
    Facts { name: "square", bfv: true, ckks: true, operands: 1, takes: Some(2), attributes: &[], parts: Parts::Three, level: Level::Same, scale: Scale::Square, key: Key::None, runs: true },
    Facts { name: "relinearize", bfv: true, ckks: true, operands: 1, takes: Some(3), attributes: &[], parts: Parts::Two, level: Level::Same, scale: Scale::Same, key: Key::Relinearization, runs: true },
    Facts { name: "rotate", bfv: true, ckks: true, operands: 1, takes: Some(2), attributes: &[Attribute::Rotation], parts: Parts::Two, level: Level::Same, scale: Scale::Same, key: Key::Rotation, runs: true },
    Facts { name: "rescale", bfv: false, ckks: true, operands: 1, takes: None, attributes: &[], parts: Parts::Same, level: Level::Next, scale: Scale::Divided, key: Key::None, runs: true },
    Facts { name: "mod_drop", bfv: true, ckks: true, operands: 1, takes: None, attributes: &[], parts: Parts::Same, level: Level::Lower, scale: Scale::Same, key: Key::None, runs: true },
    Facts { name: "within", bfv: true, ckks: true, operands: 1, takes: None, attributes: &[Attribute::Promise], parts: Parts::Same, level: Level::Same, scale: Scale::Same, key: Key::None, runs: false },
    Facts { name: "swap_rows", bfv: true, ckks: false, operands: 1, takes: Some(2), attributes: &[], parts: Parts::Two, level: Level::Same, scale: Scale::Same, key: Key::RowSwap, runs: true },
    Facts { name: "relinearize_rescale", bfv: false, ckks: true, operands: 1, takes: Some(3), attributes: &[], parts: Parts::Two, level: Level::Next, scale: Scale::Divided, key: Key::Relinearization, runs: true },
    Facts { name: "linear_transform", bfv: true, ckks: true, operands: 1, takes: Some(2), attributes: &[Attribute::Transform], parts: Parts::Two, level: Level::Same, scale: Scale::Product, key: Key::Transform, runs: true },
    Facts { name: "bootstrap", bfv: false, ckks: true, operands: 1, takes: Some(2), attributes: &[], parts: Parts::Two, level: Level::Refreshed, scale: Scale::Set, key: Key::Bootstrapping, runs: true },
];
