// SPDX-License-Identifier: Apache-2.0
//! Arithmetic modulo `q < 2^50` on 52-bit multiply-add.

use super::Ifma;

/// Width of the multiplier.
const BITS: u32 = 52;

/// Constants of a modulus below 2^50, one value in every lane. Operands are residues unless said otherwise.
#[derive(Clone, Copy)]
pub struct Ifma52<V> {
    q: V,
    q2: V,
    /// `2^52 - q`: adding `lo(h (2^52 - q))` subtracts `h q` modulo 2^52.
    minus_q: V,
    /// `2^(52-b)` for a modulus of `b` bits, as a factor: a shift on the multiplier's ports.
    align: V,
    /// `floor(2^(51+b) / q)`, below 2^52.
    barrett: V,
    mask: V,
    zero: V,
}

impl<V: Ifma> Ifma52<V> {
    /// Largest modulus, in bits.
    pub const MAX_BITS: u32 = 50;

    /// The constants for `2 < q < 2^50`.
    ///
    /// # Safety
    /// As [`super::Vector`].
    #[inline(always)]
    pub unsafe fn new(q: u64) -> Self {
        debug_assert!(q > 2 && q < 1 << Self::MAX_BITS);
        let bits = u64::BITS - q.leading_zeros();
        let barrett = ((1u128 << (51 + bits)) / u128::from(q)) as u64;
        // SAFETY: the caller enabled the features of V, all that a splat needs.
        unsafe {
            Self {
                q: V::splat(q),
                q2: V::splat(2 * q),
                minus_q: V::splat((1 << BITS) - q),
                align: V::splat(1 << (BITS - bits)),
                barrett: V::splat(barrett.min((1 << BITS) - 1)),
                mask: V::splat((1 << BITS) - 1),
                zero: V::splat(0),
            }
        }
    }

    /// The low 52 bits, below 4q, to a residue.
    #[inline(always)]
    unsafe fn finish(&self, x: V) -> V {
        // SAFETY: the caller enabled the features of V; `x` and the constants are registers.
        unsafe { x.and(self.mask).csub(self.q2).csub(self.q) }
    }

    /// `acc + a b mod q`.
    ///
    /// With `c = floor(2^(52-b) a 2b / 2^52) = floor(a b / 2^(b-1)) < 2^51` and `h = floor(c m / 2^52)`,
    /// `m = floor(2^(51+b)/q)`: `a b / q - h` is below 1 (cut of `c`, as `m < 2^52`) + 1/2 (cut of `m`) + 1 (cut of
    /// `h`), so `a b - h q < 2.5 q`, with `acc` below `3.5 q < 2^52`.
    ///
    /// # Safety
    /// As [`super::Vector`].
    #[inline(always)]
    pub unsafe fn mul_add(&self, acc: V, a: V, b: V) -> V {
        // SAFETY: the caller enabled the features of V, 52-bit multiply-add among them; all operands are registers.
        unsafe {
            let aligned = self.zero.madd_lo(a, self.align);
            let c = self.zero.madd_hi(aligned, b.add(b));
            let h = self.zero.madd_hi(c, self.barrett);
            self.finish(acc.madd_lo(a, b).madd_lo(h, self.minus_q))
        }
    }

    /// `a b mod q`.
    ///
    /// # Safety
    /// As [`super::Vector`].
    #[inline(always)]
    pub unsafe fn mul(&self, a: V, b: V) -> V {
        // SAFETY: `mul_add` asks for the features of V alone, and the caller enabled them.
        unsafe { self.mul_add(self.zero, a, b) }
    }

    /// `acc + a w mod q` for a factor with `quotient = floor(w 2^52 / q)`, and any `a < 2^52`: the product is below 2q.
    ///
    /// # Safety
    /// As [`super::Vector`].
    #[inline(always)]
    pub unsafe fn mul_shoup_add(&self, acc: V, a: V, w: V, quotient: V) -> V {
        // SAFETY: the caller enabled the features of V, 52-bit multiply-add among them; nothing is read from memory.
        unsafe {
            let h = self.zero.madd_hi(quotient, a);
            self.finish(acc.madd_lo(w, a).madd_lo(h, self.minus_q))
        }
    }
}
