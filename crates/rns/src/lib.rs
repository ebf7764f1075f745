// SPDX-License-Identifier: Apache-2.0
//! Residue number systems: bases, CRT, base conversion and polynomials over them.
//!
//! A polynomial of `Z_Q[x]/(x^n + 1)` with `Q = q_0 ⋯ q_{L-1}` is `L` limbs of `n` residues, limb-major in one aligned
//! array. Its domain, coefficients or values, is part of its type ([`RnsPoly<W, Coeff>`], [`RnsPoly<W, Eval>`]).
//!
//! - [`RnsBasis`]: the moduli, their transforms and the CRT constants; cheap to clone.
//! - [`BaseConverter`]: residues modulo other moduli, centred by a fixed-point quotient, so that every engine agrees on
//!   the bits; also the uncorrected form, and the exact CRT through big integers ([`RnsPoly::compose_centered`]).
//!   [`BaseConverter::mixed_radix`] is what an engine gets that takes off one prime at a time: the rule of key
//!   switching. Of one prime it is [`CentredLift`].
//! - [`ScaleRounder`]: `round(t x / D)` where `D` is the product of part of the basis: BFV's scaling, modulus
//!   switching, rescaling and the division by special primes.
//!
//! Shapes are invariants of the caller, never user input: operations on different bases or lengths panic.

mod automorphism;
mod basis;
mod centred_lift;
mod convert;
mod crt;
mod domain;
mod error;
mod instances;
mod kernel;
mod mixed_radix;
mod poly;
mod scale;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod simd;
#[cfg(test)]
mod tests;

pub use automorphism::Automorphism;
pub use basis::RnsBasis;
pub use centred_lift::CentredLift;
pub use convert::{BaseConverter, ConvertedBlock};
pub use domain::{Coeff, Domain, Eval};
pub use error::RnsError;
pub use poly::RnsPoly;
pub use scale::ScaleRounder;
pub use zq::Scratch;
