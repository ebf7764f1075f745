// SPDX-License-Identifier: Apache-2.0
//! Errors of residue polynomials, with the numbers.

use ntt::NttError;
use thiserror::Error;
use zq::ZqError;

/// An error of this crate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RnsError {
    /// A modulus without arithmetic.
    #[error(transparent)]
    Modulus(#[from] ZqError),
    /// A modulus without a transform.
    #[error(transparent)]
    Ntt(#[from] NttError),
    /// A basis of no moduli.
    #[error("a basis needs at least one modulus")]
    EmptyBasis,
    /// More moduli than a basis may have.
    #[error("a basis of {len} moduli is longer than {max}")]
    TooManyModuli {
        /// Number asked for.
        len: usize,
        /// Largest number supported.
        max: usize,
    },
    /// The same modulus twice.
    #[error("modulus {modulus} stands twice in a basis")]
    RepeatedModulus {
        /// The offending modulus.
        modulus: u128,
    },
    /// Two bases of different ring degree.
    #[error("bases of degree {left} and {right} cannot be joined")]
    DegreeMismatch {
        /// Degree of the first.
        left: usize,
        /// Degree of the second.
        right: usize,
    },
    /// A part of a basis that is not there.
    #[error("limbs {start}..{end} are not a part of a basis of {len} moduli")]
    BadRange {
        /// First limb asked for.
        start: usize,
        /// One past the last.
        end: usize,
        /// Limbs of the basis.
        len: usize,
    },
    /// Wrong number of words for a polynomial.
    #[error("{got} words given where {wanted} were needed")]
    BadLength {
        /// Words given.
        got: usize,
        /// Words needed.
        wanted: usize,
    },
    /// A word that is not a residue.
    #[error("limb {limb}, coefficient {index}: {value} is not below the modulus {modulus}")]
    NotReduced {
        /// Limb of the word.
        limb: usize,
        /// Coefficient of the word.
        index: usize,
        /// The word.
        value: u128,
        /// The limb's modulus.
        modulus: u128,
    },
    /// An exponent that is no Galois element.
    #[error("x -> x^{g} is no automorphism of degree {n}: the exponent must be odd and below {}", 2 * n)]
    BadGaloisElement {
        /// The exponent.
        g: usize,
        /// The ring degree.
        n: usize,
    },
    /// Two moduli that share a factor where an inverse is needed.
    #[error("{value} has no inverse modulo {modulus}")]
    NotCoprime {
        /// The modulus to be inverted.
        value: u128,
        /// The modulus it should be invertible by.
        modulus: u128,
    },
    /// A scaling whose result needs residues that are not given.
    #[error(
        "scaling by {numerator} to modulus {modulus} without residues needs {modulus} to divide {numerator}"
    )]
    MissingResidues {
        /// The numerator.
        numerator: u64,
        /// The modulus of the result.
        modulus: u128,
    },
}
