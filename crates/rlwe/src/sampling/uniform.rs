// SPDX-License-Identifier: Apache-2.0
//! Uniform residues of public polynomials, by rejection.

use super::seed::Xof;
use zq::{Modulus, Word};

/// Words per read of the stream.
const BLOCK: usize = 128;

/// Fills `out` with residues uniform modulo `modulus`. Public data only: the time depends on the values rejected.
///
/// Stream layout: successive little-endian words (8 bytes for `u64`, 16 for `u128`), each masked to the modulus's bit
/// length; a word not below the modulus is skipped.
#[inline(never)]
pub fn uniform<W: Word>(stream: &mut Xof, modulus: &Modulus<W>, out: &mut [W]) {
    let width = W::BITS as usize / 8;
    let mask = W::MAX >> (W::BITS - modulus.bits());
    let mut bytes = vec![0u8; width * BLOCK];
    let mut filled = 0;
    while filled < out.len() {
        stream.fill(&mut bytes);
        let words = bytes.chunks_exact(width).map(|b| word::<W>(b) & mask);
        if out.len() - filled >= BLOCK {
            // Write every word and move on only past those that count: no branch to mispredict.
            for value in words {
                out[filled] = value;
                filled += usize::from(value < modulus.value());
            }
            continue;
        }
        for value in words.filter(|value| *value < modulus.value()) {
            let Some(next) = out.get_mut(filled) else {
                break;
            };
            *next = value;
            filled += 1;
        }
    }
}

/// A little-endian word.
#[inline(always)]
fn word<W: Word>(bytes: &[u8]) -> W {
    match <[u8; 8]>::try_from(bytes) {
        Ok(bytes) => W::from_u64(u64::from_le_bytes(bytes)),
        Err(_) => W::from_u128_lossy(bytes.iter().rev().fold(0, |x, b| x << 8 | u128::from(*b))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::sampling::statistics::{chi_square, chi_square_limit};

    #[test]
    fn is_uniform_and_below_the_modulus() {
        // 40 of 64 masked values are accepted.
        let m = Modulus::new(40u64).unwrap();
        let mut out = vec![0; 40_000];
        uniform(&mut Seed::from_text("uniform").stream("t", 0), &m, &mut out);
        let mut counts = [0.0; 40];
        out.iter().for_each(|v| counts[*v as usize] += 1.0);
        let (chi, k) = chi_square(&counts, &[1000.0; 40]);
        assert!(chi < chi_square_limit(k), "chi-square {chi:.1}");
    }

    #[test]
    fn wide_words_work() {
        let q = (1u128 << 109) - 31;
        let m = Modulus::new(q).unwrap();
        let mut out = vec![0; 1000];
        uniform(&mut Seed::from_text("wide").stream("t", 0), &m, &mut out);
        let mean = out.iter().map(|v| *v as f64 / q as f64).sum::<f64>() / 1000.0;
        assert!(out.iter().all(|v| *v < q) && (mean - 0.5).abs() < 0.05);
    }
}
