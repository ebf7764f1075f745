// SPDX-License-Identifier: Apache-2.0
//! Errors of the ring-LWE layer, each with the numbers that explain it.

/// Errors of the ring-LWE layer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Residue arithmetic refused.
    #[error(transparent)]
    Rns(#[from] rns::RnsError),
    /// The system gave no randomness.
    #[error("the system gave no randomness: {0}")]
    Entropy(String),
    /// A seed from before a fork.
    #[error(
        "{what} was seeded before this process was forked and would repeat the randomness of the process it came from: \
         make a new one here, with a seed of its own or none"
    )]
    Forked {
        /// The holder of the seed.
        what: &'static str,
    },
    /// A parameter is outside its range.
    #[error("{what} is {got}; allowed: {allowed}")]
    Parameter {
        /// The parameter.
        what: &'static str,
        /// The value found.
        got: String,
        /// The allowed values.
        allowed: String,
    },
    /// The set is weaker than asked for, without an opt-in.
    #[error(
        "parameters are insecure: n={n} with log2(QP)={log2_qp:.1} gives about {estimate:.0} bits, {required} are \
         required (at most {max_log2_qp} bits of modulus; {source_name}); allow_insecure opts in"
    )]
    Insecure {
        /// Ring degree.
        n: usize,
        /// Size of the whole modulus in bits.
        log2_qp: f64,
        /// Estimated security in bits.
        estimate: f64,
        /// Required security in bits.
        required: u32,
        /// Largest modulus that reaches it, bits (0: none).
        max_log2_qp: u32,
        /// Table the figure comes from.
        source_name: String,
    },
    /// Two objects come from different parameter sets.
    #[error("{what} belongs to parameter set {got}, expected {expected}")]
    ParameterMismatch {
        /// The object.
        what: &'static str,
        /// Its fingerprint.
        got: String,
        /// The fingerprint in use.
        expected: String,
    },
    /// Two objects come from different secret keys.
    #[error("{what} belongs to key set {got}, expected {expected}")]
    KeyMismatch {
        /// The object.
        what: &'static str,
        /// Its key set.
        got: String,
        /// The key set in use.
        expected: String,
    },
    /// No key for this automorphism was generated.
    #[error("no Galois key for element {element} (x -> x^{element}); the set holds {available:?}")]
    MissingGaloisKey {
        /// The exponent g of x -> x^g.
        element: u64,
        /// The exponents there are keys for.
        available: Vec<u64>,
    },
    /// A length or count is not what the operation needs.
    #[error("{what}: {got} given, {expected} expected")]
    Shape {
        /// The quantity that is counted.
        what: &'static str,
        /// The number given.
        got: usize,
        /// The number expected.
        expected: usize,
    },
    /// An operation or key over Q·P, for a parameter set without P.
    #[error("{what} needs special primes, the parameter set has none")]
    NoSpecialPrimes {
        /// The operation or key.
        what: &'static str,
    },
    /// The system gives no threads.
    #[error("{count} threads cannot be had: {message}")]
    Threads {
        /// Number of threads asked for.
        count: usize,
        /// The system's message.
        message: String,
    },
    /// A parameter set from bytes asks for more than its reader allows.
    #[error(
        "a parameter set from bytes has {what} {got}; at most {limit} is allowed, {option} raises it"
    )]
    Limit {
        /// Degree or bytes of tables.
        what: &'static str,
        /// The value in the set.
        got: u64,
        /// The reader's limit.
        limit: u64,
        /// The reader's option.
        option: &'static str,
    },
    /// Bytes that do not decode.
    #[error(transparent)]
    Wire(#[from] crate::wire::WireError),
}
