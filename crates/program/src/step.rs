// SPDX-License-Identifier: Apache-2.0
//! A homomorphic operation in a program, with the level, scale and size of its result.

pub use crate::operation::{Operation, Plaintext, Promise};

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
