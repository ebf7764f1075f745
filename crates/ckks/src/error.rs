// SPDX-License-Identifier: Apache-2.0
//! Errors of the CKKS scheme, each with the numbers that explain it and the remedy.

/// Errors of the CKKS scheme.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A refresh was asked to stop.
    #[error("the refresh was stopped")]
    Stopped,
    /// Keys, samplers, parameters, wire format.
    #[error(transparent)]
    Rlwe(#[from] rlwe::Error),
    /// Residue arithmetic.
    #[error(transparent)]
    Rns(#[from] rns::RnsError),
    /// NaN or infinity among the input.
    #[error("{what} {index} is {value}; only finite numbers can be encoded")]
    NotFinite {
        /// The kind of input.
        what: &'static str,
        /// Its position.
        index: usize,
        /// The offending value.
        value: f64,
    },
    /// More values than slots.
    #[error("{given} values do not fit {slots} slots")]
    TooManyValues {
        /// Values given.
        given: usize,
        /// Slots there are.
        slots: usize,
    },
    /// A slot count that does not exist for this ring.
    #[error("{given} slots: a power of two up to {max} is needed")]
    Slots {
        /// Slots asked for.
        given: usize,
        /// n/2.
        max: usize,
    },
    /// The encoded coefficients reach half the modulus.
    #[error(
        "{operation}: the largest coefficient would have {needed:.1} bits (scale 2^{log2_scale:.2}), level {level} has \
         room for {available:.1}; lower the scale, the values, or use a higher level"
    )]
    Overflow {
        /// The operation.
        operation: &'static str,
        /// log2 of the largest coefficient.
        needed: f64,
        /// log2 of the scale.
        log2_scale: f64,
        /// The level.
        level: usize,
        /// log2(Q/2) at that level.
        available: f64,
    },
    /// A scale that is not a finite number of at least 1.
    #[error("{operation}: scale {scale:e} is not usable; it must be finite and at least 1")]
    Scale {
        /// The operation.
        operation: &'static str,
        /// The scale.
        scale: f64,
    },
    /// Operands with different scales.
    #[error(
        "{operation}: scales differ (2^{left:.6} and 2^{right:.6}, {levels_left} levels left); {remedy}"
    )]
    ScaleMismatch {
        /// The operation.
        operation: &'static str,
        /// log2 of the left operand's scale.
        left: f64,
        /// log2 of the right operand's scale.
        right: f64,
        /// Levels left in the lower operand.
        levels_left: usize,
        /// The remedy.
        remedy: &'static str,
    },
    /// No level left to rescale or drop.
    #[error(
        "{operation}: {needed} levels needed, {levels_left} left (scale 2^{log2_scale:.2}); {remedy}"
    )]
    LevelsExhausted {
        /// The operation.
        operation: &'static str,
        /// Levels needed.
        needed: usize,
        /// Levels left.
        levels_left: usize,
        /// log2 of the scale.
        log2_scale: f64,
        /// The remedy.
        remedy: &'static str,
    },
    /// A level above the operand's or the chain's.
    #[error("{operation}: level {given} asked for, at most {max} is possible")]
    Level {
        /// The operation.
        operation: &'static str,
        /// The level asked for.
        given: usize,
        /// The highest possible.
        max: usize,
    },
    /// A ciphertext of the wrong number of components.
    #[error("{operation}: ciphertext has {given} components, {needed} needed; {remedy}")]
    Size {
        /// The operation.
        operation: &'static str,
        /// Components it has.
        given: usize,
        /// Components needed.
        needed: &'static str,
        /// The remedy.
        remedy: &'static str,
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
    /// A bootstrapping that cannot be.
    #[error("bootstrapping: {what} is {got}; allowed: {allowed}")]
    Bootstrap {
        /// The quantity.
        what: &'static str,
        /// Its value.
        got: String,
        /// What would do.
        allowed: String,
    },
    /// A file of keys that cannot be read.
    #[error("bootstrapping keys: {}: {reason}", path.display())]
    KeyFile {
        /// The file.
        path: std::path::PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Coefficients that make no polynomial.
    #[error("{given} coefficients: between 1 and {max_degree}+1 are needed")]
    Polynomial {
        /// Number of coefficients.
        given: usize,
        /// Largest degree.
        max_degree: usize,
    },
    /// A chain of primes that CKKS cannot use.
    #[error("{0}")]
    Chain(String),
    /// Flooding noise that would drown the message or leave the sampler's range.
    #[error(
        "decrypt for publication: noise 2^{log2_noise:.1} leaves no room below the modulus 2^{log2_q:.1}"
    )]
    Flooding {
        /// log2 of the standard deviation of the flooding noise.
        log2_noise: f64,
        /// log2 of the modulus at the ciphertext's level.
        log2_q: f64,
    },
}
