// SPDX-License-Identifier: Apache-2.0
//! Errors of transforms, with the numbers.

use thiserror::Error;

/// Why there is no transform for a modulus and length.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NttError {
    /// The length is not a power of two in the supported range.
    #[error("length {n} is not a power of two in {min}..={max}")]
    BadLength {
        /// The offending length.
        n: usize,
        /// Smallest supported length.
        min: usize,
        /// Largest supported length.
        max: usize,
    },
    /// The modulus is not prime.
    #[error("modulus {modulus} is not prime")]
    NotPrime {
        /// The offending modulus.
        modulus: u128,
    },
    /// The modulus has no root of the order needed.
    #[error("modulus {modulus} is not 1 mod {order}, so it has no root of unity of that order")]
    NotNttFriendly {
        /// The offending modulus.
        modulus: u128,
        /// `2n`.
        order: u64,
    },
    /// What is given as a root is none.
    #[error("{root} is no primitive root of order {order} modulo {modulus}")]
    NoRoot {
        /// What was given.
        root: u128,
        /// The modulus.
        modulus: u128,
        /// `2n`.
        order: u64,
    },
}
