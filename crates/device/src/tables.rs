// SPDX-License-Identifier: Apache-2.0
//! What the hardware's tables hold beside a modulus: the numbers that reduce by it, in the form of the build's reduction.

use crate::{DeviceError, Entry};
use isa::{BuildInfo, Reduction};
use model::Lane;
use zq::Modulus;

/// Kinds of table entries, as TABLE_ADDRESS names them.
const MODULUS: u32 = 0;
/// Barrett: floor(2^(k + W + 2) / m). Montgomery: (m - 1) >> w.
const RECIPROCAL: u32 = 1;
/// Barrett: k, the bits of m. Montgomery: -R mod m, which the cyclic inverse needs.
const COMPANION: u32 = 2;
const CONSTANT: u32 = 3;

/// A write that fills (part of) a table entry: kind, index, 32-bit words.
type Write = (u32, u32, Vec<u32>);

/// The writes that fill a table entry; the modulus itself comes last, which makes it valid.
///
/// # Errors
/// A modulus below 2.
pub(crate) fn entries(
    info: &BuildInfo,
    entry: Entry,
    value: u128,
) -> Result<Vec<Write>, DeviceError> {
    let words = (info.word_bits + 3).div_ceil(32) as usize;
    let kinds = match entry {
        Entry::Constant(_) => vec![(CONSTANT, [value, 0])],
        Entry::Modulus(_) => {
            let modulus =
                Modulus::new(value).map_err(|error| DeviceError::data(error.to_string()))?;
            let [reciprocal, companion] = helpers(info, modulus);
            vec![
                (RECIPROCAL, reciprocal),
                (COMPANION, companion),
                (MODULUS, [value, 0]),
            ]
        }
    };
    let (Entry::Constant(index) | Entry::Modulus(index)) = entry;
    let write = |(kind, value)| (kind, index.into(), limbs(value, words));
    Ok(kinds.into_iter().map(write).collect())
}

/// What stands beside a modulus: RECIPROCAL and COMPANION, as low and high halves.
fn helpers(info: &BuildInfo, modulus: Modulus<u128>) -> [[u128; 2]; 2] {
    let value = modulus.value();
    match info.reduction {
        Reduction::Barrett => {
            let length = 128 - value.leading_zeros();
            let reciprocal = barrett_reciprocal(value, length, info.word_bits);
            [reciprocal, [length.into(), 0]]
        }
        Reduction::Montgomery => [
            [(value - 1) >> info.montgomery_bits, 0],
            [Lane::new(info, modulus).minus_one(), 0],
        ],
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

    /// What a modulus brings along on a build of 14-bit words: with Montgomery w = 5, so R = 2^15.
    #[test]
    fn a_modulus_brings_what_its_reduction_needs() {
        let barrett = BuildInfo {
            word_bits: 14,
            ..crate::tests::build()
        };
        let montgomery = BuildInfo {
            reduction: Reduction::Montgomery,
            montgomery_bits: 5,
            ..barrett.clone()
        };
        let written = |info: &BuildInfo, m| entries(info, Entry::Modulus(1), m).unwrap();
        for m in [97u128, 193, 16097] {
            let (length, mu) = (m.ilog2() + 1, (1u128 << (m.ilog2() + 17)) / m);
            let minus_r = m - (1u128 << 15) % m;
            for (info, one, two) in [
                (&barrett, mu, u128::from(length)),
                (&montgomery, m >> 5, minus_r),
            ] {
                let entry = |kind, value: u128| (kind, 1, vec![value as u32]);
                let expected = [entry(1, one), entry(2, two), entry(0, m)];
                assert_eq!(written(info, m), expected, "{:?}, {m}", info.reduction);
            }
        }
        assert!(entries(&barrett, Entry::Modulus(0), 0).is_err());
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
