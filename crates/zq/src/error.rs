// SPDX-License-Identifier: Apache-2.0
//! Errors of moduli and primes, with the numbers.

use thiserror::Error;

/// An error of this crate. Words are widened to `u128` so that one type serves all word sizes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ZqError {
    /// A modulus outside `2..2^max_bits`.
    #[error("modulus {modulus} is not in 2..2^{max_bits}")]
    ModulusOutOfRange {
        /// The offending modulus.
        modulus: u128,
        /// Largest supported bit length for the word.
        max_bits: u32,
    },
    /// A residue without an inverse.
    #[error("{value} has no inverse modulo {modulus}")]
    NotInvertible {
        /// The residue.
        value: u128,
        /// The modulus.
        modulus: u128,
    },
    /// Moduli whose fixed-point quotient would be too coarse.
    #[error(
        "{count} moduli of {narrowest} to {widest} bits cannot be converted together: \
         their widths may differ by {most} bits"
    )]
    WidthsTooFarApart {
        /// Number of moduli.
        count: usize,
        /// Least bit length.
        narrowest: u32,
        /// Greatest bit length.
        widest: u32,
        /// Most that the two may differ by.
        most: u32,
    },
    /// A prime search with impossible arguments.
    #[error("cannot search {bits}-bit primes 1 mod {order}: {reason}")]
    BadPrimeSearch {
        /// Wanted bit length.
        bits: u32,
        /// Wanted divisor of `q - 1`.
        order: u64,
        /// The reason.
        reason: &'static str,
    },
    /// The range holds fewer primes than wanted.
    #[error(
        "no such prime: wanted {wanted} primes of {bits} bits that are 1 mod {order}, found {found}"
    )]
    NoSuchPrime {
        /// Wanted bit length.
        bits: u32,
        /// Wanted divisor of `q - 1`.
        order: u64,
        /// Number of primes wanted.
        wanted: usize,
        /// Number of primes outside the exclusion list.
        found: usize,
    },
}
