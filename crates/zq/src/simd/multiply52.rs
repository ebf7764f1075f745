// SPDX-License-Identifier: Apache-2.0
//! Products of 52-bit integers: on eight lanes with IFMA, or with fused multiply-add of doubles where there is none.
//! On four lanes: [`super::NearestDoubles`].

use core::arch::x86_64::*;

use super::{Avx512, Ifma, Vector};

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

/// Both halves of single products.
///
/// # Safety
/// As [`Multiply52`].
// The safety section above holds for each method.
#[allow(clippy::missing_safety_doc)]
pub trait Halves: Multiply52<V = Avx512> {
    /// The low 52 bits of a product.
    unsafe fn low(x: Avx512, y: Avx512) -> Avx512;
    /// The high 52 bits of a product.
    unsafe fn high(x: Avx512, y: Avx512) -> Avx512;
}

/// [`Multiply52::carried`] of sums of low and high 52 bits.
#[inline(always)]
unsafe fn carried((low, high): (Avx512, Avx512)) -> (Avx512, Avx512) {
    // SAFETY: every caller is a method of `Multiply52` and has AVX-512 F; registers only.
    unsafe { (low.and(Avx512::splat(MASK)), high.add(low.shr::<52>())) }
}

/// AVX-512 IFMA.
#[derive(Clone, Copy)]
pub struct Integers;

// Bodies call intrinsics of AVX-512 F and IFMA, which the caller guarantees.
impl Multiply52 for Integers {
    type V = Avx512;
    const EXCESS_LOW: u64 = 0;
    const EXCESS_HIGH: u64 = 0;
    const PRODUCT_BITS: u32 = 104;

    #[inline(always)]
    unsafe fn factor(x: Avx512) -> Avx512 {
        x
    }
    #[inline(always)]
    unsafe fn add((low, high): (Avx512, Avx512), x: Avx512, y: Avx512) -> (Avx512, Avx512) {
        // SAFETY: the caller enabled AVX-512 IFMA, which has both products; registers only.
        unsafe { (low.madd_lo(x, y), high.madd_hi(x, y)) }
    }
    #[inline(always)]
    unsafe fn carried(sums: (Avx512, Avx512)) -> (Avx512, Avx512) {
        // SAFETY: the caller enabled AVX-512 F, all that `carried` needs.
        unsafe { carried(sums) }
    }
}

// Bodies call intrinsics of AVX-512 F and IFMA, which the caller guarantees.
impl Halves for Integers {
    #[inline(always)]
    unsafe fn low(x: Avx512, y: Avx512) -> Avx512 {
        // SAFETY: the caller enabled AVX-512 F and IFMA, which has this product; registers only.
        unsafe { Avx512::splat(0).madd_lo(x, y) }
    }
    #[inline(always)]
    unsafe fn high(x: Avx512, y: Avx512) -> Avx512 {
        // SAFETY: the caller enabled AVX-512 F and IFMA, which has this product; registers only.
        unsafe { Avx512::splat(0).madd_hi(x, y) }
    }
}

/// AVX-512 F alone: factors are doubles that hold the integers.
///
/// `h = 2^104 + x·y` rounded towards zero is `2^104 + high·2^52`, as the last bit of numbers from 2^104 on counts 2^52:
/// the low bits of its mantissa are the high half. `x·y + (2^104 + 2^52 - h) = low + 2^52` is an integer below 2^53,
/// hence exact: the low bits of its mantissa are the low half (Emmart, Zheng, Weems, "Faster modular exponentiation
/// using double precision floating point arithmetic on the GPU", ARITH 2018). Sums take the whole words; what the
/// exponents add is subtracted beforehand.
#[derive(Clone, Copy)]
pub struct Doubles;

const TOWARDS_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const TWO_52: f64 = (1u64 << 52) as f64;
const TWO_104: f64 = TWO_52 * TWO_52;
const MASK: u64 = (1 << 52) - 1;

impl Doubles {
    /// `2^104 + high·2^52` and `2^52 + low`.
    #[inline(always)]
    unsafe fn halves(x: Avx512, y: Avx512) -> (Avx512, Avx512) {
        // SAFETY: every caller is a method of `Multiply52` or `Halves` and has AVX-512 F; arithmetic on registers.
        unsafe {
            let (x, y) = (_mm512_castsi512_pd(x.0), _mm512_castsi512_pd(y.0));
            let high = _mm512_fmadd_round_pd::<TOWARDS_ZERO>(x, y, _mm512_set1_pd(TWO_104));
            let rest = _mm512_sub_pd(_mm512_set1_pd(TWO_104 + TWO_52), high);
            let low = _mm512_fmadd_round_pd::<TOWARDS_ZERO>(x, y, rest);
            (
                Avx512(_mm512_castpd_si512(high)),
                Avx512(_mm512_castpd_si512(low)),
            )
        }
    }
}

// Bodies call intrinsics of AVX-512 F, which the caller guarantees.
impl Multiply52 for Doubles {
    type V = Avx512;
    const EXCESS_LOW: u64 = TWO_52.to_bits();
    const EXCESS_HIGH: u64 = TWO_104.to_bits();
    const PRODUCT_BITS: u32 = 104;

    #[inline(always)]
    unsafe fn factor(x: Avx512) -> Avx512 {
        /// `(x & mask) | two`.
        const SELECT: i32 = 0b1110_1010;
        // SAFETY: the caller enabled AVX-512 F; masks and a difference of registers.
        unsafe {
            let two = _mm512_set1_pd(TWO_52);
            let mask = _mm512_set1_epi64(MASK as i64);
            let bits = _mm512_ternarylogic_epi64::<SELECT>(x.0, mask, _mm512_castpd_si512(two));
            Avx512(_mm512_castpd_si512(_mm512_sub_pd(
                _mm512_castsi512_pd(bits),
                two,
            )))
        }
    }
    #[inline(always)]
    unsafe fn add((low, high): (Avx512, Avx512), x: Avx512, y: Avx512) -> (Avx512, Avx512) {
        // SAFETY: the caller enabled AVX-512 F, which `halves` needs too; sums of registers.
        unsafe {
            let (h, l) = Self::halves(x, y);
            (low.add(l), high.add(h))
        }
    }
    #[inline(always)]
    unsafe fn carried(sums: (Avx512, Avx512)) -> (Avx512, Avx512) {
        // SAFETY: the caller enabled AVX-512 F, all that `carried` needs.
        unsafe { carried(sums) }
    }
}

// Bodies call intrinsics of AVX-512 F, which the caller guarantees.
impl Halves for Doubles {
    #[inline(always)]
    unsafe fn low(x: Avx512, y: Avx512) -> Avx512 {
        // SAFETY: the caller enabled AVX-512 F, all that `halves` and a mask need.
        unsafe { Self::halves(x, y).1.and(Avx512::splat(MASK)) }
    }
    #[inline(always)]
    unsafe fn high(x: Avx512, y: Avx512) -> Avx512 {
        // SAFETY: the caller enabled AVX-512 F, all that `halves` and a mask need.
        unsafe { Self::halves(x, y).0.and(Avx512::splat(MASK)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Level, NearestDoubles};

    /// The first lane.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    unsafe fn first<V: Vector>(v: V) -> u64 {
        let mut lanes = [0; 8];
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

    #[target_feature(enable = "avx2,fma")]
    unsafe fn nearest(start: u64, terms: u64, x: u64, y: u64) -> u128 {
        // SAFETY: this function enables AVX2 and FMA, which is what `NearestDoubles` needs.
        unsafe { sum::<NearestDoubles>(start, terms, x, y) }
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
                let halves = [product & u128::from(MASK), product >> 52];
                let start = MASK - i as u64;
                for terms in [0, 1, 3, (1 << 11) - 1] {
                    let want = u128::from(start) + u128::from(terms) * product;
                    // What is above 52 bits is below 2^52.
                    if want >> 104 != 0 {
                        continue;
                    }
                    // SAFETY: the level is supported.
                    unsafe {
                        if product >> NearestDoubles::PRODUCT_BITS == 0
                            && Level::Avx2.is_supported()
                        {
                            let got = nearest(start, terms, x, y);
                            assert_eq!(got, want, "{terms} times {x} times {y}");
                        }
                        let want = [want, halves[0], halves[1]];
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
