// SPDX-License-Identifier: Apache-2.0
//! Butterflies in double precision for processors without 52-bit multiply-add: moduli below 2^50.

use zq::simd::Vector;

use super::arith::{Arith, Factor, check_lanes};

/// Values are signed integers held in doubles.
///
/// **Product** (van der Hoeven, Lecerf, Quintin, "Modular SIMD arithmetic in Mathemagix", 2016, section 3):
/// `h = fl(y w)`, `l = y w - h` exactly by FMA, `c = round(fl(y fl(w/q)))`, result `(h - c q) + l = y w - c q`, exact
/// because both sums are integers below 2^53. The two roundings put `c` off by at most `|y| 2^-52`, so the result is at
/// most `(1/2 + |y| 2^-52) q` in size.
///
/// **Forward.** With `q < 2^48` and values bounded by `k q`, a stage gives `k' <= k (1 + 2^-4) + 1/2`: from 1, after 17
/// stages below 18; 18q < 2^53. **Inverse.** Sums double: the three stages within vectors go from 1 to 8q, then all
/// values are reduced to q/2 (and a little), three stages give 4q, and the half of the results that are not fresh
/// products is reduced. One stage after another ([`Arith::STAGEWISE`]): from q to 2q and 4q, and in every third stage
/// sums are reduced, whose products, of differences up to 8q, are at most q.
///
/// **Wide** (`q < 2^50`): a product of a value bounded by `k q` is at most `(1/2 + k/4) q`. Forward, `x` is reduced in
/// every third stage: before stages 0, 1, 2 of three values are below 9/2, 17/8 and 51/16 q, as `1/2 + 1/2 + 9/8 <=
/// 17/8`, `17/8 · 5/4 + 1/2 <= 51/16` and `51/16 · 5/4 + 1/2 <= 9/2`. Inverse, every result of a pass is reduced, not
/// half of them, and the last products too, which differences up to 8q bring to 5/2 q; 8q < 2^53.
#[derive(Clone, Copy)]
pub(crate) struct Fma64<V, const WIDE: bool> {
    q: V,
    /// `fl(1/q)`.
    reciprocal: V,
    /// 2^52 as a double: the integer below 2^52 in its low bits is added to it.
    magic: V,
    /// `2^52 + q`.
    magic_q: V,
}

const MAGIC: f64 = (1u64 << 52) as f64;

impl<V: Vector, const WIDE: bool> Fma64<V, WIDE> {
    /// `y w` in about `-q/2 ..= q/2`.
    #[inline(always)]
    unsafe fn mul(&self, y: V, f: Factor<V>) -> V {
        // SAFETY: instructions of V by the contract of `Arith`.
        unsafe {
            check_lanes(
                y,
                |x| f64::from_bits(x).abs() < 2.0 * MAGIC,
                "an exact integer",
            );
            let (h, c) = (y.f_mul(f.w), y.f_mul(f.quotient));
            // The last use of y, so that its register takes the result.
            let minus_l = y.f_neg_mul_add(f.w, h);
            c.f_round().f_neg_mul_add(self.q, h).f_sub(minus_l)
        }
    }

    /// Any value to about `-q/2 ..= q/2`.
    #[inline(always)]
    unsafe fn reduce(&self, x: V) -> V {
        // SAFETY: every caller is a method of `Arith` and has the instructions of V; all values are in registers.
        unsafe { x.f_mul(self.reciprocal).f_round().f_neg_mul_add(self.q, x) }
    }

    /// A value in about `-q/2 ..= q/2`, never a negative zero, to a residue as an integer.
    #[inline(always)]
    unsafe fn finish(&self, x: V) -> V {
        // SAFETY: every caller is a method of `Arith` and has the instructions of V; no operation has a pointer.
        unsafe { x.f_add_by_sign(self.magic_q, self.magic).sub(self.magic) }
    }
}

impl<V: Vector, const WIDE: bool> Arith for Fma64<V, WIDE> {
    type V = V;
    const STAGEWISE: bool = V::LANES == 4;

    fn twiddle(q: u64, w: u64) -> [u64; 2] {
        [(w as f64).to_bits(), (w as f64 / q as f64).to_bits()]
    }

    #[inline(always)]
    unsafe fn new(q: u64) -> Self {
        debug_assert!(q < 1 << if WIDE { 50 } else { 48 });
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that a splat needs.
        unsafe {
            Self {
                q: V::splat((q as f64).to_bits()),
                reciprocal: V::splat((1.0 / q as f64).to_bits()),
                magic: V::splat(MAGIC.to_bits()),
                magic_q: V::splat((MAGIC + q as f64).to_bits()),
            }
        }
    }

    #[inline(always)]
    unsafe fn enter(&self, v: V) -> V {
        // SAFETY: the caller has the instructions of V (contract of `Arith`); two operations on registers.
        unsafe { v.or(self.magic).f_sub(self.magic) }
    }

    #[inline(always)]
    unsafe fn forward(&self, stage: usize, x: V, y: V, f: Factor<V>) -> (V, V) {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that `reduce`, `mul` and sums need.
        unsafe {
            let x = if WIDE && stage.is_multiple_of(3) {
                self.reduce(x)
            } else {
                x
            };
            let t = self.mul(y, f);
            (x.f_add(t), x.f_sub(t))
        }
    }

    #[inline(always)]
    unsafe fn leave(&self, v: V) -> V {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that `reduce` and `finish` need.
        unsafe { self.finish(self.reduce(v)) }
    }

    #[inline(always)]
    unsafe fn inverse(&self, _stage: usize, x: V, y: V, f: Factor<V>) -> (V, V) {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that `mul` of a difference needs.
        unsafe { (x.f_add(y), self.mul(x.f_sub(y), f)) }
    }

    #[inline(always)]
    unsafe fn between(&self, v: V) -> V {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that `reduce` needs.
        unsafe { self.reduce(v) }
    }

    #[inline(always)]
    unsafe fn settle(&self, r: usize, radix: usize, v: V) -> V {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), whether it is for `reduce` or not.
        unsafe {
            if WIDE || r < radix / 2 {
                self.reduce(v)
            } else {
                v
            }
        }
    }

    #[inline(always)]
    unsafe fn inverse_last(
        &self,
        _stage: usize,
        x: V,
        y: V,
        n_inv: Factor<V>,
        last: Factor<V>,
    ) -> (V, V) {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), which these need.
        unsafe {
            let (sum, difference) = (self.mul(x.f_add(y), n_inv), self.mul(x.f_sub(y), last));
            if WIDE {
                (self.leave(sum), self.leave(difference))
            } else {
                (self.finish(sum), self.finish(difference))
            }
        }
    }
}
