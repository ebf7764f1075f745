// SPDX-License-Identifier: Apache-2.0
//! Products of 52-bit integers on eight lanes: with IFMA, or with fused multiply-add of doubles where there is none.

use core::arch::x86_64::*;

/// Multiplication of integers below 2^52. Factors are prepared first,
/// so that those which are used twice are prepared once.
///
/// # Safety
/// Every method uses the instructions of its type: the caller runs in a function with these target features, on a
/// processor that has them.
// The safety section above holds for each method.
#[allow(clippy::missing_safety_doc)]
pub trait Multiply52: Copy {
    /// [`Multiply52::add`] adds this much too much to the low sum, modulo 2^64.
    const EXCESS_LOW: u64;
    /// [`Multiply52::add`] adds this much too much to the high sum, modulo 2^64.
    const EXCESS_HIGH: u64;

    /// The low 52 bits of every lane as a factor.
    unsafe fn factor(x: __m512i) -> __m512i;
    /// The low and the high 52 bits of a product added to two sums.
    unsafe fn add(sums: (__m512i, __m512i), x: __m512i, y: __m512i) -> (__m512i, __m512i);
    /// The low 52 bits of a product.
    unsafe fn low(x: __m512i, y: __m512i) -> __m512i;
    /// The high 52 bits of a product.
    unsafe fn high(x: __m512i, y: __m512i) -> __m512i;
}

/// AVX-512 IFMA.
#[derive(Clone, Copy)]
pub struct Integers;

// Bodies call intrinsics of AVX-512 F and IFMA, which the caller guarantees.
impl Multiply52 for Integers {
    const EXCESS_LOW: u64 = 0;
    const EXCESS_HIGH: u64 = 0;

    #[inline(always)]
    unsafe fn factor(x: __m512i) -> __m512i {
        x
    }
    #[inline(always)]
    unsafe fn add((low, high): (__m512i, __m512i), x: __m512i, y: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller enabled AVX-512 IFMA, which has both products; registers only.
        unsafe {
            (
                _mm512_madd52lo_epu64(low, x, y),
                _mm512_madd52hi_epu64(high, x, y),
            )
        }
    }
    #[inline(always)]
    unsafe fn low(x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: the caller enabled AVX-512 F and IFMA, which has this product; registers only.
        unsafe { _mm512_madd52lo_epu64(_mm512_setzero_si512(), x, y) }
    }
    #[inline(always)]
    unsafe fn high(x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: the caller enabled AVX-512 F and IFMA, which has this product; registers only.
        unsafe { _mm512_madd52hi_epu64(_mm512_setzero_si512(), x, y) }
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
    unsafe fn halves(x: __m512i, y: __m512i) -> (__m512i, __m512i) {
        // SAFETY: every caller is a method of `Multiply52` and has AVX-512 F; arithmetic on registers.
        unsafe {
            let (x, y) = (_mm512_castsi512_pd(x), _mm512_castsi512_pd(y));
            let high = _mm512_fmadd_round_pd::<TOWARDS_ZERO>(x, y, _mm512_set1_pd(TWO_104));
            let rest = _mm512_sub_pd(_mm512_set1_pd(TWO_104 + TWO_52), high);
            let low = _mm512_fmadd_round_pd::<TOWARDS_ZERO>(x, y, rest);
            (_mm512_castpd_si512(high), _mm512_castpd_si512(low))
        }
    }

    #[inline(always)]
    unsafe fn mantissa(x: __m512i) -> __m512i {
        // SAFETY: every caller is a method of `Multiply52` and has AVX-512 F; a mask on a register.
        unsafe { _mm512_and_si512(x, _mm512_set1_epi64(MASK as i64)) }
    }
}

// Bodies call intrinsics of AVX-512 F, which the caller guarantees.
impl Multiply52 for Doubles {
    const EXCESS_LOW: u64 = TWO_52.to_bits();
    const EXCESS_HIGH: u64 = TWO_104.to_bits();

    #[inline(always)]
    unsafe fn factor(x: __m512i) -> __m512i {
        /// `(x & mask) | two`.
        const SELECT: i32 = 0b1110_1010;
        // SAFETY: the caller enabled AVX-512 F; masks and a difference of registers.
        unsafe {
            let two = _mm512_set1_pd(TWO_52);
            let mask = _mm512_set1_epi64(MASK as i64);
            let bits = _mm512_ternarylogic_epi64::<SELECT>(x, mask, _mm512_castpd_si512(two));
            _mm512_castpd_si512(_mm512_sub_pd(_mm512_castsi512_pd(bits), two))
        }
    }
    #[inline(always)]
    unsafe fn add((low, high): (__m512i, __m512i), x: __m512i, y: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller enabled AVX-512 F, which `halves` needs too; sums of registers.
        unsafe {
            let (h, l) = Self::halves(x, y);
            (_mm512_add_epi64(low, l), _mm512_add_epi64(high, h))
        }
    }
    #[inline(always)]
    unsafe fn low(x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: the caller enabled AVX-512 F, all that `halves` and `mantissa` need.
        unsafe { Self::mantissa(Self::halves(x, y).1) }
    }
    #[inline(always)]
    unsafe fn high(x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: the caller enabled AVX-512 F, all that `halves` and `mantissa` need.
        unsafe { Self::mantissa(Self::halves(x, y).0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;

    /// Sum of a product and two given sums, without the excess, and both halves alone.
    ///
    /// # Safety
    /// As [`Multiply52`].
    #[inline(always)]
    unsafe fn all<M: Multiply52>(sums: [u64; 2], x: u64, y: u64) -> [u64; 4] {
        // SAFETY: the caller has AVX-512 F and the instructions of M; words go to registers and back by value.
        unsafe {
            let splat = |x: u64| _mm512_set1_epi64(x as i64);
            let (x, y) = (M::factor(splat(x)), M::factor(splat(y)));
            let (low, high) = M::add((splat(sums[0]), splat(sums[1])), x, y);
            let first = |v: __m512i| _mm_cvtsi128_si64(_mm512_castsi512_si128(v)) as u64;
            [
                first(low).wrapping_sub(M::EXCESS_LOW),
                first(high).wrapping_sub(M::EXCESS_HIGH),
                first(M::low(x, y)),
                first(M::high(x, y)),
            ]
        }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    unsafe fn integers(sums: [u64; 2], x: u64, y: u64) -> [u64; 4] {
        // SAFETY: this function enables AVX-512 F and IFMA, which is what `Integers` needs.
        unsafe { all::<Integers>(sums, x, y) }
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    unsafe fn doubles(sums: [u64; 2], x: u64, y: u64) -> [u64; 4] {
        // SAFETY: this function enables AVX-512 F, which is what `Doubles` needs.
        unsafe { all::<Doubles>(sums, x, y) }
    }

    #[test]
    fn halves_of_products_are_exact() {
        let mut words = vec![
            0,
            1,
            2,
            MASK,
            MASK - 1,
            1 << 51,
            (1 << 51) - 1,
            1 << 26,
            (1 << 26) + 1,
        ];
        words.extend((1..200u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (k % 40)));
        for (i, &x) in words.iter().enumerate() {
            for &y in &words {
                let product = u128::from(x & MASK) * u128::from(y & MASK);
                let (low, high) = (product as u64 & MASK, (product >> 52) as u64);
                let sums = [i as u64, MASK - i as u64];
                let want = [sums[0] + low, sums[1] + high, low, high];
                // SAFETY: the level is supported.
                unsafe {
                    if Level::Avx512.is_supported() {
                        assert_eq!(doubles(sums, x, y), want, "{x} times {y}");
                    }
                    if Level::Ifma.is_supported() {
                        assert_eq!(integers(sums, x, y), want, "{x} times {y}");
                    }
                }
            }
        }
    }
}
