// SPDX-License-Identifier: Apache-2.0
//! Centred binomial errors.

use super::seed::Xof;
use zq::memory::wipe;

/// Largest η: the standard deviation sqrt(η/2) then is 102.
pub const MAX_ETA: u32 = 20808;

/// Samples handled per read of the stream.
const BLOCK: usize = 256;

/// Fills `out` with centred binomial values of parameter `eta` (1..=[`MAX_ETA`]): the difference of two sums of η bits,
/// mean 0, variance η/2, range −η..=η.
///
/// Stream layout: per value ⌈η/8⌉ bytes for the positive sum, then ⌈η/8⌉ for the negative one; spare high bits of
/// the last byte of each are ignored. Constant time.
pub fn binomial(stream: &mut Xof, eta: u32, out: &mut [i64]) {
    assert!(
        (1..=MAX_ETA).contains(&eta),
        "eta is checked by ErrorDistribution"
    );
    let half = eta.div_ceil(8) as usize;
    if half == 3 {
        binomial_24(stream, eta, out)
    } else {
        binomial_any(stream, eta, out)
    }
}

/// 17 ≤ η ≤ 24, the default among them: both halves of a value fit one 64-bit word.
fn binomial_24(stream: &mut Xof, eta: u32, out: &mut [i64]) {
    // Two bytes beyond the last value's six, so that every value is read as a whole word.
    let mut bytes = [0u8; 6 * BLOCK + 2];
    let mut words = [0u64; BLOCK];
    for block in out.chunks_mut(BLOCK) {
        stream.fill(&mut bytes[..6 * block.len()]);
        for (i, word) in words[..block.len()].iter_mut().enumerate() {
            *word = u64::from_le_bytes(bytes[6 * i..6 * i + 8].try_into().expect("8 bytes"));
        }
        differences(&words[..block.len()], (1 << eta) - 1, block);
    }
    wipe(&mut bytes);
    wipe(&mut words);
}

/// Ones among the bits 0.. of each word minus ones among its bits 24.., both under `mask`.
///
/// Counted in both halves of one word at once (the usual sums of neighbours), because a population count is neither in
/// the base instruction set nor in its vectors; this form vectorises everywhere.
fn differences(words: &[u64], mask: u64, out: &mut [i64]) {
    const PAIRS: u64 = 0x5555_5555_5555_5555;
    const NIBBLES: u64 = 0x3333_3333_3333_3333;
    const BYTES: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    for (value, word) in out.iter_mut().zip(words) {
        let mut x = (word & mask) | ((word >> 24) & mask) << 32;
        x -= (x >> 1) & PAIRS;
        x = (x & NIBBLES) + ((x >> 2) & NIBBLES);
        x = (x + (x >> 4)) & BYTES;
        x += x >> 8;
        x += x >> 16;
        // The sums stand in the lowest byte of each half; at most 24, so nothing carries between the halves.
        *value = (x & 0x3f) as i64 - ((x >> 32) & 0x3f) as i64;
    }
}

/// Any η, byte by byte.
fn binomial_any(stream: &mut Xof, eta: u32, out: &mut [i64]) {
    let half = eta.div_ceil(8) as usize;
    let last = 0xff >> (8 * half as u32 - eta);
    let mut bytes = vec![0u8; 2 * half];
    let ones = |b: &[u8]| -> i64 {
        let sum: u32 = b.iter().map(|x| x.count_ones()).sum();
        (sum - (b[half - 1] & !last).count_ones()) as i64
    };
    for value in out {
        stream.fill(&mut bytes);
        *value = ones(&bytes[..half]) - ones(&bytes[half..]);
    }
    wipe(&mut bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::sampling::statistics::{chi_square, chi_square_limit};

    fn probabilities(eta: u32) -> Vec<f64> {
        // C(2η, η+k) / 4^η by the ratio of neighbours, from the largest term.
        let m = 2 * eta as usize;
        let mut row = vec![1.0f64];
        for _ in 0..m {
            let mut next = vec![0.0; row.len() + 1];
            for (i, p) in row.iter().enumerate() {
                next[i] += p / 2.0;
                next[i + 1] += p / 2.0;
            }
            row = next;
        }
        row
    }

    #[test]
    fn distribution_matches_for_several_eta() {
        for eta in [1, 2, 7, 8, 16, 17, 21, 24, 40] {
            let mut out = vec![0; 60_000];
            binomial(
                &mut Seed::from_text("cbd").stream("t", u64::from(eta)),
                eta,
                &mut out,
            );
            let expected: Vec<f64> = probabilities(eta)
                .iter()
                .map(|p| p * out.len() as f64)
                .collect();
            let mut counts = vec![0.0; expected.len()];
            out.iter()
                .for_each(|v| counts[(v + i64::from(eta)) as usize] += 1.0);
            let (chi, k) = chi_square(&counts, &expected);
            assert!(
                chi < chi_square_limit(k),
                "eta {eta}: chi-square {chi:.1} with {k} degrees"
            );
        }
    }

    #[test]
    fn the_two_layouts_agree() {
        for eta in [17, 21, 24] {
            let (mut a, mut b) = (vec![0; 1000], vec![0; 1000]);
            binomial_24(&mut Seed::from_text("l").stream("t", 0), eta, &mut a);
            binomial_any(&mut Seed::from_text("l").stream("t", 0), eta, &mut b);
            assert_eq!(a, b);
        }
    }

    #[test]
    fn wide_errors_have_the_right_deviation() {
        let mut out = vec![0; 4000];
        binomial(
            &mut Seed::from_text("wide").stream("t", 0),
            MAX_ETA,
            &mut out,
        );
        let var = out.iter().map(|v| (v * v) as f64).sum::<f64>() / out.len() as f64;
        assert!(
            (var.sqrt() / 102.0 - 1.0).abs() < 0.05,
            "sigma {}",
            var.sqrt()
        );
    }
}
