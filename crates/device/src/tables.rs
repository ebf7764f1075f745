// SPDX-License-Identifier: Apache-2.0
//! Entries of the hardware's tables for a modulus: its reduction constants, for the build's kind of reduction.

use crate::{DeviceError, Entry};
use isa::{BuildInfo, Reduction};
use model::{Conversion, Digit, Lane};
use zq::Modulus;

/// Kinds of table entries, as TABLE_ADDRESS names them.
const MODULUS: u32 = 0;
/// Barrett: floor(2^(k + W + 2) / m). Montgomery: (m - 1) >> w.
const RECIPROCAL: u32 = 1;
/// Barrett: k, the bits of m. Montgomery: -R mod m, which the cyclic inverse needs.
const COMPANION: u32 = 2;
const CONSTANT: u32 = 3;
// Of the base-conversion unit.
const PRIME: u32 = 4;
/// Barrett: {floor(2^(k + W + 2) / q_i), k in 8 bits}.
const PRIME_RECIPROCAL: u32 = 5;
const FACTOR: u32 = 6;
const QUOTIENT: u32 = 7;
const ROW: u32 = 8;
const MULTIPLE: u32 = 9;
const OUTPUT: u32 = 10;
/// Barrett: {floor(2^(k + W + 6) / p_j), k in 8 bits}.
const OUTPUT_RECIPROCAL: u32 = 11;
const SHAPE: u32 = 12;
// Of moves.
const AUTOMORPHISM: u32 = 13;
/// {source lane, offset in 64 bits, bound in 64 bits}.
const DIGIT: u32 = 14;
/// Bits that a sum of products of a base conversion may be longer than one.
const GUARD: u32 = 4;

/// A write that fills (part of) a table entry: kind, index, 32-bit words.
pub(crate) type Write = (u32, u32, Vec<u32>);

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

/// The writes that fill the tables of a base conversion, each with its lane;
/// the shape comes last, which makes it valid.
pub(crate) fn conversion(
    info: &BuildInfo,
    number: u8,
    base: u8,
    conversion: &Conversion,
) -> Vec<(u32, Write)> {
    let shape = conversion.shape();
    let words = (info.word_bits + 15).max(53).div_ceil(32) as usize;
    let (number, base, own) = (u32::from(number), u32::from(base), u32::from(shape.own));
    let mut writes = Vec::new();
    let mut write = |lane: u32, kind, index, value| {
        writes.push((lane, (kind, index, limbs([value, 0], words))));
    };
    for (index, input) in (base + own..).zip(conversion.inputs()) {
        let q = &input.modulus;
        write(0, PRIME, index, q.value());
        write(0, PRIME_RECIPROCAL, index, packed_reciprocal(info, q, 0));
        write(0, FACTOR, index, q.mul(input.factor, radix(info, q, 0)));
        write(0, QUOTIENT, index, input.reciprocal);
    }
    for lane in 0..info.lanes {
        // Lanes without an output prime give 0: any modulus, rows of 0.
        let output = conversion.outputs().get(lane as usize);
        let p = output.map_or(&conversion.inputs()[0].modulus, |output| &output.modulus);
        let row = output.map_or(&[][..], |output| &output.row);
        let kept = shape.own.then(|| output.map_or(0, |output| output.own));
        let zeros = std::iter::repeat(&0);
        let terms = row.iter().chain(zeros).take(usize::from(shape.inputs));
        for (index, &factor) in (base..).zip(kept.iter().chain(terms)) {
            write(lane, ROW, index, p.mul(factor, radix(info, p, GUARD)));
        }
        let correction = output.map_or(0, |output| output.correction);
        for v in 0..=u32::from(shape.inputs) {
            write(
                lane,
                MULTIPLE,
                base + v,
                p.mul(p.reduce(v.into()), correction),
            );
        }
        write(lane, OUTPUT, number, p.value());
        write(
            lane,
            OUTPUT_RECIPROCAL,
            number,
            packed_reciprocal(info, p, GUARD),
        );
    }
    let bits = conversion.min_bits() << 12 | own << 11 | u32::from(shape.inputs) << 7 | base;
    write(
        0,
        SHAPE,
        number,
        u128::from(u32::from(conversion.first()) << 19 | bits),
    );
    writes
}

/// The write that sets an automorphism.
pub(crate) fn automorphism(number: u8, element: u16) -> Write {
    (AUTOMORPHISM, number.into(), vec![element.into()])
}

/// The writes that fill the tables of a digit, lane after lane; the last one makes it valid.
pub(crate) fn digit(info: &BuildInfo, number: u8, digit: &Digit) -> Vec<Write> {
    let mask = (1u128 << info.word_bits) - 1;
    let write = |share: &model::Share| {
        let low = share.bound | (share.offset & mask) << 64;
        (DIGIT, number.into(), limbs([low, share.from.into()], 5))
    };
    digit.shares().iter().map(write).collect()
}

/// Montgomery factor that the reduction of a sum removes; 1 with Barrett.
fn radix(info: &BuildInfo, modulus: &Modulus<u128>, guard: u32) -> u128 {
    let word = info.montgomery_bits;
    match info.reduction {
        Reduction::Barrett => 1,
        Reduction::Montgomery => {
            let bits = word * (info.word_bits + guard).div_ceil(word);
            modulus.pow(modulus.reduce(2), bits.into())
        }
    }
}

/// Barrett's reciprocal and the modulus's bits in one word; unused with Montgomery.
fn packed_reciprocal(info: &BuildInfo, modulus: &Modulus<u128>, guard: u32) -> u128 {
    let bits = modulus.bits();
    match info.reduction {
        // Words are of 64 bits at most where bases are converted.
        Reduction::Barrett => {
            let [low, _] = barrett_reciprocal(modulus.value(), bits, info.word_bits + guard);
            low << 8 | u128::from(bits)
        }
        Reduction::Montgomery => 0,
    }
}

/// The entries RECIPROCAL and COMPANION of a modulus, as low and high halves.
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

    /// The entries of a modulus on a build of 14-bit words: with Montgomery w = 5, so R = 2^15.
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

    /// Words of 14 bits: with Montgomery w = 5, so R = 2^15 for a product and 2^20 for a sum.
    #[test]
    fn a_conversion_becomes_words_of_its_reduction() {
        let [q, p] = [97u128, 193].map(|m| Modulus::new(m).unwrap());
        let scale = Conversion::scale(1, &[q], &[p], 3).unwrap();
        let barrett = BuildInfo {
            word_bits: 14,
            ..crate::tests::build()
        };
        let montgomery = BuildInfo {
            reduction: Reduction::Montgomery,
            montgomery_bits: 5,
            ..barrett.clone()
        };
        let (inverse, kept) = (p.inv_vt(97).unwrap(), p.mul(3, p.inv_vt(97).unwrap()));
        for (info, r, sum_r) in [(&barrett, 1, 1), (&montgomery, 1 << 15, 1 << 20)] {
            let written = conversion(info, 3, 5, &scale);
            let find = |lane: u32, kind: u32, index: u32| -> u128 {
                let same =
                    |(at, write): &&(u32, Write)| (*at, write.0, write.1) == (lane, kind, index);
                let (_, (_, _, words)) = written.iter().find(same).unwrap();
                words
                    .iter()
                    .rev()
                    .fold(0, |value, &word| value << 32 | u128::from(word))
            };
            assert_eq!((find(0, PRIME, 6), find(0, FACTOR, 6)), (97, 3 * r % 97));
            assert_eq!(find(0, QUOTIENT, 6), ((1 << 58) + 48) / 97);
            assert_eq!(
                (find(0, ROW, 5), find(1, ROW, 5)),
                (p.mul(kept, p.reduce(sum_r)), 0)
            );
            assert_eq!(find(0, ROW, 6), p.mul(p.neg(inverse), p.reduce(sum_r)));
            assert_eq!([0, 1].map(|v| find(0, MULTIPLE, 5 + v)), [0, 1]);
            assert_eq!((find(0, OUTPUT, 3), find(1, OUTPUT, 3)), (193, 97));
            let aux = [
                (PRIME_RECIPROCAL, 6, 97u128, 7, 23),
                (OUTPUT_RECIPROCAL, 3, 193, 8, 28),
            ];
            for (kind, index, m, bits, scale) in aux {
                let expected = if r == 1 {
                    ((1 << scale) / m) << 8 | bits
                } else {
                    0
                };
                assert_eq!(find(0, kind, index), expected);
            }
            let last = written.last().unwrap();
            let shape = 1 << 19 | 7 << 12 | 1 << 11 | 1 << 7 | 5;
            assert_eq!(last, &(0, (SHAPE, 3, vec![shape, 0])));
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
