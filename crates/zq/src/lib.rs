// SPDX-License-Identifier: Apache-2.0
//! Arithmetic modulo a word-sized integer.
//!
//! [`Modulus<W>`] holds a modulus `q >= 2` and the constants to reduce by it, for `W = u64` (`q < 2^62`, the fast path)
//! and `W = u128` (`q < 2^128`, the plain path). Everything is constant time in its operands unless its name ends in
//! `_vt`; the modulus itself, exponents and lengths are public. Residues are the canonical `0..q` unless a function's
//! name says `_lazy`.
//!
//! [`primes`] finds NTT-friendly primes; [`AlignedVec`] is the storage all residues live in,
//! [`memory`] how it is used again.

mod error;
pub mod fork;
mod instances;
pub mod memory;
mod modulus;
pub mod primes;
mod quotient;
pub mod simd;
mod slice;
#[cfg(test)]
mod tests;
mod word;

pub use error::ZqError;
pub use memory::{AlignedVec, Pool, Scratch};
pub use modulus::{Modulus, Shoup};
pub use quotient::check_quotient;
pub use word::Word;
