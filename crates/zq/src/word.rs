// SPDX-License-Identifier: Apache-2.0
//! The machine words that residues are made of.

use core::fmt::Display;
use core::hash::Hash;
use core::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use crate::memory::Stored;

/// An unsigned word: `u64` (moduli below 2^62) or `u128` (moduli below 2^128).
///
/// Arithmetic wraps. [`Word::as_u64s`] lets generic code hand its slices to a kernel that exists for `u64` only.
pub trait Word:
    Stored
    + Ord
    + Hash
    + Display
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// Bits of the word.
    const BITS: u32;
    /// Bits of the widest modulus it supports.
    const MAX_MODULUS_BITS: u32;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// All bits set.
    const MAX: Self;

    /// Widens a `u64`.
    fn from_u64(x: u64) -> Self;
    /// The low [`Word::BITS`] bits of `x`.
    fn from_u128_lossy(x: u128) -> Self;
    /// Widens to `u128`.
    fn to_u128(self) -> u128;
    /// The low 64 bits.
    fn low_u64(self) -> u64;
    /// Sum modulo 2^BITS.
    fn wrapping_add(self, b: Self) -> Self;
    /// Difference modulo 2^BITS.
    fn wrapping_sub(self, b: Self) -> Self;
    /// Product modulo 2^BITS.
    fn wrapping_mul(self, b: Self) -> Self;
    /// Full product as `(low, high)`.
    fn mul_wide(self, b: Self) -> (Self, Self);
    /// Leading zero bits.
    fn leading_zeros(self) -> u32;
    /// Trailing zero bits.
    fn trailing_zeros(self) -> u32;
    /// All ones if `self < b`, else 0, without a branch.
    fn lt_mask(self, b: Self) -> Self;
    /// Optimisation barrier for a mask: the compiler could turn a mask from a comparison into a branch on it, and then
    /// the time depends on the operands.
    fn opaque(mask: Self) -> Self;
    /// Quotient and remainder of two words; variable time.
    fn div_rem_vt(self, b: Self) -> (Self, Self);

    /// The slice itself if the word is `u64`.
    fn as_u64s(s: &[Self]) -> Option<&[u64]>;
    /// The slice itself if the word is `u64`.
    fn as_u64s_mut(s: &mut [Self]) -> Option<&mut [u64]>;
    /// The slices themselves if the word is `u64`.
    fn as_u64_rows<'a, 'b>(rows: &'a [&'b [Self]]) -> Option<&'a [&'b [u64]]>;

    /// The high half of the product.
    #[inline(always)]
    fn mul_hi(self, b: Self) -> Self {
        self.mul_wide(b).1
    }

    /// `x` if `mask` is all ones, `y` if it is 0.
    #[inline(always)]
    fn select(mask: Self, x: Self, y: Self) -> Self {
        y ^ (mask & (x ^ y))
    }

    /// `x - m` if `x >= m`, else `x`, without a branch.
    #[inline(always)]
    fn csub(x: Self, m: Self) -> Self {
        // A negative difference wraps above x; the minimum compiles to a conditional move.
        x.wrapping_sub(m).min(x)
    }

    /// Bits needed to write the value.
    #[inline]
    fn bit_len(self) -> u32 {
        Self::BITS - self.leading_zeros()
    }
}

macro_rules! word_basics {
    ($t:ty) => {
        const BITS: u32 = <$t>::BITS;
        const ZERO: Self = 0;
        const ONE: Self = 1;
        const MAX: Self = <$t>::MAX;

        #[inline(always)]
        fn from_u64(x: u64) -> Self {
            x as Self
        }
        #[inline(always)]
        fn from_u128_lossy(x: u128) -> Self {
            x as Self
        }
        #[inline(always)]
        fn to_u128(self) -> u128 {
            self as u128
        }
        #[inline(always)]
        fn low_u64(self) -> u64 {
            self as u64
        }
        #[inline(always)]
        fn wrapping_add(self, b: Self) -> Self {
            <$t>::wrapping_add(self, b)
        }
        #[inline(always)]
        fn wrapping_sub(self, b: Self) -> Self {
            <$t>::wrapping_sub(self, b)
        }
        #[inline(always)]
        fn wrapping_mul(self, b: Self) -> Self {
            <$t>::wrapping_mul(self, b)
        }
        #[inline(always)]
        fn leading_zeros(self) -> u32 {
            <$t>::leading_zeros(self)
        }
        #[inline(always)]
        fn trailing_zeros(self) -> u32 {
            <$t>::trailing_zeros(self)
        }
        #[inline(always)]
        fn lt_mask(self, b: Self) -> Self {
            (self.overflowing_sub(b).1 as Self).wrapping_neg()
        }
        #[inline]
        fn div_rem_vt(self, b: Self) -> (Self, Self) {
            (self / b, self % b)
        }
    };
}

/// See [`Word::opaque`]; costs no instruction.
#[inline(always)]
fn opaque(mask: u64) -> u64 {
    #[cfg(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let mut mask = mask;
        // SAFETY: no instruction at all; the register is said to change.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags));
        }
        mask
    }
    #[cfg(not(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
    core::hint::black_box(mask)
}

impl Word for u64 {
    const MAX_MODULUS_BITS: u32 = 62;
    word_basics!(u64);

    #[inline(always)]
    fn opaque(mask: Self) -> Self {
        opaque(mask)
    }

    #[inline(always)]
    fn mul_wide(self, b: Self) -> (Self, Self) {
        let p = self as u128 * b as u128;
        (p as u64, (p >> 64) as u64)
    }
    #[inline(always)]
    fn as_u64s(s: &[Self]) -> Option<&[u64]> {
        Some(s)
    }
    #[inline(always)]
    fn as_u64s_mut(s: &mut [Self]) -> Option<&mut [u64]> {
        Some(s)
    }
    #[inline(always)]
    fn as_u64_rows<'a, 'b>(rows: &'a [&'b [Self]]) -> Option<&'a [&'b [u64]]> {
        Some(rows)
    }
}

impl Word for u128 {
    const MAX_MODULUS_BITS: u32 = 128;
    word_basics!(u128);

    #[inline(always)]
    fn opaque(mask: Self) -> Self {
        let half = opaque(mask as u64);
        u128::from(half) | u128::from(half) << 64
    }

    /// Schoolbook over 64-bit halves; no partial sum exceeds 128 bits since `(2^64-1)^2 + 2(2^64-1) = 2^128-1`.
    #[inline(always)]
    fn mul_wide(self, b: Self) -> (Self, Self) {
        const LOW: u128 = u64::MAX as u128;
        let (a0, a1, b0, b1) = (self & LOW, self >> 64, b & LOW, b >> 64);
        let p00 = a0 * b0;
        let mid = a1 * b0 + (p00 >> 64);
        let mid2 = a0 * b1 + (mid & LOW);
        let low = (p00 & LOW) | (mid2 << 64);
        (low, a1 * b1 + (mid >> 64) + (mid2 >> 64))
    }
    #[inline(always)]
    fn as_u64s(_: &[Self]) -> Option<&[u64]> {
        None
    }
    #[inline(always)]
    fn as_u64s_mut(_: &mut [Self]) -> Option<&mut [u64]> {
        None
    }
    #[inline(always)]
    fn as_u64_rows<'a, 'b>(_: &'a [&'b [Self]]) -> Option<&'a [&'b [u64]]> {
        None
    }
}
