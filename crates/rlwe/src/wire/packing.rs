// SPDX-License-Identifier: Apache-2.0
//! Residues packed at the width of their modulus.

use super::envelope::WireError;
use zq::{Modulus, Word};

/// Bytes that `count` values of `bits` bits take, or `None` when that overflows.
pub fn packed_len(count: usize, bits: u32) -> Option<usize> {
    count.checked_mul(bits as usize).map(|b| b.div_ceil(8))
}

/// Values of a group: `GROUP` values of b bits take b whole bytes, so every group begins at a byte.
const GROUP: usize = 8;

/// Bytes from a group's first on that the words of its values lie within, at any width up to [`WITHIN_A_WORD`].
const WINDOW: usize = 72;

/// Offsets of a group's values: bytes from the group's first byte, and bits within that byte.
fn places(bits: u32) -> [(usize, u32); GROUP] {
    std::array::from_fn(|j| {
        let bit = j * bits as usize;
        // The mask changes nothing and lets the compiler see that a word lies within the window.
        ((bit / 8) & (WINDOW - 9), (bit % 8) as u32)
    })
}

/// The number of groups in `values` whose windows end within `bytes`.
fn groups_within(values: usize, bytes: usize, bits: u32) -> usize {
    match bytes.checked_sub(WINDOW) {
        Some(last) if bits <= WITHIN_A_WORD => (values / GROUP).min(last / bits as usize + 1),
        _ => 0,
    }
}

/// Appends `values`, each below 2^bits, lowest bit first; the last byte is padded with zeros.
pub(super) fn pack<W: Word>(values: &[W], bits: u32, out: &mut Vec<u8>) {
    let start = out.len();
    let len = packed_len(values.len(), bits).expect("the bytes of values in memory can be counted");
    out.resize(start + len, 0);
    let bytes = &mut out[start..];
    let groups = groups_within(values.len(), len, bits);
    let (grouped, rest) = values.split_at(groups * GROUP);
    let places = places(bits);
    for (number, group) in grouped.chunks_exact(GROUP).enumerate() {
        let at = number * bits as usize;
        if let (Some(window), Ok(group)) = (bytes[at..].first_chunk_mut(), group.try_into()) {
            pack_group(group, &places, window);
        }
    }
    pack_one_by_one(rest, bits, &mut bytes[groups * bits as usize..]);
}

/// Writes the words of a group from its first byte on; bits beyond the group are written as zero, for the next group to
/// overwrite.
#[inline(always)]
fn pack_group<W: Word>(
    group: &[W; GROUP],
    places: &[(usize, u32); GROUP],
    window: &mut [u8; WINDOW],
) {
    let (mut carry, mut from) = (0u64, 0);
    for j in 0..GROUP {
        let (byte, shift) = places[j];
        // Bits of the value before that lie in this one's first byte.
        carry = (carry >> (8 * (byte - from))) | (group[j].low_u64() << shift);
        window[byte..byte + 8].copy_from_slice(&carry.to_le_bytes());
        from = byte;
    }
}

/// Writes values of any width from the first bit of `out` on.
fn pack_one_by_one<W: Word>(values: &[W], bits: u32, out: &mut [u8]) {
    // `held` < 64 bits wait in `carry`.
    let (mut carry, mut held, mut at) = (0u64, 0u32, 0);
    let mut put = |piece: u64, width: u32| {
        carry |= piece << held;
        held += width;
        if held >= u64::BITS {
            out[at..at + 8].copy_from_slice(&carry.to_le_bytes());
            at += 8;
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
    let left = held.div_ceil(8) as usize;
    out[at..at + left].copy_from_slice(&carry.to_le_bytes()[..left]);
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
    let groups = groups_within(out.len(), bytes.len(), bits);
    let (grouped, rest) = out.split_at_mut(groups * GROUP);
    let (places, mask) = (places(bits), u64::MAX >> u64::BITS.saturating_sub(bits));
    let mut is_reduced = true;
    for (number, group) in grouped.chunks_exact_mut(GROUP).enumerate() {
        let at = number * bits as usize;
        if let (Some(window), Ok(group)) = (bytes[at..].first_chunk(), group.try_into()) {
            is_reduced &= unpack_group(window, &places, mask, modulus.value(), group);
        }
    }
    let mut at = groups * GROUP * bits as usize;
    for value in rest {
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

/// Reads a group; whether all of it is below `modulus`.
#[inline(always)]
fn unpack_group<W: Word>(
    window: &[u8; WINDOW],
    places: &[(usize, u32); GROUP],
    mask: u64,
    modulus: W,
    group: &mut [W; GROUP],
) -> bool {
    let mut is_reduced = true;
    for j in 0..GROUP {
        let (byte, shift) = places[j];
        let word = window[byte..byte + 8].try_into().expect("8 bytes");
        group[j] = W::from_u64((u64::from_le_bytes(word) >> shift) & mask);
        is_reduced &= group[j] < modulus;
    }
    is_reduced
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

    fn round_trip<W: Word>(q: W, count: usize) {
        let m = Modulus::new(q).unwrap();
        let top = q.wrapping_sub(W::ONE);
        let values: Vec<W> = (0..count as u64)
            .map(|i| {
                if i % 3 == 0 {
                    top
                } else {
                    m.reduce_u64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                }
            })
            .collect();
        let mut bytes = vec![7];
        pack(&values, m.bits(), &mut bytes);
        let len = packed_len(count, m.bits()).unwrap();
        let mut plainly = vec![0; len];
        pack_one_by_one(&values, m.bits(), &mut plainly);
        assert_eq!(bytes[0], 7);
        assert!(bytes[1..] == plainly, "{count} values of {} bits", m.bits());
        let mut back = vec![W::ZERO; count];
        unpack(&plainly, &m, 0, &mut back).unwrap();
        assert!(values == back, "{count} values of {} bits", m.bits());
    }

    #[test]
    fn widths_round_trip() {
        for count in [0, 1, 8, 37, 97, 300] {
            for bits in 2..=62 {
                round_trip::<u64>((1 << bits) - 1, count);
            }
            for bits in [2, 57, 58, 62, 63, 64, 109, 127, 128] {
                round_trip::<u128>(u128::MAX >> (128 - bits), count);
            }
        }
    }

    #[test]
    fn a_residue_at_the_modulus_is_found_wherever_it_stands() {
        let m = Modulus::new((1u64 << 36) - 5).unwrap();
        for place in 0..100 {
            let mut values = [m.value() - 1; 100];
            values[place] = m.value();
            let mut bytes = Vec::new();
            pack(&values, m.bits(), &mut bytes);
            let read = unpack(&bytes, &m, 3, &mut [0; 100]);
            assert_eq!(read, Err(WireError::Residue { limb: 3 }), "{place}");
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
