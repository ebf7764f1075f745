// SPDX-License-Identifier: Apache-2.0
//! Products of 52-bit integers: the trait of the ways to multiply. On eight lanes: [`super::Integers`] with IFMA,
//! [`super::Doubles`] where there is none; on fewer: [`super::NearestDoubles`].

use super::Vector;

/// Sums of products of integers below 2^52, the products below 2^[`Multiply52::PRODUCT_BITS`]. Factors are prepared
/// first, so that those which are used twice are prepared once.
///
/// # Safety
/// Every method uses the instructions of its type: the caller runs in a function with these target features, on a
/// processor that has them.
// The safety section above holds for each method.
#[allow(clippy::missing_safety_doc)]
pub trait Multiply52: Copy {
    /// The registers.
    type V: Vector;
    /// [`Multiply52::add`] adds this much too much to the low sum, modulo 2^64.
    const EXCESS_LOW: u64;
    /// [`Multiply52::add`] adds this much too much to the high sum, modulo 2^64.
    const EXCESS_HIGH: u64;
    /// Products are below two to this power.
    const PRODUCT_BITS: u32;

    /// The low 52 bits of every lane as a factor.
    unsafe fn factor(x: Self::V) -> Self::V;
    /// A word below 2^52 as a factor.
    #[inline(always)]
    unsafe fn residue(x: Self::V) -> Self::V {
        // SAFETY: the caller enabled what `factor` needs, and the word is its low 52 bits.
        unsafe { Self::factor(x) }
    }
    /// The low and the high part of a product added to two sums.
    unsafe fn add(sums: (Self::V, Self::V), x: Self::V, y: Self::V) -> (Self::V, Self::V);
    /// The low 52 bits of the sum of fewer than 2^11 products, without the excess, and what is above them, below 2^52.
    unsafe fn carried(sums: (Self::V, Self::V)) -> (Self::V, Self::V);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::*;

    const MASK: u64 = (1 << 52) - 1;
    #[cfg(target_arch = "x86_64")]
    const NEAREST_BITS: u32 = NearestDoubles::<Avx2>::PRODUCT_BITS;
    #[cfg(target_arch = "aarch64")]
    const NEAREST_BITS: u32 = NearestDoubles::<Neon>::PRODUCT_BITS;

    /// The first lane.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    unsafe fn first<V: Vector>(v: V) -> u64 {
        let mut lanes = [0; MAX_LANES];
        // SAFETY: the caller enabled the features of V; no register has more than eight lanes.
        unsafe { v.store(lanes.as_mut_ptr()) };
        lanes[0]
    }

    /// `first + terms` products, as low 52 bits and what is above.
    ///
    /// # Safety
    /// As [`Multiply52`].
    #[inline(always)]
    unsafe fn sum<M: Multiply52>(start: u64, terms: u64, x: u64, y: u64) -> u128 {
        // SAFETY: the caller has the instructions of M; words go to registers and back by value.
        unsafe {
            let start = start.wrapping_sub(terms.wrapping_mul(M::EXCESS_LOW));
            let high = 0u64.wrapping_sub(terms.wrapping_mul(M::EXCESS_HIGH));
            let mut sums = (M::V::splat(start), M::V::splat(high));
            let (x, y) = (M::factor(M::V::splat(x)), M::factor(M::V::splat(y)));
            for _ in 0..terms {
                sums = M::add(sums, x, y);
            }
            let (low, high) = M::carried(sums);
            assert!(first(low) <= MASK);
            (u128::from(first(high)) << 52) + u128::from(first(low))
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    unsafe fn integers(start: u64, terms: u64, x: u64, y: u64) -> [u128; 3] {
        // SAFETY: this function enables AVX-512 F and IFMA, which is what `Integers` needs.
        unsafe {
            let (a, b) = (Avx512::splat(x), Avx512::splat(y));
            [
                sum::<Integers>(start, terms, x, y),
                first(Integers::low(a, b)).into(),
                first(Integers::high(a, b)).into(),
            ]
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq")]
    unsafe fn doubles(start: u64, terms: u64, x: u64, y: u64) -> [u128; 3] {
        // SAFETY: this function enables AVX-512 F, which is what `Doubles` needs.
        unsafe {
            let factor = |x| Doubles::factor(Avx512::splat(x));
            let (a, b) = (factor(x), factor(y));
            [
                sum::<Doubles>(start, terms, x, y),
                first(Doubles::low(a, b)).into(),
                first(Doubles::high(a, b)).into(),
            ]
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn nearest(start: u64, terms: u64, x: u64, y: u64) -> u128 {
        // SAFETY: this function enables AVX2 and FMA, which is what `Avx2` needs.
        unsafe { sum::<NearestDoubles<Avx2>>(start, terms, x, y) }
    }

    #[cfg(target_arch = "aarch64")]
    unsafe fn nearest(start: u64, terms: u64, x: u64, y: u64) -> u128 {
        // SAFETY: this architecture has NEON, which is what `Neon` needs.
        unsafe { sum::<NearestDoubles<Neon>>(start, terms, x, y) }
    }

    #[test]
    fn products_and_sums_of_them_are_exact() {
        let mut words = vec![
            0,
            1,
            2,
            MASK,
            MASK - 1,
            1 << 51,
            (1 << 51) - 1,
            (1 << 51) + 1,
            1 << 26,
            (1 << 26) + 1,
        ];
        words.extend((1..200u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (k % 40)));
        for (i, &x) in words.iter().enumerate() {
            for &y in &words {
                let product = u128::from(x & MASK) * u128::from(y & MASK);
                let start = MASK - i as u64;
                for terms in [0, 1, 3, (1 << 11) - 1] {
                    let want = u128::from(start) + u128::from(terms) * product;
                    // What is above 52 bits is below 2^52.
                    if want >> 104 != 0 {
                        continue;
                    }
                    let pair = if cfg!(target_arch = "aarch64") {
                        Level::Neon
                    } else {
                        Level::Avx2
                    };
                    // SAFETY: the level is supported.
                    unsafe {
                        if product >> NEAREST_BITS == 0 && pair.is_supported() {
                            let got = nearest(start, terms, x, y);
                            assert_eq!(got, want, "{terms} times {x} times {y}");
                        }
                        #[cfg(target_arch = "x86_64")]
                        {
                            let want = [want, product & u128::from(MASK), product >> 52];
                            if Level::Avx512.is_supported() {
                                assert_eq!(doubles(start, terms, x, y), want, "{x} times {y}");
                            }
                            if Level::Ifma.is_supported() {
                                assert_eq!(integers(start, terms, x, y), want, "{x} times {y}");
                            }
                        }
                    }
                }
            }
        }
    }
}
