// SPDX-License-Identifier: Apache-2.0
//! Bootstrapping: a ciphertext whose levels are used up gets new ones.
//!
//! The order is that of slots to coefficients first (the transform works on few primes, and real messages need one
//! reduction for all slots): [`Bootstrapper`]. A secret of small weight stands in for the set's own while the modulus
//! is raised (ePrint 2022/024), so that few multiples of the lowest prime are added; how many is a bound that fails
//! with a probability that is computed ([`BootstrapParams::log2_failure`]). The error of the reduction is bounded for
//! every message ([`BootstrapParams::approximation_error`]), not on average, and so is the whole error
//! ([`BootstrapParams::error_bound`]).
//!
//! | part | file |
//! |---|---|
//! | what it is made of: levels, scales, promises | `literal`, `outline`, `params` |
//! | the transforms as products of sparse matrices | `dft`, `diagonals` |
//! | their rotations, few of which need a key | `steps`, `split` |
//! | the reduction modulo 1 as a polynomial, and which one reaches an error | `modular`, `plan` |
//! | a whole set for a wanted error, levels and failure | `goal`, `planner`, `lengths` |
//! | keys, each at its level | `key_set`, `keys`, `key_file` |
//! | bound on the whole error | `noise` |
//! | the refresh | `bootstrapper` |

mod bootstrapper;
mod dft;
mod diagonals;
mod goal;
mod key_file;
mod key_set;
mod keys;
mod lengths;
mod literal;
mod modular;
mod noise;
mod outline;
mod params;
mod plan;
mod planner;
mod split;
mod steps;
#[cfg(test)]
mod tests;

pub use bootstrapper::{Bootstrapper, Phase};
pub use dft::{Direction, even_split, factors};
pub use diagonals::{Diagonals, EncodedMatrix};
pub use goal::BootstrapGoal;
pub use key_file::{KeyFile, KeySource};
pub use key_set::Effort;
pub use keys::{BootstrapKeys, KeyOptions};
pub use literal::{BootstrapLiteral, Message, SCALE_ROOM};
pub use modular::{MAX_COSINE_DEGREE, MAX_DOUBLINGS, ModularReduction};
pub use params::BootstrapParams;
pub use plan::ReductionGoal;
