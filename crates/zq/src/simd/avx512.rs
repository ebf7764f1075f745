// SPDX-License-Identifier: Apache-2.0
//! Eight lanes: AVX-512 F and DQ, and IFMA.

use core::arch::x86_64::*;

use super::pinning::pinning;
use super::{Ifma, Lanes, Vector};

/// Eight 64-bit lanes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Avx512(pub(super) __m512i);

// SAFETY: every body below calls intrinsics of AVX-512 F and DQ, which the caller guarantees (contract of the trait),
// and pointers that the caller guarantees valid; loads and stores are the unaligned forms.

impl Lanes for Avx512 {
    const LANES: usize = 8;
    const LOG_LANES: usize = 3;
    const LANES_OF_STAGE: &'static [&'static [usize]] = &[
        &[0, 8, 1, 9, 2, 10, 3, 11],
        &[0, 8, 4, 12, 1, 9, 5, 13],
        &[0, 8, 4, 12, 2, 10, 6, 14],
    ];
    const STAGES: u32 = 3;

    #[inline(always)]
    unsafe fn load(p: *const u64) -> Self {
        // SAFETY: the caller enabled AVX-512 F and gives eight words at `p`; the load needs no alignment.
        unsafe { Self(_mm512_loadu_si512(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u64) {
        // SAFETY: the caller enabled AVX-512 F and gives room for eight words at `p`; the store needs no alignment.
        unsafe { _mm512_storeu_si512(p.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn load_repeated<const D: usize>(p: *const u64) -> Self {
        // SAFETY: the caller enabled AVX-512 F and DQ and gives D words at `p`, 2, 4 or 8, read without alignment.
        unsafe {
            Self(match D {
                2 => _mm512_broadcast_i64x2(_mm_loadu_si128(p.cast())),
                4 => _mm512_broadcast_i64x4(_mm256_loadu_si256(p.cast())),
                _ => _mm512_loadu_si512(p.cast()),
            })
        }
    }
    #[inline(always)]
    unsafe fn splat(x: u64) -> Self {
        // SAFETY: the caller enabled AVX-512 F; a word by value.
        unsafe { Self(_mm512_set1_epi64(x as i64)) }
    }
    #[inline(always)]
    unsafe fn add_unless_below(self, threshold: Self, shift: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; a comparison and a masked sum of registers.
        unsafe {
            let reached = _mm512_cmp_epu64_mask::<_MM_CMPINT_NLT>(self.0, threshold.0);
            Self(_mm512_mask_add_epi64(self.0, reached, self.0, shift.0))
        }
    }
    #[inline(always)]
    unsafe fn prefetch(p: *const u64) {
        // SAFETY: a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(p.cast()) }
    }
    #[inline(always)]
    unsafe fn pin(v: &mut [Self; 8]) {
        // SAFETY: the caller enabled AVX-512 F, all that `pin` asks for.
        unsafe { pin(v) }
    }
    #[inline(always)]
    unsafe fn pin_loads(v: &mut [Self; 8]) {
        // SAFETY: the caller enabled AVX-512 F, all that `pin_loads` asks for.
        unsafe { pin_loads(v) }
    }
    #[inline(always)]
    unsafe fn split<const S: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX-512 F; permutations of two registers by constant indices.
        unsafe {
            let (lo, hi) = match S {
                0 => (
                    _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                    _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15),
                ),
                1 => (
                    _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                    _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15),
                ),
                _ => return Self::halves(a, b),
            };
            (
                Self(_mm512_permutex2var_epi64(a.0, lo, b.0)),
                Self(_mm512_permutex2var_epi64(a.0, hi, b.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn merge(x: Self, y: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX-512 F; permutations of two registers by constant indices.
        unsafe {
            let lo = _mm512_setr_epi64(0, 8, 4, 12, 2, 10, 6, 14);
            let hi = _mm512_setr_epi64(1, 9, 5, 13, 3, 11, 7, 15);
            (
                Self(_mm512_permutex2var_epi64(x.0, lo, y.0)),
                Self(_mm512_permutex2var_epi64(x.0, hi, y.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn unmerge(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX-512 F; permutations of two registers by constant indices.
        unsafe {
            let lo = _mm512_setr_epi64(0, 8, 4, 12, 2, 10, 6, 14);
            let hi = _mm512_setr_epi64(1, 9, 5, 13, 3, 11, 7, 15);
            (
                Self(_mm512_permutex2var_epi64(a.0, lo, b.0)),
                Self(_mm512_permutex2var_epi64(a.0, hi, b.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn join<const S: usize>(x: Self, y: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX-512 F; shuffles of two registers.
        unsafe {
            match S {
                1 => Self::halves(x, y),
                _ => (
                    Self(_mm512_shuffle_i64x2::<0x88>(x.0, y.0)),
                    Self(_mm512_shuffle_i64x2::<0xDD>(x.0, y.0)),
                ),
            }
        }
    }
    #[inline(always)]
    unsafe fn unsplit(x: Self, y: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX-512 F; permutations of two registers by constant indices.
        unsafe {
            let lo = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let hi = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            (
                Self(_mm512_permutex2var_epi64(x.0, lo, y.0)),
                Self(_mm512_permutex2var_epi64(x.0, hi, y.0)),
            )
        }
    }
}

impl Vector for Avx512 {
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe { Self(_mm512_add_epi64(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe { Self(_mm512_sub_epi64(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn and(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe { Self(_mm512_and_si512(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn or(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe { Self(_mm512_or_si512(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn shr<const N: u32>(self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe { Self(_mm512_srli_epi64::<N>(self.0)) }
    }
    #[inline(always)]
    unsafe fn shl<const N: u32>(self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe { Self(_mm512_slli_epi64::<N>(self.0)) }
    }
    #[inline(always)]
    unsafe fn shr_by(self, n: u32) -> Self {
        // SAFETY: the caller enabled AVX-512 F; register and number by value, and any number will do.
        unsafe { Self(_mm512_srl_epi64(self.0, _mm_cvtsi32_si128(n as i32))) }
    }
    #[inline(always)]
    unsafe fn high32(self) -> Self {
        // A shuffle: shifts share the port of comparisons and minima.
        // SAFETY: the caller enabled AVX-512 F; a shuffle within a register.
        unsafe { Self(_mm512_shuffle_epi32::<0b11_11_01_01>(self.0)) }
    }
    #[inline(always)]
    unsafe fn mul32(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe { Self(_mm512_mul_epu32(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn mullo(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 DQ, which has this product; registers only.
        unsafe { Self(_mm512_mullo_epi64(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn csub(self, m: Self) -> Self {
        // Equal to the contract's sign test wherever m <= 2^63: a negative difference wraps above x.
        // SAFETY: the caller enabled AVX-512 F; a difference and a minimum of registers.
        unsafe { Self(_mm512_min_epu64(self.0, _mm512_sub_epi64(self.0, m.0))) }
    }
    #[inline(always)]
    unsafe fn add_by_sign(self, negative: Self, other: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 DQ; a mask of the top bits, a choice and a sum of registers.
        unsafe {
            let chosen = _mm512_mask_blend_epi64(_mm512_movepi64_mask(self.0), other.0, negative.0);
            self.add(Self(chosen))
        }
    }
    #[inline(always)]
    unsafe fn f_add(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe {
            Self(_mm512_castpd_si512(_mm512_add_pd(
                _mm512_castsi512_pd(self.0),
                _mm512_castsi512_pd(b.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_sub(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe {
            Self(_mm512_castpd_si512(_mm512_sub_pd(
                _mm512_castsi512_pd(self.0),
                _mm512_castsi512_pd(b.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_mul(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe {
            Self(_mm512_castpd_si512(_mm512_mul_pd(
                _mm512_castsi512_pd(self.0),
                _mm512_castsi512_pd(b.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe {
            Self(_mm512_castpd_si512(_mm512_fmadd_pd(
                _mm512_castsi512_pd(self.0),
                _mm512_castsi512_pd(b.0),
                _mm512_castsi512_pd(c.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_neg_mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; registers only.
        unsafe {
            Self(_mm512_castpd_si512(_mm512_fnmadd_pd(
                _mm512_castsi512_pd(self.0),
                _mm512_castsi512_pd(b.0),
                _mm512_castsi512_pd(c.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_round(self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; rounding of a register.
        unsafe {
            const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
            Self(_mm512_castpd_si512(_mm512_roundscale_pd::<NEAREST>(
                _mm512_castsi512_pd(self.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_add_if_negative(self, m: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F, and DQ for the mask of signs; registers only.
        unsafe {
            let negative = _mm512_movepi64_mask(self.0);
            let x = _mm512_castsi512_pd(self.0);
            Self(_mm512_castpd_si512(_mm512_mask_add_pd(
                x,
                negative,
                x,
                _mm512_castsi512_pd(m.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_add_by_sign(self, negative: Self, other: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F, and DQ for the mask of signs; registers only.
        unsafe {
            let addend = _mm512_mask_blend_epi64(_mm512_movepi64_mask(self.0), other.0, negative.0);
            self.f_add(Self(addend))
        }
    }
    #[inline(always)]
    unsafe fn lane_indices(p: *const u32) -> Self {
        // SAFETY: the caller enabled AVX-512 F and gives eight words of 32 bits at `p`, read without alignment.
        unsafe { Self(_mm512_cvtepu32_epi64(_mm256_loadu_si256(p.cast()))) }
    }
    #[inline(always)]
    unsafe fn permute(self, indices: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 F; a permutation of a register.
        unsafe { Self(_mm512_permutexvar_epi64(indices.0, self.0)) }
    }
}

impl Avx512 {
    /// The low halves of two registers, and the high halves.
    #[inline(always)]
    unsafe fn halves(x: Self, y: Self) -> (Self, Self) {
        // SAFETY: every caller is a method of `Lanes` and has AVX-512 F; shuffles of two registers.
        unsafe {
            (
                Self(_mm512_shuffle_i64x2::<0x44>(x.0, y.0)),
                Self(_mm512_shuffle_i64x2::<0xEE>(x.0, y.0)),
            )
        }
    }
}

// SAFETY: bodies call intrinsics of AVX-512 IFMA, which the caller enabled (contract of the trait), on registers.
impl Ifma for Avx512 {
    #[inline(always)]
    unsafe fn madd_lo(self, b: Self, c: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 IFMA, which has this product; registers only.
        unsafe { Self(_mm512_madd52lo_epu64(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    unsafe fn madd_hi(self, b: Self, c: Self) -> Self {
        // SAFETY: the caller enabled AVX-512 IFMA, which has this product; registers only.
        unsafe { Self(_mm512_madd52hi_epu64(self.0, b.0, c.0)) }
    }
}

pinning! {
    /// [`Lanes::pin`].
    ///
    /// # Safety
    /// The processor has AVX-512 F.
    pin(Avx512: zmm_reg, "avx512f"; nomem, nostack, preserves_flags)
}

pinning! {
    /// [`Lanes::pin_loads`].
    ///
    /// # Safety
    /// The processor has AVX-512 F.
    pin_loads(Avx512: zmm_reg, "avx512f"; nostack, preserves_flags)
}
