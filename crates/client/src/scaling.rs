// SPDX-License-Identifier: Apache-2.0
//! BFV's scaling: round(Q·m/t) into a ciphertext, round(t·phase/Q) out of one.

use crate::modulus::{Modulus, below};

/// round(Q·m/t) modulo a prime: Δ·m + ⌊(2·r·m + t)/2t⌋ with Q = Δ·t + r.
pub(crate) struct Scaling {
    /// Δ in Montgomery's form.
    delta: u64,
    r: u64,
    t: u64,
    /// ⌊2^64/2t⌋.
    reciprocal: u64,
}

impl Scaling {
    pub fn new(data: &[Modulus], q: &Modulus, t: u64) -> Self {
        let r = data
            .iter()
            .fold(1, |product, p| product * (p.value % t) % t);
        // Δ = (Q − r)/t, and Q is 0 modulo q.
        let delta = q.mul(q.sub(0, q.reduce(r)), q.inverse_vt(q.reduce(t)));
        Self {
            delta: q.to_montgomery(delta),
            r,
            t,
            reciprocal: (u128::pow(2, 64) / u128::from(2 * t)) as u64,
        }
    }

    pub fn of(&self, q: &Modulus, m: u64) -> u64 {
        // Below 2^63 + 2^31, since r and m are below t < 2^31.
        let numerator = 2 * self.r * m + self.t;
        let mut quotient = ((u128::from(numerator) * u128::from(self.reciprocal)) >> 64) as u64;
        // The reciprocal is less than 1 too small, so the quotient is at most 1 too small, or 2 after rounding down.
        for _ in 0..2 {
            let rest = numerator - quotient * 2 * self.t;
            quotient += 1 ^ (rest.wrapping_sub(2 * self.t) >> 63);
        }
        q.add(q.montgomery(m, self.delta), q.reduce(quotient))
    }
}

/// Fraction bits of the sums behind a decryption: 8 terms below t·2^28 < 2^59 stay below 2^62.
const FRACTION: u32 = 28;

/// Adds t·y/q_j·2^28 of y = phase·(Q/q_j)^-1 modulo q_j: round(t·phase/Q) is their rounded sum modulo t.
pub(crate) fn gather(data: &[Modulus], j: usize, t: u64, phase: &[u64], sums: &mut [i64]) {
    let q = &data[j];
    let others = data.iter().enumerate().filter(|(i, _)| *i != j);
    let product = others.fold(1, |product, (_, p)| q.mul(product, q.reduce(p.value)));
    let inverse = q.to_montgomery(q.inverse_vt(product));
    // t·2^92/q, below 2^92 and at most 1 too small: y·(t/q)·2^28 is less than 1 too small. y·high is below 2^88.
    let ratio = (u128::from(t) << (64 + FRACTION)) / u128::from(q.value);
    let (high, low) = (ratio >> 64, u128::from(ratio as u64));
    for (sum, x) in sums.iter_mut().zip(phase) {
        let y = u128::from(q.montgomery(*x, inverse));
        *sum += (y * high + ((y * low) >> 64)) as i64;
    }
}

/// Rounds the sums of [`gather`] and brings them to 0..t.
pub(crate) fn round(t: u64, terms: usize, sums: &mut [i64]) {
    for sum in sums {
        let mut x = (*sum as u64 + (1 << (FRACTION - 1))) >> FRACTION;
        for _ in 0..terms {
            x = below(x, t);
        }
        *sum = x as i64;
    }
}
