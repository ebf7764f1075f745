// SPDX-License-Identifier: Apache-2.0
//! One homomorphic operation, with the level, scale and size of its result.

/// A plaintext as an operand: its number, and the scale it is encoded at (1 in BFV).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plaintext {
    /// Number among the program's plaintexts.
    pub number: u32,
    /// Scale of its encoding; the level is that of the ciphertext.
    pub scale: f64,
}

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
    /// The author's promise that values are at most `bound`: those that matter later, or everywhere. Nothing runs.
    Within(u32, Promise),
    /// The two rows of a BFV ciphertext swapped (a key switch).
    SwapRows(u32),
    /// Back to two polynomials, value and scale divided by the last prime, with one division for both (a key switch).
    RelinearizeRescale(u32),
    /// The linear transform of that number among the program's.
    LinearTransform(u32, u32),
}

/// A bound on values, known to the kernel's author.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Largest magnitude.
    pub bound: f64,
    /// Of every slot, not only of those that later operations use.
    pub everywhere: bool,
}

impl Operation {
    /// Its name in reports and listings.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::EncryptZero => "encrypt_zero",
            Self::Add(..) => "add",
            Self::Sub(..) => "sub",
            Self::Negate(_) => "negate",
            Self::AddPlain(..) => "add_plain",
            Self::SubPlain(..) => "sub_plain",
            Self::MultiplyPlain(..) => "multiply_plain",
            Self::Multiply(..) => "multiply",
            Self::Square(_) => "square",
            Self::Relinearize(_) => "relinearize",
            Self::Rotate(..) => "rotate",
            Self::Rescale(_) => "rescale",
            Self::ModDrop(_) => "mod_drop",
            Self::Within(..) => "within",
            Self::SwapRows(_) => "swap_rows",
            Self::RelinearizeRescale(_) => "relinearize_rescale",
            Self::LinearTransform(..) => "linear_transform",
        }
    }

    /// The earlier steps it uses.
    pub fn operands(&self) -> ([u32; 2], usize) {
        match *self {
            Self::Input | Self::EncryptZero => ([0; 2], 0),
            Self::Add(a, b) | Self::Sub(a, b) | Self::Multiply(a, b) => ([a, b], 2),
            Self::Negate(a)
            | Self::AddPlain(a, _)
            | Self::SubPlain(a, _)
            | Self::MultiplyPlain(a, _)
            | Self::Square(a)
            | Self::Relinearize(a)
            | Self::Rotate(a, _)
            | Self::Rescale(a)
            | Self::ModDrop(a)
            | Self::Within(a, _)
            | Self::SwapRows(a)
            | Self::RelinearizeRescale(a)
            | Self::LinearTransform(a, _) => ([a, 0], 1),
        }
    }

    /// Its plaintext operand.
    pub fn plaintext(&self) -> Option<Plaintext> {
        match *self {
            Self::AddPlain(_, p) | Self::SubPlain(_, p) | Self::MultiplyPlain(_, p) => Some(p),
            _ => None,
        }
    }
}

/// Source location of an operation: a line among the program's lines, columns from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number among the program's source lines.
    pub line: u32,
    /// First column.
    pub column: u16,
    /// Column after the last.
    pub end_column: u16,
}

/// A line of the kernel's source, kept so that an error can show it where the file is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLine {
    /// File name without folders.
    pub file: String,
    /// Line number from 1; 0 when unknown.
    pub number: u32,
    /// The line.
    pub text: String,
}

/// An operation and what its result is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// Data primes of the result minus 1.
    pub level: u32,
    /// Scale of the result; 1 in BFV.
    pub scale: f64,
    /// Polynomials of the result, 2 or 3.
    pub size: u8,
    /// Its source location.
    pub place: Place,
}
