// SPDX-License-Identifier: Apache-2.0
//! Two lanes in general registers, for arithmetic that vector instructions lack: products of 64 bits.

use core::arch::asm;

use super::{Lanes, Neon};
use crate::Word;

/// Two 64-bit lanes.
#[derive(Clone, Copy)]
pub struct Pair(pub [u64; 2]);

// Bodies read or write words that the caller guarantees.
impl Lanes for Pair {
    const LANES: usize = 2;
    const LOG_LANES: usize = 1;
    const LANES_OF_STAGE: &'static [&'static [usize]] = &[&[0, 2]];
    const STAGES: u32 = 2;
    const WALKS: bool = true;

    #[inline(always)]
    unsafe fn load(p: *const u64) -> Self {
        // SAFETY: the caller gives two words at `p`.
        unsafe { Self([*p, *p.add(1)]) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u64) {
        // SAFETY: the caller gives room for two words at `p`.
        unsafe {
            *p = self.0[0];
            *p.add(1) = self.0[1];
        }
    }
    #[inline(always)]
    unsafe fn load_repeated<const D: usize>(p: *const u64) -> Self {
        // SAFETY: the caller gives D words at `p`, and D is 2.
        unsafe { Self::load(p) }
    }
    #[inline(always)]
    unsafe fn splat(x: u64) -> Self {
        Self([x; 2])
    }
    #[inline(always)]
    unsafe fn add_unless_below(self, threshold: Self, shift: Self) -> Self {
        let lane = |i: usize| {
            let above = !u64::opaque(self.0[i].lt_mask(threshold.0[i]));
            self.0[i].wrapping_add(shift.0[i] & above)
        };
        Self([lane(0), lane(1)])
    }
    #[inline(always)]
    unsafe fn prefetch(p: *const u64) {
        // SAFETY: a prefetch reads nothing.
        unsafe { Neon::prefetch(p) }
    }
    #[inline(always)]
    #[allow(clippy::pointers_in_nomem_asm_block)] // Nothing is read through them.
    fn walk<const R: usize>(runs: &mut [*mut u64; R]) {
        for run in runs {
            // SAFETY: no instruction; the register is said to change.
            unsafe {
                asm!(
                    "/* {0} */",
                    inout(reg) * run,
                    options(pure, nomem, nostack, preserves_flags)
                )
            };
        }
    }
    #[inline(always)]
    unsafe fn pin(_: &mut [Self; 8]) {
        // Sixteen words leave no register for what is read beside them.
    }
    #[inline(always)]
    unsafe fn pin_loads(_: &mut [Self; 8]) {}
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
        // One stage within a pair has no next one.
        (x, y)
    }
    #[inline(always)]
    unsafe fn unsplit(x: Self, y: Self) -> (Self, Self) {
        Self::interleave(x, y)
    }
}

impl Pair {
    /// `x - m` in each lane where `x >= m`, else `x`: two instructions, no branch.
    #[inline(always)]
    pub fn csub(self, m: u64) -> Self {
        Self(self.0.map(|x| {
            let reduced;
            // SAFETY: arithmetic on registers.
            unsafe {
                asm!(
                    "subs {0}, {1}, {2}",
                    "csel {0}, {1}, {0}, lo",
                    out(reg) reduced, in(reg) x, in(reg) m,
                    options(pure, nomem, nostack)
                );
            }
            reduced
        }))
    }

    /// Even elements of two pairs side by side, and odd ones: other names for the same registers.
    #[inline(always)]
    fn interleave(Self(a): Self, Self(b): Self) -> (Self, Self) {
        (Self([a[0], b[0]]), Self([a[1], b[1]]))
    }
}
