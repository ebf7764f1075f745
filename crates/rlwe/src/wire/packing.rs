// SPDX-License-Identifier: Apache-2.0
//! Residues packed at the width of their modulus.

use super::WireError;
use zq::{Modulus, Word};

/// Bytes that `count` values of `bits` bits take, or `None` when that overflows.
pub fn packed_len(count: usize, bits: u32) -> Option<usize> {
    count.checked_mul(bits as usize).map(|b| b.div_ceil(8))
}

/// Appends `values`, each below 2^bits, lowest bit first; the last byte is padded with zeros.
pub(super) fn pack<W: Word>(values: &[W], bits: u32, out: &mut Vec<u8>) {
    // `held` < 64 bits wait in `carry`.
    let (mut carry, mut held) = (0u64, 0u32);
    let mut put = |piece: u64, width: u32| {
        carry |= piece << held;
        held += width;
        if held >= u64::BITS {
            out.extend_from_slice(&carry.to_le_bytes());
            held -= u64::BITS;
            carry = piece.checked_shr(width - held).unwrap_or(0);
        }
    };
    for &value in values {
        let low = bits.min(u64::BITS);
        put(value.low_u64(), low);
        if bits > low {
            put((value.to_u128() >> u64::BITS) as u64, bits - low);
        }
    }
    out.extend_from_slice(&carry.to_le_bytes()[..held.div_ceil(8) as usize]);
}

/// Reads `out.len()` values of modulus `modulus` (number `limb` of its chain) from exactly the bytes they take.
pub(super) fn unpack<W: Word>(
    bytes: &[u8],
    modulus: &Modulus<W>,
    limb: usize,
    out: &mut [W],
) -> Result<(), WireError> {
    let bits = modulus.bits();
    debug_assert_eq!(Some(bytes.len()), packed_len(out.len(), bits));
    let (mut at, mut is_reduced) = (0, true);
    for value in &mut *out {
        *value = match bits {
            0..=WITHIN_A_WORD => W::from_u64(word_at(bytes, at, bits)),
            _ => W::from_u128_lossy(wide_at(bytes, at, bits)),
        };
        at += bits as usize;
        is_reduced &= *value < modulus.value();
    }
    if !is_reduced {
        return Err(WireError::Residue { limb });
    }
    match bytes.get(at / 8).map_or(0, |last| last >> (at % 8)) {
        0 => Ok(()),
        dirty => Err(WireError::Value {
            what: "the padding after residues",
            got: dirty.into(),
            allowed: "0".into(),
        }),
    }
}

/// Bits of a value that lies within eight bytes wherever in a byte it starts.
const WITHIN_A_WORD: u32 = 57;

/// The value of up to [`WITHIN_A_WORD`] bits from bit `at` on.
fn word_at(bytes: &[u8], at: usize, bits: u32) -> u64 {
    let word = bytes.get(at / 8..).and_then(|rest| rest.first_chunk());
    match word {
        Some(word) => (u64::from_le_bytes(*word) >> (at % 8)) & (u64::MAX >> (u64::BITS - bits)),
        None => wide_at(bytes, at, bits) as u64,
    }
}

/// The value from bit `at` on, byte by byte.
fn wide_at(bytes: &[u8], at: usize, bits: u32) -> u128 {
    let (first, shift) = (at / 8, (at % 8) as u32);
    let last = (at + bits as usize).div_ceil(8);
    let value = u128::from(bytes[first] >> shift);
    let rest = (8 - shift..).step_by(8).zip(&bytes[first + 1..last]);
    let value = rest.fold(value, |value, (place, byte)| {
        value | (u128::from(*byte) << place)
    });
    value & (u128::MAX >> (u128::BITS - bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<W: Word>(q: W) {
        let m = Modulus::new(q).unwrap();
        let top = q.wrapping_sub(W::ONE);
        let values: Vec<W> = (0..37)
            .map(|i| {
                if i % 3 == 0 {
                    top
                } else {
                    m.reduce_u64(i * 0x9e37_79b9)
                }
            })
            .collect();
        let mut bytes = Vec::new();
        pack(&values, m.bits(), &mut bytes);
        assert_eq!(bytes.len(), packed_len(37, m.bits()).unwrap());
        let mut back = vec![W::ZERO; 37];
        unpack(&bytes, &m, 0, &mut back).unwrap();
        assert_eq!(values, back);
    }

    #[test]
    fn widths_round_trip() {
        for bits in 2..=62 {
            round_trip::<u64>((1 << bits) - 1);
        }
        for bits in [62, 63, 64, 109, 127, 128] {
            round_trip::<u128>(u128::MAX >> (128 - bits));
        }
    }

    #[test]
    fn residues_at_the_modulus_and_dirty_padding_are_refused() {
        let m = Modulus::new(13u64).unwrap();
        let mut out = [0; 1];
        assert_eq!(
            unpack(&[13], &m, 5, &mut out),
            Err(WireError::Residue { limb: 5 })
        );
        assert!(matches!(
            unpack(&[0x1c], &m, 0, &mut out),
            Err(WireError::Value { got: 1, .. })
        ));
        assert_eq!(unpack(&[12], &m, 0, &mut out), Ok(()));
    }
}
