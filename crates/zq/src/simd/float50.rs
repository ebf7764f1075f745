// SPDX-License-Identifier: Apache-2.0
//! Arithmetic modulo `q < 2^50` in doubles with fused multiply-add, for processors without 52-bit multiply-add.

use super::Vector;

/// 2^52: doubles from here to 2^53 are the integers, one apart, in their low 52 bits.
const MAGIC: f64 = (1u64 << 52) as f64;

/// Largest modulus, in bits.
pub(crate) const MAX_BITS: u32 = 50;

/// A fixed factor `w < q`: the double, and `fl(w/q)`.
#[derive(Clone, Copy)]
pub struct FloatFactor<V> {
    w: V,
    quotient: V,
}

/// Constants of a modulus below 2^50, one value in every lane. Operands are residues unless said otherwise; integers
/// in, integers out.
///
/// **Product** (van der Hoeven, Lecerf, Quintin, "Modular SIMD arithmetic in Mathemagix", 2016, section 3):
/// `h = fl(a b)`, `l = a b - h` exactly by FMA, `c` the rounded quotient, `r = (h - c q) + l = a b - c q`. Both sums
/// are integers below 2^53, hence exact. Each rounding on the way to `c` puts it off by at most `|a b / q| 2^-53`,
/// besides the 1/2 of the last: each proof below counts them. A result above `-q` and below `q` needs one correction.
#[derive(Clone, Copy)]
pub struct Float50<V> {
    q: V,
    /// `fl(1/q)`.
    reciprocal: V,
    /// 2^52 as a double, and `2^52 + q`.
    magic: V,
    magic_q: V,
    /// `2^52 mod q`.
    word: FloatFactor<V>,
}

impl<V: Vector> Float50<V> {
    /// The constants for `2 < q < 2^50`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn new(q: u64) -> Self {
        debug_assert!(q > 2 && q < 1 << MAX_BITS);
        // SAFETY: the caller enabled the features of V, all that a splat needs.
        unsafe {
            let splat = |x: f64| V::splat(x.to_bits());
            Self {
                q: splat(q as f64),
                reciprocal: splat(1.0 / q as f64),
                magic: splat(MAGIC),
                magic_q: splat(MAGIC + q as f64),
                word: Self::factor(q, (1 << 52) % q),
            }
        }
    }

    /// A factor modulo `q`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn factor(q: u64, w: u64) -> FloatFactor<V> {
        debug_assert!(w < q);
        // SAFETY: the caller enabled the features of V, all that a splat needs.
        unsafe {
            FloatFactor {
                w: V::splat((w as f64).to_bits()),
                quotient: V::splat((w as f64 / q as f64).to_bits()),
            }
        }
    }

    /// An integer between `-q` and `q` in a double, never a negative zero, to a residue.
    #[inline(always)]
    unsafe fn leave(&self, x: V) -> V {
        // SAFETY: every caller has the features of V; no operation has a pointer.
        unsafe { x.f_add_by_sign(self.magic_q, self.magic).sub(self.magic) }
    }

    /// `a b - c q + more`, of doubles, for `c` near enough that the result and every sum on the way are below 2^53.
    #[inline(always)]
    unsafe fn remainder(&self, (a, b): (V, V), c: V, more: Option<V>) -> V {
        // SAFETY: every caller has the features of V; all values are in registers.
        unsafe {
            let h = a.f_mul(b);
            let minus_l = a.f_neg_mul_add(b, h);
            let low = match more {
                Some(more) => return c.f_neg_mul_add(self.q, h).f_add(more.f_sub(minus_l)),
                None => minus_l,
            };
            c.f_neg_mul_add(self.q, h).f_sub(low)
        }
    }

    /// `a b mod q`. Three roundings before the last: `c` is off by at most `1/2 + 3·2^50·2^-53 = 7/8`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn mul(&self, a: V, b: V) -> V {
        // SAFETY: the caller enabled the features of V; all operands are registers.
        unsafe {
            let (a, b) = (a.f_from(), b.f_from());
            let c = a.f_mul(b).f_mul(self.reciprocal).f_round();
            self.leave(self.remainder((a, b), c, None))
        }
    }

    /// `acc + a b mod q`: as [`Self::mul`], with the sum rounded once.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn mul_add(&self, acc: V, a: V, b: V) -> V {
        // SAFETY: the caller enabled the features of V; all operands are registers.
        unsafe {
            let (acc, a, b) = (acc.f_from(), a.f_from(), b.f_from());
            let c = a.f_mul_add(b, acc).f_mul(self.reciprocal).f_round();
            self.leave(self.remainder((a, b), c, Some(acc)))
        }
    }

    /// `a w mod q`. Two roundings before the last: `c` is off by at most `1/2 + 2·2^50·2^-53 = 3/4`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn mul_factor(&self, a: V, f: FloatFactor<V>) -> V {
        // SAFETY: the caller enabled the features of V; nothing is read from memory.
        unsafe { self.leave(self.times(a.f_from(), f)) }
    }

    /// `acc + a w mod q`: three roundings before the last, one of a value below 1.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn mul_factor_add(&self, acc: V, a: V, f: FloatFactor<V>) -> V {
        // SAFETY: the caller enabled the features of V; nothing is read from memory.
        unsafe {
            let (acc, a) = (acc.f_from(), a.f_from());
            let part = acc.f_mul(self.reciprocal);
            let c = a.f_mul_add(f.quotient, part).f_round();
            self.leave(self.remainder((a, f.w), c, Some(acc)))
        }
    }

    /// `(a - b) w mod q`: as [`Self::mul_factor`] for the signed difference.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn sub_mul_factor(&self, a: V, b: V, f: FloatFactor<V>) -> V {
        // SAFETY: the caller enabled the features of V; both operands are registers.
        unsafe { self.leave(self.times(a.f_from().f_sub(b.f_from()), f)) }
    }

    /// `x w mod q` for any `x < 2^52`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn mul_word(&self, x: V, f: FloatFactor<V>) -> V {
        // SAFETY: the caller enabled the features of V; the operand is a register.
        unsafe { self.leave(self.times(self.reduce(x.f_from()), f)) }
    }

    /// `a w` of doubles, `|a| <= k q`, in size at most `(1/2 + k q 2^-52) q`.
    #[inline(always)]
    unsafe fn times(&self, a: V, f: FloatFactor<V>) -> V {
        // SAFETY: every caller has the features of V; registers only.
        unsafe { self.remainder((a, f.w), a.f_mul(f.quotient).f_round(), None) }
    }

    /// An integer below 2^53 in size to at most `q/2 + 2` and below `q`: the quotient is off by `1/2 + 2^53/q 2^-52`.
    #[inline(always)]
    unsafe fn reduce(&self, x: V) -> V {
        // SAFETY: every caller has the features of V; registers only.
        unsafe { x.f_mul(self.reciprocal).f_round().f_neg_mul_add(self.q, x) }
    }

    /// `high 2^52 + low` for both below 2^52, in size at most `q/2 + 2`: `high (2^52 mod q)` is at most
    /// `(1/2 + 1) q < 2^51` in size.
    #[inline(always)]
    unsafe fn joined(&self, low: V, high: V) -> V {
        // SAFETY: every caller has the features of V; registers only.
        unsafe {
            let high = self.times(high.f_from(), self.word);
            self.reduce(high.f_add(low.f_from()))
        }
    }

    /// A residue as a double.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn residue(x: V) -> V {
        // SAFETY: the caller enabled the features of V; the operand is a register.
        unsafe { x.f_from() }
    }

    /// `sum + a b` of doubles, `a` and `b` residues, where the sum stays below 2^53 in size: it grows by at most 7/8 q,
    /// as [`Self::mul`].
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn add_product(&self, sum: V, a: V, b: V) -> V {
        // SAFETY: the caller enabled the features of V; all operands are registers.
        unsafe {
            let c = a.f_mul(b).f_mul(self.reciprocal).f_round();
            self.remainder((a, b), c, Some(sum))
        }
    }

    /// `sum + a w` of doubles, `a` an integer below 2^50: the sum grows by at most 3/4 q, as [`Self::mul_factor`].
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn add_factor_product(&self, sum: V, a: V, f: FloatFactor<V>) -> V {
        // SAFETY: the caller enabled the features of V; all operands are registers.
        unsafe {
            let c = a.f_mul(f.quotient).f_round();
            self.remainder((a, f.w), c, Some(sum))
        }
    }

    /// A sum of [`Self::add_product`], less a residue as a double where there is one, modulo `q`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn residue_of(&self, sum: V) -> V {
        // SAFETY: the caller enabled the features of V; the operand is a register.
        unsafe { self.leave(self.reduce(sum)) }
    }

    /// The same times `w`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn scaled_residue_of(&self, sum: V, f: FloatFactor<V>) -> V {
        // SAFETY: the caller enabled the features of V; the operand is a register.
        unsafe { self.leave(self.times(self.reduce(sum), f)) }
    }

    /// `high 2^52 + low mod q` for both below 2^52.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn reduce_sum(&self, low: V, high: V) -> V {
        // SAFETY: the caller enabled the features of V; both halves are registers.
        unsafe { self.leave(self.joined(low, high)) }
    }

    /// `(high 2^52 + low) w mod q` for both halves below 2^52.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn scale_sum(&self, low: V, high: V, f: FloatFactor<V>) -> V {
        // SAFETY: the caller enabled the features of V; both halves are registers.
        unsafe { self.leave(self.times(self.joined(low, high), f)) }
    }
}
