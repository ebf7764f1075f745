// SPDX-License-Identifier: Apache-2.0
//! Ternary and binary values, uniform, in constant time and without rejection.

use super::seed::Xof;
use zq::memory::wipe;

/// Digits taken from one 128-bit word of the stream.
const PER_WORD: usize = 16;
/// Words per read of the stream.
const WORDS: usize = 32;

/// Fills `out` with values uniform in {−1, 0, 1}.
///
/// A 128-bit little-endian word x is read as the fraction x/2^128; its first 16 digits in base 3, each minus 1, are
/// the values. A block of 16 is within statistical distance 3^16/2^128 < 2^-102 of uniform.
pub fn ternary(stream: &mut Xof, out: &mut [i64]) {
    let mut bytes = [0u8; 16 * WORDS];
    for block in out.chunks_mut(PER_WORD * WORDS) {
        let bytes = &mut bytes[..16 * block.len().div_ceil(PER_WORD)];
        stream.fill(bytes);
        for (values, b) in block.chunks_mut(PER_WORD).zip(bytes.chunks_exact(16)) {
            digits(b.try_into().expect("16 bytes"), values);
        }
    }
    wipe(&mut bytes);
}

/// The first base-3 digits, minus 1, of one word.
fn digits(word: [u8; 16], values: &mut [i64]) {
    let (mut low, mut high) = (u64_at(&word, 0), u64_at(&word, 8));
    for value in values {
        let l = u128::from(low) * 3;
        let h = u128::from(high) * 3 + (l >> 64);
        (low, high) = (l as u64, h as u64);
        *value = (h >> 64) as i64 - 1;
    }
}

fn u64_at(word: &[u8; 16], at: usize) -> u64 {
    u64::from_le_bytes(word[at..at + 8].try_into().expect("8 bytes"))
}

/// Fills `out` with values uniform in {0, 1}: the bits of the stream's bytes, lowest first.
pub fn binary(stream: &mut Xof, out: &mut [i64]) {
    let mut bytes = [0u8; 64];
    for block in out.chunks_mut(8 * bytes.len()) {
        let bytes = &mut bytes[..block.len().div_ceil(8)];
        stream.fill(bytes);
        for (values, b) in block.chunks_mut(8).zip(bytes.iter()) {
            values
                .iter_mut()
                .enumerate()
                .for_each(|(i, v)| *v = i64::from(b >> i & 1));
        }
    }
    wipe(&mut bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::sampling::statistics::{chi_square, chi_square_limit};

    #[test]
    fn ternary_is_uniform_and_pairs_are_independent() {
        let mut out = vec![0; 90_000];
        ternary(&mut Seed::from_text("ternary").stream("t", 0), &mut out);
        let mut counts = [0.0; 9];
        out.chunks_exact(2)
            .for_each(|v| counts[(3 * (v[0] + 1) + v[1] + 1) as usize] += 1.0);
        let (chi, k) = chi_square(&counts, &[5000.0; 9]);
        assert!(chi < chi_square_limit(k), "chi-square {chi:.1}");
    }

    #[test]
    fn binary_is_uniform_and_pairs_are_independent() {
        let mut out = vec![0; 40_000];
        binary(&mut Seed::from_text("binary").stream("t", 0), &mut out);
        let mut counts = [0.0; 4];
        out.chunks_exact(2)
            .for_each(|v| counts[(2 * v[0] + v[1]) as usize] += 1.0);
        let (chi, k) = chi_square(&counts, &[5000.0; 4]);
        assert!(chi < chi_square_limit(k), "chi-square {chi:.1}");
    }

    #[test]
    fn digits_are_those_of_the_fraction() {
        let mut out = [0; 16];
        digits([0; 16], &mut out);
        assert_eq!(out, [-1; 16]);
        digits([0xff; 16], &mut out);
        assert_eq!(out, [1; 16]);
        // 1/2 = 0.111..., in base 3.
        digits((1u128 << 127).to_le_bytes(), &mut out);
        assert_eq!(out, [0; 16]);
    }

    #[test]
    fn a_prefix_does_not_depend_on_the_length() {
        let (mut short, mut long) = (vec![0; 37], vec![0; 1000]);
        ternary(&mut Seed::from_text("p").stream("t", 0), &mut short);
        ternary(&mut Seed::from_text("p").stream("t", 0), &mut long);
        assert_eq!(short, long[..37]);
    }
}
