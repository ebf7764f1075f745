// SPDX-License-Identifier: Apache-2.0
//! Why a program was refused: what, where, and what would be right.

use rlwe::wire::WireError;

/// Errors of making or reading a program.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a program's.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The parameter set is refused.
    #[error("the program's parameters: {0}")]
    Parameters(String),
    /// An index map that no writer makes.
    #[error("index map: {0}")]
    Map(String),
    /// An argument, its packing or the result's.
    #[error("{what}: {message}")]
    Layout {
        /// The argument, or the result.
        what: String,
        /// The reason.
        message: String,
    },
    /// A plaintext expression.
    #[error("plaintext expression {number} ({operation}): {message}")]
    Expression {
        /// Its number.
        number: usize,
        /// Its operation.
        operation: &'static str,
        /// The reason.
        message: String,
    },
    /// A homomorphic operation.
    #[error("step {number} ({operation}, {place}): {message}")]
    Step {
        /// Its number.
        number: usize,
        /// Its operation.
        operation: &'static str,
        /// File and line of the kernel.
        place: String,
        /// The reason.
        message: String,
    },
    /// A value that breaks the author's promise about an expression.
    #[error(
        "plaintext expression {number} (within): the promise |value| <= {bound} is false, a value is {value}"
    )]
    Promise {
        /// Its number.
        number: usize,
        /// The promised bound on the absolute value.
        bound: f64,
        /// A value that exceeds it.
        value: f64,
    },
    /// Values of plain arguments that the program was not made for.
    #[error("{0}")]
    Values(String),
    /// A promise about the result that the engine's estimates do not bear out.
    #[error("{0}")]
    Guarantee(String),
    /// More than a reader takes from a stranger.
    #[error("the program needs {got} {what}; at most {limit} are allowed")]
    Limit {
        /// Of what.
        what: &'static str,
        /// Number that it needs.
        got: u64,
        /// Largest number allowed.
        limit: u64,
    },
}
