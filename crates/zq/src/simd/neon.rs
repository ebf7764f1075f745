// SPDX-License-Identifier: Apache-2.0
//! Two lanes: NEON, which every AArch64 processor has.

use core::arch::aarch64::*;

use super::pinning::pinning;
use super::{Lanes, Vector};

/// Two 64-bit lanes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Neon(uint64x2_t);

impl Lanes for Neon {
    const LANES: usize = 2;
    const LOG_LANES: usize = 1;
    const LANES_OF_STAGE: &'static [&'static [usize]] = &[&[0, 2]];
    const STAGES: u32 = 3;

    #[inline(always)]
    unsafe fn load(p: *const u64) -> Self {
        // SAFETY: the caller gives two words at `p`; the load needs no alignment of both.
        unsafe { Self(vld1q_u64(p)) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u64) {
        // SAFETY: the caller gives room for two words at `p`; the store needs no alignment of both.
        unsafe { vst1q_u64(p, self.0) }
    }
    #[inline(always)]
    unsafe fn load_repeated<const D: usize>(p: *const u64) -> Self {
        // SAFETY: the caller gives D words at `p`, and D is 2.
        unsafe { Self::load(p) }
    }
    #[inline(always)]
    unsafe fn splat(x: u64) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vdupq_n_u64(x)) }
    }
    #[inline(always)]
    unsafe fn add_unless_below(self, threshold: Self, shift: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe {
            let below = vcltq_u64(self.0, threshold.0);
            Self(vaddq_u64(self.0, vbicq_u64(shift.0, below)))
        }
    }
    #[inline(always)]
    unsafe fn prefetch(p: *const u64) {
        // SAFETY: a prefetch reads nothing.
        unsafe {
            core::arch::asm!("prfm pldl2keep, [{0}]", in(reg) p, options(nostack, preserves_flags, readonly));
        }
    }
    #[inline(always)]
    unsafe fn pin(v: &mut [Self; 8]) {
        // SAFETY: no instruction.
        unsafe { pin(v) }
    }
    #[inline(always)]
    unsafe fn pin_loads(v: &mut [Self; 8]) {
        // SAFETY: no instruction.
        unsafe { pin_loads(v) }
    }
    #[inline(always)]
    unsafe fn split<const S: usize>(a: Self, b: Self) -> (Self, Self) {
        Self::interleave(a, b)
    }
    #[inline(always)]
    unsafe fn merge(x: Self, y: Self) -> (Self, Self) {
        Self::interleave(x, y)
    }
    #[inline(always)]
    unsafe fn unmerge(a: Self, b: Self) -> (Self, Self) {
        Self::interleave(a, b)
    }
    #[inline(always)]
    unsafe fn join<const S: usize>(x: Self, y: Self) -> (Self, Self) {
        // One stage within registers has no next one.
        (x, y)
    }
    #[inline(always)]
    unsafe fn unsplit(x: Self, y: Self) -> (Self, Self) {
        Self::interleave(x, y)
    }
}

impl Vector for Neon {
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vaddq_u64(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vsubq_u64(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn and(self, b: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vandq_u64(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn or(self, b: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vorrq_u64(self.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn shr<const N: u32>(self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vshlq_u64(self.0, vdupq_n_s64(-i64::from(N)))) }
    }
    #[inline(always)]
    unsafe fn shl<const N: u32>(self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vshlq_u64(self.0, vdupq_n_s64(i64::from(N)))) }
    }
    #[inline(always)]
    unsafe fn shr_by(self, n: u32) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vshlq_u64(self.0, vdupq_n_s64(-i64::from(n)))) }
    }
    #[inline(always)]
    unsafe fn high32(self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vshrq_n_u64::<32>(self.0)) }
    }
    #[inline(always)]
    unsafe fn mul32(self, b: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vmull_u32(vmovn_u64(self.0), vmovn_u64(b.0))) }
    }
    #[inline(always)]
    unsafe fn mullo(self, b: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe {
            // Both cross products of a lane side by side, then their sum.
            let swapped = vrev64q_u32(vreinterpretq_u32_u64(b.0));
            let cross = vpaddlq_u32(vmulq_u32(vreinterpretq_u32_u64(self.0), swapped));
            let high = vshlq_n_u64::<32>(cross);
            Self(vmlal_u32(high, vmovn_u64(self.0), vmovn_u64(b.0)))
        }
    }
    #[inline(always)]
    unsafe fn csub(self, m: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe {
            let d = vsubq_u64(self.0, m.0);
            Self(vbslq_u64(negative(d), self.0, d))
        }
    }
    #[inline(always)]
    unsafe fn add_by_sign(self, negative_one: Self, other: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { self.add(Self(vbslq_u64(negative(self.0), negative_one.0, other.0))) }
    }
    #[inline(always)]
    unsafe fn f_from(self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vreinterpretq_u64_f64(vcvtq_f64_u64(self.0))) }
    }
    #[inline(always)]
    unsafe fn f_add(self, b: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self::of(vaddq_f64(self.double(), b.double())) }
    }
    #[inline(always)]
    unsafe fn f_sub(self, b: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self::of(vsubq_f64(self.double(), b.double())) }
    }
    #[inline(always)]
    unsafe fn f_mul(self, b: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self::of(vmulq_f64(self.double(), b.double())) }
    }
    #[inline(always)]
    unsafe fn f_mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self::of(vfmaq_f64(c.double(), self.double(), b.double())) }
    }
    #[inline(always)]
    unsafe fn f_neg_mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self::of(vfmsq_f64(c.double(), self.double(), b.double())) }
    }
    #[inline(always)]
    unsafe fn f_round(self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self::of(vrndnq_f64(self.double())) }
    }
    #[inline(always)]
    unsafe fn f_add_if_negative(self, m: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe {
            let m = Self(vandq_u64(m.0, negative(self.0)));
            Self::of(vaddq_f64(self.double(), m.double()))
        }
    }
    #[inline(always)]
    unsafe fn f_add_by_sign(self, negative_one: Self, other: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe {
            let b = Self(vbslq_u64(negative(self.0), negative_one.0, other.0));
            Self::of(vaddq_f64(self.double(), b.double()))
        }
    }
    #[inline(always)]
    unsafe fn lane_indices(p: *const u32) -> Self {
        // A mask of the lanes that come from the upper one.
        // SAFETY: the caller gives two words of 32 bits at `p`; the load needs no alignment of both.
        unsafe { Self(vtstq_u64(vmovl_u32(vld1_u32(p)), vdupq_n_u64(1))) }
    }
    #[inline(always)]
    unsafe fn permute(self, indices: Self) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe {
            let (low, high) = (vdupq_laneq_u64::<0>(self.0), vdupq_laneq_u64::<1>(self.0));
            Self(vbslq_u64(indices.0, high, low))
        }
    }
}

impl Neon {
    #[inline(always)]
    fn double(self) -> float64x2_t {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { vreinterpretq_f64_u64(self.0) }
    }

    #[inline(always)]
    fn of(x: float64x2_t) -> Self {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { Self(vreinterpretq_u64_f64(x)) }
    }

    /// Even elements of two registers side by side, and odd ones.
    #[inline(always)]
    fn interleave(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: every AArch64 processor has NEON; registers only.
        unsafe { (Self(vtrn1q_u64(a.0, b.0)), Self(vtrn2q_u64(a.0, b.0))) }
    }
}

/// All ones in the lanes whose top bit is set.
#[inline(always)]
fn negative(x: uint64x2_t) -> uint64x2_t {
    // SAFETY: every AArch64 processor has NEON; registers only.
    unsafe { vcltzq_s64(vreinterpretq_s64_u64(x)) }
}

pinning! {
    /// [`Lanes::pin`].
    ///
    /// # Safety
    /// None is needed: every processor has NEON.
    pin(Neon: vreg, "neon"; pure, nomem, nostack, preserves_flags)
}

pinning! {
    /// [`Lanes::pin_loads`].
    ///
    /// # Safety
    /// As [`pin`].
    pin_loads(Neon: vreg, "neon"; nostack, preserves_flags)
}
