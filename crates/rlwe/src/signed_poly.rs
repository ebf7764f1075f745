// SPDX-License-Identifier: Apache-2.0
//! Small signed polynomials as residues.

use std::fmt;

use ntt::{NttPlan, Shift};
use rns::{Coeff, RnsBasis, RnsPoly};
use zeroize::Zeroizing;
use zq::{AlignedVec, Modulus, Word};

/// Signed values to residues of one modulus, in constant time; `bound` is at least every |value|.
fn small_limb<W: Word>(modulus: &Modulus<W>, values: &[i64], bound: u64, out: &mut [W]) {
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
#[inline(never)]
pub fn signed_poly<W: Word>(basis: &RnsBasis<W>, values: &[i64], bound: u64) -> RnsPoly<W, Coeff> {
    assert_eq!(values.len(), basis.n(), "one value for each coefficient");
    let mut data = AlignedVec::for_overwrite(basis.len() * basis.n());
    for (limb, modulus) in data.chunks_exact_mut(basis.n()).zip(basis.moduli()) {
        small_limb(modulus, values, bound, limb);
    }
    RnsPoly::from_data(basis, data)
}

/// A polynomial of small signed values that is transformed modulo one prime after another. Wiped when dropped.
pub struct SignedPoly {
    /// The values modulo 2^62.
    words: Zeroizing<AlignedVec<u64>>,
    bound: u64,
}

/// Bits of the words of a [`SignedPoly`]: lifts compare words as signed numbers.
const WORD_BITS: u32 = 62;

impl SignedPoly {
    /// The `n` values that `fill` writes; `bound`, below 2^61, is at least every |value|.
    pub fn new(n: usize, bound: u64, fill: impl FnOnce(&mut [i64])) -> Self {
        assert!(bound >> (WORD_BITS - 1) == 0, "the bound is 2^61 or more");
        let mut words = Zeroizing::new(AlignedVec::for_overwrite(n));
        fill(words.as_i64s_mut());
        for word in words.iter_mut() {
            *word &= (1 << WORD_BITS) - 1;
        }
        Self { words, bound }
    }

    /// Evaluation form modulo the plan's prime, in constant time.
    ///
    /// # Panics
    /// If `out` is not of length n, or the plan is for another.
    pub fn transform(&self, plan: &NttPlan<u64>, out: &mut [u64]) {
        let q = plan.modulus().value();
        let (threshold, shift) = (1 << (WORD_BITS - 1), q.wrapping_sub(1 << WORD_BITS));
        if q > self.bound {
            return plan.forward_from(&self.words, Some(Shift { threshold, shift }), out);
        }
        plan.modulus().reduce_i64_into(out, &self.values());
        plan.forward(out);
    }

    /// The residues modulo each prime of a basis, in constant time.
    ///
    /// # Panics
    /// If the basis is of another degree.
    #[inline(never)]
    pub fn residues<W: Word>(&self, basis: &RnsBasis<W>) -> RnsPoly<W, Coeff> {
        signed_poly(basis, &self.values(), self.bound)
    }

    fn values(&self) -> Zeroizing<Vec<i64>> {
        let value = |&word: &u64| ((word << (64 - WORD_BITS)) as i64) >> (64 - WORD_BITS);
        Zeroizing::new(self.words.iter().map(value).collect())
    }
}

impl fmt::Debug for SignedPoly {
    /// No values: they are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedPoly").finish_non_exhaustive()
    }
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

    #[test]
    fn transforms_of_small_polynomials_equal_those_of_their_residues() {
        for (n, q) in [
            (8usize, 97u64),
            (64, 769),
            (4096, 35_184_371_884_033),
            (16384, 65_537),
        ] {
            let bound = 20_808;
            let fill = |out: &mut [i64]| {
                for (i, x) in out.iter_mut().enumerate() {
                    *x = (i as i64 * 7919) % (bound as i64 + 1) * if i % 2 == 0 { 1 } else { -1 };
                }
                (out[0], out[1]) = (bound as i64, -(bound as i64));
            };
            let modulus = Modulus::new(q).unwrap();
            let plan = NttPlan::new(modulus, n).unwrap();
            let (mut values, mut want, mut got) = (vec![0; n], vec![0; n], vec![0; n]);
            fill(&mut values);
            modulus.reduce_i64_into(&mut want, &values);
            let poly = SignedPoly::new(n, bound, fill);
            let basis = RnsBasis::new(n, &[q]).unwrap();
            assert!(poly.residues(&basis).data() == want, "n = {n}, q = {q}");
            plan.forward(&mut want);
            poly.transform(&plan, &mut got);
            assert!(got == want, "n = {n}, q = {q}");
        }
    }

    #[test]
    #[should_panic(expected = "the bound is 2^61 or more")]
    fn bounds_are_bounded() {
        SignedPoly::new(8, 1 << 61, |_| ());
    }
}
