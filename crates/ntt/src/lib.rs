// SPDX-License-Identifier: Apache-2.0
//! The negacyclic number-theoretic transform modulo a prime `q = 1 mod 2n`.
//!
//! [`NttPlan`] maps a polynomial of `Z_q[x]/(x^n + 1)`, coefficients in natural order, to its values at the odd powers
//! of ψ in bit-reversed order: output `j` is the value at `ψ^(2·brv(j)+1)` ([`eval_exponent`]). ψ is the **smallest**
//! primitive 2n-th root of unity modulo `q`, merged into the twiddle factors, so neither side needs a scaling pass.

mod blocks;
mod error;
mod instances;
mod plan;
mod portable;
mod root;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod simd;
#[cfg(test)]
mod simd_tests;
mod tables;
#[cfg(test)]
mod tests;

pub use blocks::{Form, Shift};
pub use error::NttError;
pub use plan::NttPlan;
pub use root::{bit_reverse, eval_exponent, primitive_root};
pub use tables::{MAX_LOG_N, MIN_LOG_N, check};
