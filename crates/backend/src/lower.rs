// SPDX-License-Identifier: Apache-2.0
//! From homomorphic steps to operations on residue polynomials. BFV's ciphertexts are in coefficient form between
//! steps, CKKS's are values; sums and plain products of BFV stay values until coefficients are needed.
//!
//! A rotation by x -> x^g multiplies the digits of the ciphertext as it is by keys permuted by 1/g and permutes the
//! sum: the centred digits commute with permutations, so all rotations of a ciphertext share its digits' transforms.

mod bfv;
mod chain;
mod ckks;
pub mod client;
mod execute;
mod key_switch;
mod lowered;
mod lowering;
mod on_engine;
mod run;
mod served;
mod shape;
mod steps;
mod transform;
mod value;
mod wide;
mod widened;
mod zero;

pub use lowered::lower;
pub use lowering::Lower;
pub use on_engine::{Visitor, visit};
pub use run::{Engine, Planned};
pub use shape::Shape;
