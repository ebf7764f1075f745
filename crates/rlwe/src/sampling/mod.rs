// SPDX-License-Identifier: Apache-2.0
//! Sampling: where randomness comes from ([`Randomness`], [`Seed`], [`Xof`]), the distributions, and their samplers.
//!
//! Everything that yields secret values runs in constant time; only [`uniform`] rejects, on public data.

mod binomial;
mod chacha;
mod distribution;
mod fixed_weight;
mod gauss;
mod randomness;
mod seed;
#[cfg(test)]
mod seed_tests;
mod ternary;
mod uniform;
mod wide;

pub use binomial::{MAX_ETA, binomial};
pub use distribution::{DEFAULT_ETA, ErrorDistribution, Sampler, SecretDistribution};
pub use fixed_weight::fixed_weight;
pub use gauss::{CdtTable, MAX_SIGMA, MIN_SIGMA};
pub use randomness::Randomness;
pub use seed::{Seed, Xof};
pub use ternary::{binary, ternary};
pub use uniform::uniform;
pub use wide::WideGaussian;

#[cfg(test)]
pub(crate) mod statistics {
    /// Chi-square statistic of `counts` against `expected` and its number of degrees of freedom.
    /// Cells that expect fewer than 10 hits are pooled.
    pub fn chi_square(counts: &[f64], expected: &[f64]) -> (f64, f64) {
        let (mut chi, mut cells, mut pooled) = (0.0, 0.0, (0.0, 0.0));
        for (&c, &e) in counts.iter().zip(expected) {
            if e < 10.0 {
                pooled = (pooled.0 + c, pooled.1 + e);
            } else {
                chi += (c - e) * (c - e) / e;
                cells += 1.0;
            }
        }
        if pooled.1 > 0.0 {
            chi += (pooled.0 - pooled.1) * (pooled.0 - pooled.1) / pooled.1;
            cells += 1.0;
        }
        (chi, cells - 1.0)
    }

    /// Upper limit for chi-square with `k` degrees of freedom, passed with probability about 1 - 1e-6
    /// (Wilson-Hilferty; seeds are fixed, so a failure is a defect, not bad luck).
    pub fn chi_square_limit(k: f64) -> f64 {
        let a = 2.0 / (9.0 * k);
        k * (1.0 - a + 4.75 * a.sqrt()).powi(3)
    }
}
