// SPDX-License-Identifier: Apache-2.0
//! A small client of BFV and CKKS: key generation, encryption under the secret or the public key, decryption.
//!
//! `no_std` with `alloc`, portable, in safe Rust. The same seed gives the same bytes (docs/format.md) as the engine, so
//! what a microcontroller sends is what any server of ringsmith takes. Nothing secret decides a branch or an address;
//! secrets are wiped. One prime is worked on at a time: [`memory`] bounds what is held beside the bytes of objects.
//!
//! ```text
//! Params ──> Client::new(seed) ──> public_key, encrypt_secret, encrypt_public, decrypt
//! modulus <- ntt, rules, stream (seeds, samplers), wire (envelope, packing) <- params <- ciphertext, scaling
//!         <- client, slots
//! ```
//!
//! Here are ring degrees up to 8192, primes of 32 to 60 bits, ternary secrets and binomial errors of η = 21, messages
//! as polynomials; [`Slots`] encodes BFV's slots. Evaluation keys, extended public keys and CKKS's embedding are the
//! engine's.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod ciphertext;
mod client;
mod error;
mod modulus;
mod ntt;
mod params;
mod rules;
mod scaling;
mod slots;
mod stream;
mod wire;

pub use client::{Client, Message, encrypt_public, memory};
pub use error::Error;
pub use params::Params;
pub use rules::{MAX_N, MAX_PRIMES, ParamsLiteral, Scheme};
pub use slots::Slots;
