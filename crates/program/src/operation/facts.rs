// SPDX-License-Identifier: Apache-2.0
//! What is known of an operation before it runs: the columns of `spec/operations.yaml`.

use super::attributes::Attribute;

/// What is known of a kind of operation.
#[derive(Debug)]
pub struct Facts {
    /// Its name in reports and listings.
    pub name: &'static str,
    /// Whether BFV has it.
    pub bfv: bool,
    /// Whether CKKS has it.
    pub ckks: bool,
    /// Number of ciphertexts that it takes.
    pub operands: usize,
    /// Polynomials of each operand; `None`: any number.
    pub takes: Option<u8>,
    /// What it takes besides, in the order of its bytes.
    pub attributes: &'static [Attribute],
    /// Polynomials of the result.
    pub parts: Parts,
    /// Level of the result.
    pub level: Level,
    /// Scale of the result.
    pub scale: Scale,
    /// The key it needs.
    pub key: Key,
    /// Whether an engine computes anything.
    pub runs: bool,
}

/// Polynomials of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Two.
    Two,
    /// Three.
    Three,
    /// As many as the longest operand has.
    Same,
}

/// Level of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The highest of the set.
    Top,
    /// Any, as the step says.
    Chosen,
    /// That of all operands.
    Same,
    /// One below the operand's, as the step says.
    Lower,
    /// The one below the operand's.
    Next,
    /// The one that the program's bootstrapping leaves.
    Refreshed,
}

/// Scale of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// That of the parameter set.
    Set,
    /// Any, as the step says.
    Chosen,
    /// That of all operands and of the plaintext.
    Same,
    /// The product of those of operands, plaintext and transform.
    Product,
    /// The square of the operand's.
    Square,
    /// The operand's, divided by its last prime.
    Divided,
}

/// The key that an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// None.
    None,
    /// The public key.
    Public,
    /// The relinearisation key.
    Relinearization,
    /// The key of its rotation.
    Rotation,
    /// The key of the row swap.
    RowSwap,
    /// The keys of its transform's rotations.
    Transform,
    /// The keys of the program's bootstrapping.
    Bootstrapping,
}
