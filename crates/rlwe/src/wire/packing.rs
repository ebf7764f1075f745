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
    // `held` < 8 bits wait in `carry`; a value is cut in pieces of at most 56 bits so that all fits a u64.
    let (mut carry, mut held) = (0u64, 0u32);
    for &value in values {
        let (mut rest, mut left) = (value.to_u128(), bits);
        while left > 0 {
            let take = left.min(56);
            carry |= (rest as u64 & ((1 << take) - 1)) << held;
            held += take;
            (rest, left) = (rest >> take, left - take);
            while held >= 8 {
                out.push(carry as u8);
                (carry, held) = (carry >> 8, held - 8);
            }
        }
    }
    if held > 0 {
        out.push(carry as u8);
    }
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
    let mut input = bytes.iter();
    let (mut carry, mut held) = (0u64, 0u32);
    for value in out {
        let (mut v, mut have) = (0u128, 0u32);
        while have < bits {
            let take = (bits - have).min(56);
            while held < take {
                carry |= u64::from(*input.next().expect("length was checked")) << held;
                held += 8;
            }
            v |= u128::from(carry & ((1 << take) - 1)) << have;
            (carry, held, have) = (carry >> take, held - take, have + take);
        }
        *value = W::from_u128_lossy(v);
        if *value >= modulus.value() {
            return Err(WireError::Residue { limb });
        }
    }
    if carry != 0 {
        return Err(WireError::Value {
            what: "the padding after residues",
            got: carry,
            allowed: "0".into(),
        });
    }
    Ok(())
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
