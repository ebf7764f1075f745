// SPDX-License-Identifier: Apache-2.0
//! Four lanes: AVX2 and FMA.

use core::arch::x86_64::*;

use super::pinning::pinning;
use super::{Lanes, Vector};

/// Four 64-bit lanes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Avx2(__m256i);

// SAFETY: every body below calls intrinsics of AVX2 and FMA, which the caller guarantees (contract of the trait), and
// pointers that the caller guarantees valid; loads and stores are the unaligned forms.

impl Lanes for Avx2 {
    const LANES: usize = 4;
    const LOG_LANES: usize = 2;
    const LANES_OF_STAGE: &'static [&'static [usize]] = &[&[0, 4, 1, 5], &[0, 4, 2, 6]];
    const STAGES: u32 = 3;

    #[inline(always)]
    unsafe fn load(p: *const u64) -> Self {
        // SAFETY: the caller enabled AVX2 and gives four words at `p`; the load needs no alignment.
        unsafe { Self(_mm256_loadu_si256(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u64) {
        // SAFETY: the caller enabled AVX2 and gives room for four words at `p`; the store needs no alignment.
        unsafe { _mm256_storeu_si256(p.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn load_repeated<const D: usize>(p: *const u64) -> Self {
        // SAFETY: the caller enabled AVX2 and gives D words at `p`, 2 or 4, read without alignment.
        unsafe {
            Self(match D {
                2 => _mm256_broadcastsi128_si256(_mm_loadu_si128(p.cast())),
                _ => _mm256_loadu_si256(p.cast()),
            })
        }
    }
    #[inline(always)]
    unsafe fn splat(x: u64) -> Self {
        // SAFETY: the caller enabled AVX2; a word by value.
        unsafe { Self(_mm256_set1_epi64x(x as i64)) }
    }
    #[inline(always)]
    unsafe fn add_unless_below(self, threshold: Self, shift: Self) -> Self {
        // SAFETY: the caller enabled AVX2; a comparison, a mask and a sum of registers.
        unsafe {
            let below = _mm256_cmpgt_epi64(threshold.0, self.0);
            Self(_mm256_add_epi64(
                self.0,
                _mm256_andnot_si256(below, shift.0),
            ))
        }
    }
    #[inline(always)]
    unsafe fn prefetch(p: *const u64) {
        // SAFETY: a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(p.cast()) }
    }
    #[inline(always)]
    unsafe fn pin(_: &mut [Self; 8]) {
        // Sixteen registers leave no room for eight values side by side.
    }
    #[inline(always)]
    unsafe fn pin_loads(v: &mut [Self; 8]) {
        // SAFETY: the caller enabled AVX2, all that `pin_loads` asks for.
        unsafe { pin_loads(v) }
    }
    #[inline(always)]
    unsafe fn split<const S: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX2, all that `interleave` and `halves` need.
        unsafe {
            if S > 0 {
                return Self::halves(a, b);
            }
            // Of two shuffles the compiler would make six instructions.
            let (a, b) = Self::interleave(a, b);
            Self::halves(a.opaque(), b.opaque())
        }
    }
    #[inline(always)]
    unsafe fn merge(x: Self, y: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX2, all that `interleave` needs.
        unsafe { Self::interleave(x, y) }
    }
    #[inline(always)]
    unsafe fn unmerge(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX2, all that `interleave` needs.
        unsafe { Self::interleave(a, b) }
    }
    #[inline(always)]
    unsafe fn join<const S: usize>(x: Self, y: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX2, all that `halves` needs.
        unsafe { Self::halves(x, y) }
    }
    #[inline(always)]
    unsafe fn unsplit(x: Self, y: Self) -> (Self, Self) {
        // SAFETY: the caller enabled AVX2, all that `halves` and `interleave` need.
        unsafe {
            let (x, y) = Self::halves(x, y);
            Self::interleave(x, y)
        }
    }
}

impl Vector for Avx2 {
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX2; registers only.
        unsafe { Self(_mm256_add_epi64(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX2; registers only.
        unsafe { Self(_mm256_sub_epi64(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn and(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX2; registers only.
        unsafe { Self(_mm256_and_si256(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn or(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX2; registers only.
        unsafe { Self(_mm256_or_si256(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn shr<const N: u32>(self) -> Self {
        // SAFETY: the caller enabled AVX2; register and number by value, and any number will do.
        unsafe { Self(_mm256_srl_epi64(self.0, _mm_cvtsi32_si128(N as i32))) }
    }
    #[inline(always)]
    unsafe fn shl<const N: u32>(self) -> Self {
        // SAFETY: the caller enabled AVX2; register and number by value, and any number will do.
        unsafe { Self(_mm256_sll_epi64(self.0, _mm_cvtsi32_si128(N as i32))) }
    }
    #[inline(always)]
    unsafe fn shr_by(self, n: u32) -> Self {
        // SAFETY: the caller enabled AVX2; register and number by value, and any number will do.
        unsafe { Self(_mm256_srl_epi64(self.0, _mm_cvtsi32_si128(n as i32))) }
    }
    #[inline(always)]
    unsafe fn high32(self) -> Self {
        // SAFETY: the caller enabled AVX2; a shuffle within a register.
        unsafe { Self(_mm256_shuffle_epi32::<0b11_11_01_01>(self.0)) }
    }
    #[inline(always)]
    unsafe fn mul32(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX2; registers only.
        unsafe { Self(_mm256_mul_epu32(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn opaque(self) -> Self {
        // SAFETY: the caller enabled AVX2, all that `opaque` asks for.
        unsafe { opaque(self) }
    }
    #[inline(always)]
    unsafe fn mullo(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX2; products, shifts and sums of registers.
        unsafe {
            let (a_hi, b_hi) = (
                _mm256_srli_epi64::<32>(self.0),
                _mm256_srli_epi64::<32>(b.0),
            );
            let cross =
                _mm256_add_epi64(_mm256_mul_epu32(a_hi, b.0), _mm256_mul_epu32(self.0, b_hi));
            Self(_mm256_add_epi64(
                _mm256_mul_epu32(self.0, b.0),
                _mm256_slli_epi64::<32>(cross),
            ))
        }
    }
    #[inline(always)]
    unsafe fn csub(self, m: Self) -> Self {
        // SAFETY: the caller enabled AVX2; a difference and a choice of registers.
        unsafe {
            let d = _mm256_sub_epi64(self.0, m.0);
            let (x, d) = (_mm256_castsi256_pd(self.0), _mm256_castsi256_pd(d));
            Self(_mm256_castpd_si256(_mm256_blendv_pd(d, x, d)))
        }
    }
    #[inline(always)]
    unsafe fn add_by_sign(self, negative: Self, other: Self) -> Self {
        // SAFETY: the caller enabled AVX2; a choice and a sum of registers.
        unsafe {
            let (n, o) = (
                _mm256_castsi256_pd(negative.0),
                _mm256_castsi256_pd(other.0),
            );
            let chosen = _mm256_blendv_pd(o, n, _mm256_castsi256_pd(self.0));
            self.add(Self(_mm256_castpd_si256(chosen)))
        }
    }
    #[inline(always)]
    unsafe fn f_add(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX2; registers only.
        unsafe {
            Self(_mm256_castpd_si256(_mm256_add_pd(
                _mm256_castsi256_pd(self.0),
                _mm256_castsi256_pd(b.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_sub(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX2; registers only.
        unsafe {
            Self(_mm256_castpd_si256(_mm256_sub_pd(
                _mm256_castsi256_pd(self.0),
                _mm256_castsi256_pd(b.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_mul(self, b: Self) -> Self {
        // SAFETY: the caller enabled AVX2; registers only.
        unsafe {
            Self(_mm256_castpd_si256(_mm256_mul_pd(
                _mm256_castsi256_pd(self.0),
                _mm256_castsi256_pd(b.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: the caller enabled FMA, which has this instruction; registers only.
        unsafe {
            Self(_mm256_castpd_si256(_mm256_fmadd_pd(
                _mm256_castsi256_pd(self.0),
                _mm256_castsi256_pd(b.0),
                _mm256_castsi256_pd(c.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_neg_mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: the caller enabled FMA, which has this instruction; registers only.
        unsafe {
            Self(_mm256_castpd_si256(_mm256_fnmadd_pd(
                _mm256_castsi256_pd(self.0),
                _mm256_castsi256_pd(b.0),
                _mm256_castsi256_pd(c.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_round(self) -> Self {
        // SAFETY: the caller enabled AVX2; rounding of a register.
        unsafe {
            const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
            Self(_mm256_castpd_si256(_mm256_round_pd::<NEAREST>(
                _mm256_castsi256_pd(self.0),
            )))
        }
    }
    #[inline(always)]
    unsafe fn f_add_if_negative(self, m: Self) -> Self {
        // SAFETY: the caller enabled AVX2; a choice and a sum of registers.
        unsafe {
            let x = _mm256_castsi256_pd(self.0);
            let zero = _mm256_setzero_pd();
            let m = _mm256_blendv_pd(zero, _mm256_castsi256_pd(m.0), x);
            Self(_mm256_castpd_si256(_mm256_add_pd(x, m)))
        }
    }
    #[inline(always)]
    unsafe fn f_add_by_sign(self, negative: Self, other: Self) -> Self {
        // SAFETY: the caller enabled AVX2; a choice and a sum of registers.
        unsafe {
            let x = _mm256_castsi256_pd(self.0);
            let (n, o) = (
                _mm256_castsi256_pd(negative.0),
                _mm256_castsi256_pd(other.0),
            );
            Self(_mm256_castpd_si256(_mm256_add_pd(
                x,
                _mm256_blendv_pd(o, n, x),
            )))
        }
    }
    #[inline(always)]
    unsafe fn lane_indices(p: *const u32) -> Self {
        // The permutation is of eight words of 32 bits: lane l is their numbers 2l and 2l + 1, of three bits.
        // SAFETY: the caller enabled AVX2 and gives four words of 32 bits at `p`, read without alignment.
        unsafe {
            let lanes = _mm256_cvtepu32_epi64(_mm_loadu_si128(p.cast()));
            let both = _mm256_shuffle_epi32::<0b10_10_00_00>(_mm256_add_epi32(lanes, lanes));
            Self(_mm256_add_epi32(both, _mm256_set1_epi64x(1 << 32)))
        }
    }
    #[inline(always)]
    unsafe fn permute(self, indices: Self) -> Self {
        // SAFETY: the caller enabled AVX2; a permutation of a register.
        unsafe { Self(_mm256_permutevar8x32_epi32(self.0, indices.0)) }
    }
}

impl Avx2 {
    /// Even elements of two registers side by side, and odd ones.
    #[inline(always)]
    unsafe fn interleave(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: every caller is a method of `Lanes` and has AVX2; shuffles of two registers.
        unsafe {
            (
                Self(_mm256_unpacklo_epi64(a.0, b.0)),
                Self(_mm256_unpackhi_epi64(a.0, b.0)),
            )
        }
    }

    /// The low halves of two registers, and the high halves.
    #[inline(always)]
    unsafe fn halves(x: Self, y: Self) -> (Self, Self) {
        // SAFETY: every caller is a method of `Lanes` and has AVX2; permutations of two registers.
        unsafe {
            (
                Self(_mm256_permute2x128_si256::<0x20>(x.0, y.0)),
                Self(_mm256_permute2x128_si256::<0x31>(x.0, y.0)),
            )
        }
    }
}

/// [`Vector::opaque`].
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn opaque(Avx2(mut v): Avx2) -> Avx2 {
    // SAFETY: no instruction.
    unsafe {
        core::arch::asm!("/* {0} */", inout(ymm_reg) v, options(pure, nomem, nostack, preserves_flags));
    }
    Avx2(v)
}

pinning! {
    /// [`Lanes::pin_loads`].
    ///
    /// # Safety
    /// The processor has AVX2.
    pin_loads(Avx2: ymm_reg, "avx2"; nostack, preserves_flags)
}
