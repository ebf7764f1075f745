// SPDX-License-Identifier: Apache-2.0
//! A ring of twice the build's degree, worked on in two halves.
//!
//! x^n + 1 = (x^(n/2) - z)(x^(n/2) + z) with z = T[1] of the degree-n table T. A polynomial lo + x^(n/2) hi is
//! lo + z hi modulo the first factor ("left"), lo - z hi modulo the second. Below that first stage each half is a
//! transform of degree n/2 with the table T_left[m + i] = T[2m + i], T_right[m + i] = T[3m + i]; the inverse transform
//! mirrors its table, and the mirror of one half's twiddles lies in the other half's table.

use model::Lane;

/// One factor of x^n + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// Modulo x^(n/2) - z.
    Left,
    /// Modulo x^(n/2) + z.
    Right,
}

impl Half {
    /// Its twiddle table from that of degree n.
    pub fn table(self, lane: &Lane, psi_rev: &[u128]) -> Vec<u128> {
        let offset = |m: usize| if self == Half::Left { 2 * m } else { 3 * m };
        let entry = |j: usize| match j {
            0 => 1,
            _ => {
                let m = 1 << j.ilog2();
                psi_rev[offset(m) + j - m]
            }
        };
        let factor = lane.factor();
        (0..psi_rev.len() / 2)
            .map(|j| lane.modulus.mul(entry(j), factor))
            .collect()
    }
}
