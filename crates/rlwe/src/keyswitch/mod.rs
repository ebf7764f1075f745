// SPDX-License-Identifier: Apache-2.0
//! Key switching: decompose, mod-up, inner product, mod-down.
//!
//! A key from s' to s over Q·P holds, for each digit D_d (a run of data primes), an encryption of g_d·s', where the
//! gadget has g_d ≡ P modulo the primes of D_d and 0 modulo all others (P = 1 without special primes, which is HEAWS's
//! (q/q_i)·[(q/q_i)^-1]_{q_i}). With c_d the centred residue of c modulo D_d, Σ c_d·g_d ≡ P·c (mod Q), so
//! (Σ c_d·key_d)/P encrypts c·s'. The digits being centred, decomposition commutes with automorphisms exactly.
//!
//! | step | file |
//! |---|---|
//! | decompose `c` into digits | [`decompose`] |
//! | mod-up: each digit's residues modulo the primes it lacks | [`mod_up`], of one prime [`rns::CentredLift`] |
//! | inner product of the digits with the key | [`inner_product`] |
//! | mod-down: division by P | [`mod_down`], its constants in [`division`] |
//! | the same step by step, to compare with | [`reference`](mod@reference) |
//!
//! Several polynomials and keys are switched at once, in evaluation form ([`eval_form`], CKKS) or from coefficients to
//! coefficients ([`coeff_form`], BFV); [`linear_transform`] sums before it divides.
//!
//! The loop runs over the target primes, not over the digits ([`per_prime`]): modulo one prime all digits are lifted
//! and transformed, and the products with the keys' limbs of that prime are summed in double words with one reduction
//! at the end. The special primes come first, so that the sums modulo the others can be divided where they are made.
//! Rotations share the digits of their source (hoisting, ePrint 2018/244): the digits commute with `x -> x^g`, which
//! permutes evaluation points, so the permutation is folded into the loads of the inner product.
//!
//! Residues equal those of [`HoistedDigits`](crate::HoistedDigits) one after another.

mod coeff_form;
mod decompose;
mod digit;
mod division;
mod eval_form;
mod inner_product;
mod level;
mod linear_transform;
mod mod_down;
mod mod_up;
mod per_prime;
mod raise;
mod reference;
mod request;
mod row;
#[cfg(test)]
mod tests;
mod work_space;

pub use level::KeySwitchLevel;
pub use linear_transform::{BabyStep, GiantStep, Rotation, TransformSource};
pub use mod_down::divide_by_last;
pub use reference::HoistedDigits;
pub use request::{Source, SwitchRequest};
pub(crate) use work_space::SwitchScratch;
