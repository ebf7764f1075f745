// SPDX-License-Identifier: Apache-2.0
//! Small signed polynomials as residues.

use rns::{Coeff, RnsBasis, RnsPoly};
use zq::{AlignedVec, Modulus, Word};

/// Signed values to residues of one modulus, in constant time; `bound` is at least every |value|.
pub fn small_limb<W: Word>(modulus: &Modulus<W>, values: &[i64], bound: u64, out: &mut [W]) {
    let q = modulus.value();
    if q.to_u128() <= u128::from(bound) {
        return modulus.reduce_i64_into(out, values);
    }
    // Below q in absolute value, a negative number needs one addition of q.
    for (o, x) in out.iter_mut().zip(values) {
        let negative = W::ZERO.wrapping_sub(W::from_u64(*x as u64 >> 63));
        let sign_extended = W::from_u64(*x as u64) | (negative & !W::from_u64(u64::MAX));
        *o = sign_extended.wrapping_add(q & negative);
    }
}

/// A polynomial of signed values over a basis; `bound` is at least every |value|.
///
/// # Panics
/// If there are not n values.
pub fn small_poly<W: Word>(basis: &RnsBasis<W>, values: &[i64], bound: u64) -> RnsPoly<W, Coeff> {
    assert_eq!(values.len(), basis.n(), "one value for each coefficient");
    let mut data = AlignedVec::for_overwrite(basis.len() * basis.n());
    for (limb, modulus) in data.chunks_exact_mut(basis.n()).zip(basis.moduli()) {
        small_limb(modulus, values, bound, limb);
    }
    RnsPoly::from_data(basis, data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<W: Word>(q: W, bound: u64) {
        let values = [0, 1, -1, 7, -7, bound as i64, -(bound as i64)];
        let modulus = Modulus::new(q).unwrap();
        let (mut fast, mut slow) = (vec![W::ZERO; 7], vec![W::ZERO; 7]);
        small_limb(&modulus, &values, bound, &mut fast);
        modulus.reduce_i64_into(&mut slow, &values);
        assert_eq!(fast, slow, "{q}");
    }

    #[test]
    fn agrees_with_reduction() {
        for bound in [21, 20808, 1 << 40] {
            check(97u64, bound);
            check((1u64 << 61) - 1, bound);
            check(97u128, bound);
            check((1u128 << 127) - 1, bound);
        }
    }
}
