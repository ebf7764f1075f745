// SPDX-License-Identifier: Apache-2.0
//! Cost of key switches.
//!
//! With digits of one prime and one special prime, lifting a digit and correcting by the special limb is an addition
//! within the transform that follows. Digits of several primes and several special primes are base conversions: fewer
//! transforms and less of the key to read, for passes and products of their own. Which is faster is a question of time,
//! so the weights are fitted to measured relinearisations, in microseconds on one quiet core with AVX-512 IFMA, beside
//! what they give at 0.1413 ns a butterfly:
//!
//! | n | data + special primes, digits | measured | reckoned |
//! |---|---|---|---|
//! | 16384 | 7 + 1, 7 | 1968 | 1964 |
//! | 16384 | 7 + 2, 4 | 1881 | 1879 |
//! | 16384 | 7 + 3, 3 | 1657 | 1657 |
//! | 32768 | 14 + 1, 14 | 19,880 | 20,073 |
//! | 32768 | 14 + 5, 3 | 11,050 | 10,958 |

use super::{Effort, Shape};
use crate::transform::Transform;

/// Butterflies that the pass over a coefficient of a converted limb takes, and each product of its sum.
const CONVERTED: u64 = 6;
const CONVERSION_PRODUCT: u64 = 2;
/// Butterflies that a key's word takes to come from memory, and the words that are in a cache.
const KEY_WORD: u64 = 6;
const CACHED_WORDS: u64 = 1 << 20;

impl Shape {
    /// A key switch over `own` data primes.
    pub(super) fn key_switch(&self, own: u64) -> Effort {
        let (digits, wide) = (self.digits(own), own + self.special);
        Effort {
            // A digit is at hand modulo its own primes; two parts are corrected by their special limbs.
            transforms: (digits + 2) * wide,
            passes: 2 * digits * wide,
            more: self.lift(own) + self.correction(own) + self.key(own),
            scratch: (digits + 2) * wide,
        }
    }

    /// A linear transform: one decomposition for all baby steps, a division of one part and a decomposition for each
    /// giant step, and the plaintexts encoded over all primes.
    pub(super) fn linear_transform(&self, transform: &Transform, own: u64) -> Effort {
        let (digits, wide) = (self.digits(own), own + self.special);
        let giants = transform.giants.iter().filter(|g| g.rotation != 0).count() as u64;
        let switches = transform.key_switches() as u64;
        let terms = transform.terms().count() as u64;
        let plaintexts = transform.plaintexts().count() as u64;
        let decompositions = (1 + giants) * (own + digits * wide);
        // Both parts of the sum are divided at the end, one at each giant step.
        let divided = self.correction(own) / 2 * (giants + 2);
        Effort {
            transforms: decompositions + (giants + 2) * wide + plaintexts * wide,
            passes: 2 * (switches * digits + terms) * wide,
            more: (1 + giants) * self.lift(own) + divided + switches * self.key(own),
            scratch: (digits + 6 + plaintexts) * wide,
        }
    }

    /// Butterflies of lifting the digits of `own` data primes to all others.
    fn lift(&self, own: u64) -> u64 {
        let length = self.digit_len();
        let wide = own + self.special;
        let several = |primes: u64| match primes {
            0 | 1 => 0,
            _ => self.conversion(primes, wide - primes),
        };
        own / length * several(length) + several(own % length)
    }

    /// Butterflies of converting the special limbs of two parts to the data primes.
    fn correction(&self, own: u64) -> u64 {
        match self.special {
            0 | 1 => 0,
            special => 2 * self.conversion(special, own),
        }
    }

    fn conversion(&self, from: u64, to: u64) -> u64 {
        self.n * to * (CONVERTED + CONVERSION_PRODUCT * from)
    }

    /// Butterflies of reading the uncached part of a key.
    fn key(&self, own: u64) -> u64 {
        let words = self.switching_key(own) / 8;
        KEY_WORD * words.saturating_sub(CACHED_WORDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time of a butterfly.
    const NANOSECONDS: f64 = 0.1413;

    fn microseconds(n: u64, data: u64, special: u64, dnum: u64) -> f64 {
        let shape = Shape {
            refresh: None,
            n,
            word_bytes: 8,
            special,
            dnum,
            data,
            bfv: false,
            extended: false,
        };
        shape.key_switch(data).work(n) as f64 * NANOSECONDS / 1000.0
    }

    #[test]
    fn measured_key_switches_are_reckoned_within_two_percent() {
        let measured = [
            (16384, 7, 1, 7, 1968.0),
            (16384, 7, 2, 4, 1881.0),
            (16384, 7, 3, 3, 1657.0),
            (32768, 14, 1, 14, 19880.0),
            (32768, 14, 5, 3, 11050.0),
        ];
        for (n, data, special, dnum, time) in measured {
            let reckoned = microseconds(n, data, special, dnum);
            let what = format!("{data} + {special} at n = {n}: {reckoned:.0}, measured {time}");
            assert!((reckoned / time - 1.0).abs() < 0.02, "{what}");
        }
    }
}
