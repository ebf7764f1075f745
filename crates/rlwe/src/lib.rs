// SPDX-License-Identifier: Apache-2.0
//! Ring-LWE: samplers, seeds, parameters, keys, key switching, noise and the byte format's core.
//!
//! ```text
//! Randomness -> Seed -> Xof -> sample::* -> KeyGenerator -> SecretKey, PublicKey, RelinKey, GaloisKeys
//! RlweParamsLiteral -> RlweParams -> level(l): KeySwitchLevel (decompose, mod_down)
//! encrypt_zero, phase, tensor: products of residue polynomials
//! ```

mod chacha;
mod distribution;
mod division;
mod embedding;
mod error;
mod fused;
mod galois;
mod keys;
mod keyswitch;
mod limits;
mod linear_transform;
pub mod noise;
mod params;
mod pool;
mod products;
mod randomness;
mod reveal;
pub mod sample;
pub mod security;
mod seed;
mod small;
mod threads;
pub mod wire;

pub use distribution::{DEFAULT_ETA, ErrorDistribution, Sampler, SecretDistribution};
pub use error::Error;
pub use fused::{Job, Source, divide_by_last};
pub use galois::{conjugation_element, rotation_element};
pub use keys::{
    GaloisKeys, KeyGenerator, KeyId, KeySwitchKey, PublicKey, RelinKey, SecretKey, open_of,
    uniform_residues,
};
pub use keyswitch::{HoistedDigits, KeySwitchLevel, key_switch};
pub use limits::Limits;
pub use linear_transform::{BabyStep, GiantStep, Rotation, TransformSource};
pub use params::{
    MAX_PRIMES, ParameterSet, RlweParams, RlweParamsLiteral, Security, SecurityPolicy, word_bits_of,
};
pub use pool::Pool;
pub use products::{Polys, encrypt_zero, phase, tensor};
pub use randomness::Randomness;
pub use reveal::reveal;
pub use seed::{Seed, Xof};
pub use small::{SmallPoly, small_poly};
pub use threads::{MAX_THREADS, Threads};

#[cfg(test)]
mod seed_tests;
#[cfg(test)]
mod tests;
