// SPDX-License-Identifier: Apache-2.0
//! Products of 52-bit integers on eight lanes: with IFMA, or with fused multiply-add of doubles where there is none.

use core::arch::x86_64::*;

use super::{Avx512, Ifma, Lanes, Multiply52, Vector};

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
