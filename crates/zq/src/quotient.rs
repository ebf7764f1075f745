// SPDX-License-Identifier: Apache-2.0
//! Which moduli the fixed-point quotient of base conversion is exact enough for.

use crate::{Modulus, Word, ZqError};

/// Bits by which `Σ_i 2^bits(q_i)` may exceed the least of its terms. The quotient's reciprocals have 52 bits for the
/// narrowest modulus, and fewer for each wider one: it may be wrong within `2^(40 - 52)` of a tie.
const MOST_BITS: u32 = 40;

/// Fails where the quotient of `docs/arithmetic.md`, of moduli that are converted together, may be wrong by more than
/// it says there: if their widths differ by more than `40 - ceil(log2 L)` bits, `L` moduli.
///
/// # Errors
/// [`ZqError::WidthsTooFarApart`].
#[inline(never)]
pub fn check_quotient<W: Word>(moduli: &[Modulus<W>]) -> Result<(), ZqError> {
    let widths = || moduli.iter().map(Modulus::bits);
    let (narrowest, widest) = (widths().min().unwrap_or(0), widths().max().unwrap_or(0));
    let count = moduli.len();
    let most = MOST_BITS.saturating_sub(count.next_power_of_two().trailing_zeros());
    match widest - narrowest <= most {
        true => Ok(()),
        false => Err(ZqError::WidthsTooFarApart {
            count,
            narrowest,
            widest,
            most,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<W: Word>(widths: &[u32]) -> Result<(), ZqError> {
        let modulus = |bits: &u32| Modulus::new(W::from_u128_lossy((1 << (bits - 1)) + 1)).unwrap();
        check_quotient(&widths.iter().map(modulus).collect::<Vec<_>>())
    }

    #[test]
    fn widths_may_differ_by_forty_bits_less_the_logarithm_of_their_number() {
        assert_eq!(check::<u64>(&[]), Ok(()));
        assert_eq!(check::<u128>(&[109]), Ok(()));
        assert_eq!(check::<u64>(&[60, 21]), Ok(()));
        assert_eq!(check::<u128>(&[60, 22, 60, 60]), Ok(()));
        let refused = |widths: &[u32]| check::<u128>(widths).unwrap_err().to_string();
        assert_eq!(
            refused(&[60, 20]),
            "2 moduli of 20 to 60 bits cannot be converted together: their widths may differ by 39 bits"
        );
        assert!(refused(&[21, 60, 60]).ends_with("by 38 bits"));
        assert!(refused(&[21, 60, 60, 60, 60, 60, 60, 60]).ends_with("by 37 bits"));
        assert!(refused(&[109, 54]).contains("54 to 109 bits"));
    }
}
