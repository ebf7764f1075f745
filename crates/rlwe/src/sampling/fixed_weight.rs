// SPDX-License-Identifier: Apache-2.0
//! Secrets with an exact number of coefficients ±1, in constant time.

use super::seed::Xof;
use zeroize::Zeroizing;

/// Low bits of a word: one for a coefficient that is not 0, one for its sign.
const CODE: u128 = 3;
/// Words per read of the stream.
const WORDS: usize = 64;

/// Fills `out` with a uniformly chosen vector of `weight` coefficients 1 or −1 and zeros elsewhere.
///
/// Stream layout: a 128-bit little-endian word for each coefficient. In the first `weight` words bit 0 is the sign of a
/// coefficient ±1; the words are sorted by their upper 126 bits, and coefficient i is that of word i.
///
/// Sorting by random keys is a uniform permutation unless two keys are equal, which happens with probability below
/// n²/2^127, for n = 2^17 2^-93: the statistical distance from uniform. The sorting network compares and exchanges at
/// places that depend on the length alone, so time and memory access tell nothing, unlike with rejected positions,
/// whose number of repeats depends on the secret.
///
/// # Panics
/// If `out` is shorter than `weight`.
pub fn fixed_weight(stream: &mut Xof, weight: usize, out: &mut [i64]) {
    assert!(weight <= out.len(), "the weight is checked by check_degree");
    let mut words = Zeroizing::new(vec![0u128; out.len()]);
    let mut bytes = Zeroizing::new([0u8; 16 * WORDS]);
    for block in words.chunks_mut(WORDS) {
        let bytes = &mut bytes[..16 * block.len()];
        stream.fill(bytes);
        for (word, b) in block.iter_mut().zip(bytes.as_chunks::<16>().0) {
            *word = u128::from_le_bytes(*b);
        }
    }
    for (i, word) in words.iter_mut().enumerate() {
        *word = (*word & !CODE) | if i < weight { 2 | (*word & 1) } else { 0 };
    }
    sort(&mut words);
    for (value, word) in out.iter_mut().zip(words.iter()) {
        // Codes 0, 2, 3 are 0, 1, −1.
        *value = (word >> 1 & 1) as i64 * (1 - 2 * (word & 1) as i64);
    }
}

/// Sorts by a network for any length: merge exchange (Batcher 1968; Knuth, volume 3, algorithm 5.2.2M).
fn sort(words: &mut [u128]) {
    let len = words.len();
    let top = len.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            for i in (0..len.saturating_sub(d)).filter(|i| i & p == r) {
                exchange(words, i, i + d);
            }
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
}

/// Puts the smaller word first, without a branch.
#[inline(always)]
fn exchange(words: &mut [u128], low: usize, high: usize) {
    let (a, b) = (words[low], words[high]);
    let below = b.overflowing_sub(a).1;
    let swap = std::hint::black_box(u128::from(below)).wrapping_neg() & (a ^ b);
    (words[low], words[high]) = (a ^ swap, b ^ swap);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::sampling::statistics::{chi_square, chi_square_limit};

    fn sample(seed: u64, weight: usize, len: usize) -> Vec<i64> {
        let mut out = vec![7; len];
        fixed_weight(
            &mut Seed::from_text("weight").stream("t", seed),
            weight,
            &mut out,
        );
        out
    }

    #[test]
    fn the_network_sorts_every_length() {
        for len in (0..=70).chain([128, 255, 1000]) {
            let mut words: Vec<u128> = (0..len as u128)
                .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
                .collect();
            words.extend_from_within(..len / 3);
            let mut want = words.clone();
            want.sort_unstable();
            sort(&mut words);
            assert_eq!(words, want, "{len}");
        }
    }

    #[test]
    fn the_weight_is_exact() {
        for (weight, len) in [
            (0, 8),
            (1, 8),
            (8, 8),
            (5, 37),
            (32, 1 << 12),
            (1024, 1 << 12),
        ] {
            let out = sample(1, weight, len);
            assert_eq!(out.iter().filter(|v| v.abs() == 1).count(), weight);
            assert_eq!(out.iter().filter(|v| **v == 0).count(), len - weight);
            assert_eq!(out, sample(1, weight, len));
        }
        assert_ne!(sample(1, 5, 64), sample(2, 5, 64));
    }

    #[test]
    fn places_signs_and_pairs_of_places_are_uniform() {
        let (len, weight, rounds) = (16, 3, 20_000);
        let mut values = vec![0.0; 2 * len];
        let mut pairs = vec![0.0; len * len];
        for k in 0..rounds {
            let out = sample(k, weight, len);
            let set: Vec<usize> = (0..len).filter(|i| out[*i] != 0).collect();
            for &i in &set {
                values[2 * i + usize::from(out[i] < 0)] += 1.0;
                set.iter()
                    .filter(|j| **j > i)
                    .for_each(|j| pairs[len * i + j] += 1.0);
            }
        }
        let expected = vec![(weight as u64 * rounds) as f64 / values.len() as f64; values.len()];
        let (chi, k) = chi_square(&values, &expected);
        assert!(chi < chi_square_limit(k), "values: {chi:.1} of {k}");
        let pairs: Vec<f64> = pairs.into_iter().filter(|c| *c > 0.0).collect();
        assert_eq!(pairs.len(), len * (len - 1) / 2);
        let expected = vec![(3 * rounds) as f64 / pairs.len() as f64; pairs.len()];
        let (chi, k) = chi_square(&pairs, &expected);
        assert!(chi < chi_square_limit(k), "pairs: {chi:.1} of {k}");
    }
}
