// SPDX-License-Identifier: Apache-2.0
//! What the hardware's tables hold beside a modulus: its length and the constants that reduce by it.

use crate::Entry;
use isa::{BuildInfo, Reduction};

/// Kinds of table entries, as TABLE_ADDRESS names them.
const MODULUS: u32 = 0;
const RECIPROCAL: u32 = 1;
const LENGTH: u32 = 2;
const CONSTANT: u32 = 3;

/// The writes `(kind, index, 32-bit words)` that fill a table entry; the modulus itself comes last, which makes it valid.
pub(crate) fn entries(info: &BuildInfo, entry: Entry, value: u128) -> Vec<(u32, u32, Vec<u32>)> {
    let words = (info.word_bits + 3).div_ceil(32) as usize;
    let plain = |value: u128| limbs([value, 0], words);
    match entry {
        Entry::Constant(index) => vec![(CONSTANT, index.into(), plain(value))],
        Entry::Modulus(index) => {
            let index = index.into();
            let length = 128 - value.leading_zeros();
            let reciprocal = match info.reduction {
                Reduction::Barrett => {
                    limbs(barrett_reciprocal(value, length, info.word_bits), words)
                }
                Reduction::Montgomery => plain((value - 1) >> info.montgomery_bits),
            };
            vec![
                (RECIPROCAL, index, reciprocal),
                (LENGTH, index, plain(length.into())),
                (MODULUS, index, plain(value)),
            ]
        }
    }
}

fn limbs(value: [u128; 2], words: usize) -> Vec<u32> {
    (0..words)
        .map(|i| (value[i / 4] >> (32 * (i % 4))) as u32)
        .collect()
}

/// floor(2^(k + W + 2) / m) for a modulus of k bits, as low and high halves: W + 3 bits.
///
/// Long division, one bit at a time: the remainder stays below m, so a doubling needs one bit more than 128.
fn barrett_reciprocal(modulus: u128, length: u32, word_bits: u32) -> [u128; 2] {
    let (mut low, mut high, mut remainder) = (0u128, 0u128, 0u128);
    for position in 0..=length + word_bits + 2 {
        let carry = remainder >> 127 == 1;
        remainder = remainder << 1 | u128::from(position == 0);
        high = high << 1 | low >> 127;
        low <<= 1;
        if carry || remainder >= modulus {
            remainder = remainder.wrapping_sub(modulus);
            low |= 1;
        }
    }
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_divide_exactly() {
        for (modulus, word_bits) in [
            (17u128, 14),
            (12289, 14),
            (1073479681, 30),
            ((1 << 60) - 93, 60),
        ] {
            let length = 128 - modulus.leading_zeros();
            let [low, high] = barrett_reciprocal(modulus, length, word_bits);
            assert_eq!(
                (low, high),
                ((1u128 << (length + word_bits + 2)) / modulus, 0),
                "{modulus}"
            );
        }
    }

    #[test]
    fn the_widest_reciprocals_have_131_bits() {
        // 2^258 = (2^130 + 4) (2^128 - 1) + 4.
        assert_eq!(barrett_reciprocal(u128::MAX, 128, 128), [4, 4]);
        // 2^258 / (2^127 + 1) is just below 2^131: W + 3 bits.
        assert_eq!(
            barrett_reciprocal((1 << 127) + 1, 128, 128).map(|half| half >> 126),
            [3, 0]
        );
    }
}
