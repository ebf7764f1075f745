// SPDX-License-Identifier: Apache-2.0
//! Errors of the BFV scheme, each with the numbers that explain it.

/// Errors of the BFV scheme.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ring-LWE layer refused.
    #[error(transparent)]
    Rlwe(#[from] rlwe::Error),
    /// The plaintext modulus cannot be used with these parameters.
    #[error("plaintext modulus {t}: {reason}")]
    PlainModulus {
        /// The modulus.
        t: u64,
        /// The reason.
        reason: String,
    },
    /// The plaintext modulus has no slots at this degree.
    #[error(
        "plaintext modulus {t} has no slots at n={n}: batching needs a prime that is 1 modulo {order}"
    )]
    NoBatching {
        /// The modulus.
        t: u64,
        /// The degree.
        n: usize,
        /// 2n.
        order: usize,
    },
    /// A value does not fit the plaintext. Which value is not said: it may be secret, and errors end in logs.
    #[error("the value at index {index} is outside {low}..={high}")]
    ValueRange {
        /// The index of the value.
        index: usize,
        /// Smallest that fits.
        low: String,
        /// Largest that fits.
        high: String,
    },
    /// More values than slots or coefficients.
    #[error("{got} values do not fit {max} places")]
    TooManyValues {
        /// Values given.
        got: usize,
        /// Places there are.
        max: usize,
    },
    /// A decoded number does not fit the result type.
    #[error(
        "the decoded value does not fit {0}: the encoding overflowed or the ciphertext was too noisy"
    )]
    DecodedRange(&'static str),
    /// An encoder's own parameters are wrong.
    #[error("{what} is {got}; allowed: {allowed}")]
    Encoder {
        /// The parameter.
        what: &'static str,
        /// The value given.
        got: String,
        /// The allowed values.
        allowed: String,
    },
    /// Operands have lost different numbers of primes.
    #[error(
        "operands are at different levels: {left} and {right} primes left; switch the first down to match"
    )]
    LevelMismatch {
        /// Primes of the left operand.
        left: usize,
        /// Primes of the right operand.
        right: usize,
    },
    /// The ciphertext has no prime left to give up.
    #[error("{operation}: the ciphertext has {left} prime left, at least {needed} are needed")]
    LevelsExhausted {
        /// The operation.
        operation: &'static str,
        /// Primes left.
        left: usize,
        /// Primes needed.
        needed: usize,
    },
    /// The ciphertext has the wrong number of parts for the operation.
    #[error("{operation} needs a ciphertext of {expected} parts, this one has {got}{}", .hint)]
    Size {
        /// The operation.
        operation: &'static str,
        /// Parts there are.
        got: usize,
        /// Parts needed.
        expected: &'static str,
        /// The remedy.
        hint: &'static str,
    },
    /// A result that has no room for the noise that would hide what its decryption tells.
    #[error(
        "decrypt for publication: flooding takes {needed:.1} bits of noise budget, the circuit is sure to leave {budget:.1}; \
         use a larger modulus, fewer queries or fewer bits of statistical security"
    )]
    Flooding {
        /// Bits of budget that the flooding noise takes.
        needed: f64,
        /// Bits of budget that there are.
        budget: f64,
    },
    /// Terms of a linear transform that do not go together.
    #[error("linear transform: term {term} of giant step {giant} {reason}")]
    LinearTransform {
        /// Number of the giant step, from 0.
        giant: usize,
        /// Number of its term, from 0.
        term: usize,
        /// The reason, and the remedy.
        reason: String,
    },
    /// There is nothing to add up.
    #[error("the sum of no ciphertexts is undefined")]
    EmptySum,
}

impl From<rns::RnsError> for Error {
    fn from(e: rns::RnsError) -> Self {
        Self::Rlwe(e.into())
    }
}

impl From<rlwe::wire::WireError> for Error {
    fn from(e: rlwe::wire::WireError) -> Self {
        Self::Rlwe(e.into())
    }
}
