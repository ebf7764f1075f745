// SPDX-License-Identifier: Apache-2.0
//! A bound, and what it takes for granted about plaintexts.

use std::collections::BTreeMap;

/// Which plaintexts are taken to be the worst possible ones; the others are ordinary. Each includes those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assume {
    /// None.
    None,
    /// Those without arguments.
    Constants,
    /// All.
    All,
}

/// Measured plaintexts, by number and scale: log2 of the gain (BFV), or the rounding times the scale (CKKS).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects(BTreeMap<(u32, u64), f64>);

impl Effects {
    /// Adds the effect of a plaintext at a scale.
    pub fn insert(&mut self, plaintext: u32, scale: f64, effect: f64) {
        self.0.insert((plaintext, scale.to_bits()), effect);
    }

    /// The effect of a plaintext at a scale, if it was measured.
    pub fn get(&self, plaintext: u32, scale: f64) -> Option<f64> {
        self.0.get(&(plaintext, scale.to_bits())).copied()
    }

    /// The plaintext of largest effect, and that.
    pub(super) fn largest(&self) -> Option<(u32, f64)> {
        let effects = self
            .0
            .iter()
            .map(|(&(number, _), &effect)| (number, effect));
        effects.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Bound on a program's results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// CKKS: log2 of the largest error of a result. BFV: noise budget of the poorest result.
    pub bits: f64,
    /// CKKS: by how many bits the fullest step exceeds its modulus (below 0: room). BFV: −∞, its budget says all.
    pub overflow_bits: f64,
    /// CKKS: the fullest step. BFV: the poorest result.
    pub step: usize,
}

impl Bound {
    /// Of two bounds on the errors of the same CKKS program the lower error, and the lower of the fullest steps.
    pub(super) fn or_lower(self, other: Self) -> Self {
        let fuller = if other.overflow_bits < self.overflow_bits {
            other
        } else {
            self
        };
        Self {
            bits: self.bits.min(other.bits),
            ..fuller
        }
    }
}
