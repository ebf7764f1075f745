// SPDX-License-Identifier: Apache-2.0
//! Ring-LWE: sampling, parameters, keys, key switching, noise and the byte format's core.
//!
//! ```text
//! Randomness -> Seed -> Xof -> sampling::* -> KeyGenerator -> SecretKey, PublicKey, RelinKey, GaloisKeys
//! RlweParamsLiteral -> RlweParams (facts) -> RlweContext (tables, work space) -> level(l): KeySwitchLevel
//! encrypt_zero, phase, tensor: products of residue polynomials
//! ```
//!
//! Modules use each other one way (`tests/test_architecture.py`): `wire` and `error` under `sampling`, `noise` and
//! `security`; these under `params`; then `keys`, `keyswitch`, `context`.

mod context;
mod error;
mod galois;
mod instances;
mod keys;
mod keyswitch;
pub mod mutate;
pub mod noise;
mod params;
mod products;
mod reveal;
pub mod sampling;
pub mod security;
mod signed_poly;
mod threads;
pub mod wire;
mod zero;

pub use context::RlweContext;
pub use error::Error;
pub use galois::{conjugation_element, rotation_element};
pub use keys::{
    EncapsulationKeys, GaloisKeys, KeyGenerator, KeyId, KeySwitchKey, PublicKey, RelinKey,
    SecretKey, UniformHalf, uniform_residues,
};
pub use keyswitch::{
    BabyStep, GiantStep, HoistedDigits, KeySwitchLevel, Rotation, Source, SwitchRequest,
    TransformSource, divide_by_last,
};
pub use params::{Limits, MAX_PRIMES, ParameterSet, RlweParams, RlweParamsLiteral, word_bits_of};
pub use products::{Polys, coefficients, encrypt_zero, phase, tensor};
pub use reveal::reveal;
pub use sampling::{
    DEFAULT_ETA, ErrorDistribution, Randomness, Sampler, SecretDistribution, Seed, Xof,
};
pub use security::{Security, SecurityPolicy};
pub use signed_poly::{SignedPoly, signed_poly};
pub use threads::{MAX_THREADS, Threads};
pub use zero::ZeroSample;

#[cfg(test)]
mod tests;
