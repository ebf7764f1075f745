// SPDX-License-Identifier: Apache-2.0
//! The CKKS scheme: approximate arithmetic on encrypted real and complex vectors.
//!
//! ```text
//! Encoder: values -> Plaintext        Encryptor: Plaintext -> Ciphertext      Decryptor: back
//! Evaluator: Ciphertext x Ciphertext -> Ciphertext (needs no secret)
//! noise::Estimator: the same operations on bounds, for choosing parameters before anything runs
//! ```
//!
//! Cheon, Kim, Kim, Song (ePrint 2016/421) in residue form (ePrint 2018/931); ciphertexts stay in evaluation form. A
//! level is the number of rescales left: limbs minus 1. Scales are doubles, multiplied and divided exactly as the
//! primes are.
//!
//! Files, traits and names are those of `bfv`, as far as the schemes agree: `params`, `encoder`, `plaintext`,
//! `ciphertext`, `encryption`, `evaluator` (`linear`, `plain`, `multiply`, `rotate`, `transform`), `linear_transform`,
//! `noise`, `publish`, `wire`, `zero` (what an encryption draws). CKKS alone has `embedding`, `scale`, `poly`,
//! `evaluator::rescale`, `evaluator::batch` and `bootstrap`.

pub mod bootstrap;
mod ciphertext;
mod embedding;
mod encoder;
mod encryption;
mod error;
mod evaluator;
pub mod linear_transform;
pub mod noise;
mod params;
mod plaintext;
mod poly;
mod publish;
mod scale;
#[cfg(test)]
mod tests;
mod wire;
mod zero;

pub use ciphertext::Ciphertext;
pub use embedding::Embedding;
pub use encoder::Encoder;
pub use encryption::{Decryptor, EncryptionKey, Encryptor};
pub use error::Error;
pub use evaluator::{Evaluator, inner_sum_steps, slot_rotation_element};
pub use params::{CkksParams, CkksParamsLiteral, prime_chain};
pub use plaintext::Plaintext;
pub use poly::{Basis, MAX_DEGREE, Node, Plan, Polynomial};
pub use publish::Publication;
pub use scale::SCALE_TOLERANCE;
pub use zero::{Draw, ZeroDraw};
