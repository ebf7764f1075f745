// SPDX-License-Identifier: Apache-2.0
//! What operations take besides ciphertexts.

/// A plaintext as an operand: its number, and the scale it is encoded at (1 in BFV).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plaintext {
    /// Number among the program's plaintexts.
    pub number: u32,
    /// Scale of its encoding; the level is that of the ciphertext.
    pub scale: f64,
}

/// A bound on values and perhaps on their errors, known to the kernel's author.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Largest magnitude.
    pub bound: f64,
    /// Of every slot, not only of those that later operations use.
    pub everywhere: bool,
    /// Bound on the errors of the same slots, infinite where nothing is promised of them; CKKS only.
    pub error: f64,
}

impl Promise {
    /// A promise about values alone.
    pub const fn of_values(bound: f64, everywhere: bool) -> Self {
        let error = f64::INFINITY;
        Self {
            bound,
            everywhere,
            error,
        }
    }

    /// Whether it says something of errors.
    pub fn limits_errors(&self) -> bool {
        self.error != f64::INFINITY
    }
}

/// The attributes that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// A plaintext.
    Plaintext,
    /// Slots to the left.
    Rotation,
    /// A bound on values.
    Promise,
    /// The number of a linear transform.
    Transform,
}

/// The attributes of one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attributes {
    /// Its plaintext.
    pub plaintext: Option<Plaintext>,
    /// Slots to the left.
    pub rotation: Option<i32>,
    /// A bound on its values.
    pub promise: Option<Promise>,
    /// The number of its linear transform.
    pub transform: Option<u32>,
}

/// Why operands and attributes make no operation of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// That many operands are needed.
    Operands(usize),
    /// This attribute is missing.
    Lacks(&'static str),
}

impl Attributes {
    /// No attribute.
    pub const NONE: Self = Self {
        plaintext: None,
        rotation: None,
        promise: None,
        transform: None,
    };

    pub(super) fn plaintext(&self) -> Result<Plaintext, Misfit> {
        self.plaintext.ok_or(Misfit::Lacks("plaintext"))
    }

    pub(super) fn rotation(&self) -> Result<i32, Misfit> {
        self.rotation.ok_or(Misfit::Lacks("rotation"))
    }

    pub(super) fn promise(&self) -> Result<Promise, Misfit> {
        self.promise.ok_or(Misfit::Lacks("promise"))
    }

    pub(super) fn transform(&self) -> Result<u32, Misfit> {
        self.transform.ok_or(Misfit::Lacks("transform"))
    }
}
