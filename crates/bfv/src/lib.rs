// SPDX-License-Identifier: Apache-2.0
//! The BFV scheme: exact arithmetic on encrypted integers modulo t.
//!
//! ```text
//! BfvParams -> BatchEncoder | IntegerEncoder | FractionalEncoder -> Plaintext
//! Encryptor (public or secret key) -> Ciphertext -> Evaluator -> Ciphertext -> Decryptor -> Plaintext
//! ```
//! A ciphertext (c_0, c_1, …) over Q satisfies c_0 + c_1·s + … = round(Q·m/t) + v (mod Q) with small noise v; it
//! decrypts while |v| < Q/(2t). Ciphertexts are kept in coefficient form.
//!
//! Files, traits and names are those of `ckks`, as far as the schemes agree: `params`, `encoder`, `plaintext`,
//! `ciphertext`, `encryption`, `evaluator` (`linear`, `plain`, `multiply`, `rotate`, `transform`), `linear_transform`,
//! `noise`, `publish`, `wire`, `zero` (what an encryption draws). BFV alone has `level` (constants of scaling) and
//! `evaluator::mod_switch`.

mod ciphertext;
mod encoder;
mod encryption;
mod error;
mod evaluator;
mod instances;
mod level;
pub mod linear_transform;
pub mod noise;
mod params;
mod plaintext;
mod publish;
mod wire;
mod zero;

pub use ciphertext::Ciphertext;
pub use encoder::{BatchEncoder, FractionalEncoder, IntegerEncoder};
pub use encryption::{Decryptor, Encryptor, Phase};
pub use error::Error;
pub use evaluator::{Evaluator, Multiplier, MultiplyAlgorithm};
pub use params::{BfvParams, BfvParamsLiteral, MAX_PLAIN_BITS};
pub use plaintext::Plaintext;
pub use publish::Publication;
pub use zero::ZeroDraw;

#[cfg(test)]
mod tests;
