// SPDX-License-Identifier: Apache-2.0
//! Butterflies for moduli below 2^60 on 64-bit products in general registers, where vectors have none.

use zq::Word;
use zq::simd::Pair;

use super::arith::{Arith, Factor, check_lanes};

/// Values are signed words congruent to the residue.
///
/// **Product.** A factor is `w` between `-q/2` and `q/2` with `w' = round(w 2^64 / q)`; `h = floor(y w' / 2^64)`, a
/// signed high half. `y w / q - h` is the cut of `h`, in `[0, 1)`, and `y` times the rounding of `w'`, at most
/// `|y| 2^-65 <= 1/4` in size: the product `y w - h q` is above `-q/4` and below `5q/4` for any word `y`.
///
/// **Forward.** A stage adds at most 5q/4 to the size of `x`. In every fourth stage `x` is reduced by a product by 1:
/// then sizes are up to 5/2, 15/4, 5 and 25/4 q, below 2^63 as `8q <= 2^63`.
///
/// **Inverse.** Operands are up to 5q/2 in size, sums 5q. In stages of odd number the sum is reduced. So a result is a
/// reduced value or a product (5q/4), or the sum of two such; the first stage starts from residues.
#[derive(Clone, Copy)]
pub(crate) struct Mul64 {
    q: u64,
    /// The quotient of the factor 1.
    one: u64,
    /// `floor(2^64 / q)`.
    reciprocal: u64,
}

/// `round(w 2^64 / q)` for `w` between `-q/2` and `q/2`.
fn quotient(q: u64, w: i64) -> u64 {
    let (w, q) = (i128::from(w) << 64, i128::from(q));
    (2 * w + q).div_euclid(2 * q) as u64
}

impl Mul64 {
    /// `y w` between `-q/4` and `5q/4`.
    #[inline(always)]
    fn product(&self, y: u64, w: u64, quotient: u64) -> u64 {
        let h = (i128::from(y as i64) * i128::from(quotient as i64)) >> 64;
        y.wrapping_mul(w)
            .wrapping_sub((h as u64).wrapping_mul(self.q))
    }

    #[inline(always)]
    unsafe fn mul(&self, Pair(y): Pair, f: Factor<Pair>) -> Pair {
        let lane = |i: usize| self.product(y[i], f.w.0[i], f.quotient.0[i]);
        let t = Pair([lane(0), lane(1)]);
        // SAFETY: no instruction needs anything.
        unsafe { self.check(t, 5) };
        t
    }

    /// Any word to one between `-q/4` and `5q/4`.
    #[inline(always)]
    unsafe fn reduce(&self, Pair(x): Pair) -> Pair {
        Pair(x.map(|x| self.product(x, 1, self.one)))
    }

    /// A value below 7q in size to a residue.
    #[inline(always)]
    fn residue(&self, x: u64) -> u64 {
        let x = x.wrapping_add(self.q.wrapping_mul(7));
        // Below 14q <= 2^64: the quotient is short by less than 2.
        let h = x.mul_hi(self.reciprocal);
        u64::csub(x.wrapping_sub(h.wrapping_mul(self.q)), self.q)
    }

    /// Checks, in debug builds, that every lane is at most `quarters` quarters of `q` in size.
    #[inline(always)]
    unsafe fn check(&self, v: Pair, quarters: u64) {
        let limit = u128::from(quarters) * u128::from(self.q);
        let holds = |x: u64| 4 * u128::from((x as i64).unsigned_abs()) <= limit;
        // SAFETY: no instruction needs anything.
        unsafe { check_lanes(v, holds, "within its multiple of q") };
    }
}

#[inline(always)]
fn sums(Pair(x): Pair, Pair(y): Pair) -> Pair {
    Pair([x[0].wrapping_add(y[0]), x[1].wrapping_add(y[1])])
}

#[inline(always)]
fn differences(Pair(x): Pair, Pair(y): Pair) -> Pair {
    Pair([x[0].wrapping_sub(y[0]), x[1].wrapping_sub(y[1])])
}

// Bodies need no instructions that the architecture may lack.
impl Arith for Mul64 {
    type V = Pair;

    fn twiddle(q: u64, w: u64) -> [u64; 2] {
        let centred = if w > q / 2 {
            w.wrapping_sub(q) as i64
        } else {
            w as i64
        };
        [centred as u64, quotient(q, centred)]
    }

    #[inline(always)]
    unsafe fn new(q: u64) -> Self {
        debug_assert!(q > 2 && q < 1 << 60);
        Self {
            q,
            // As any word: of a quotient whose sign it knows the compiler makes a product of four words.
            one: u64::opaque(quotient(q, 1)),
            reciprocal: ((1u128 << 64) / u128::from(q)) as u64,
        }
    }

    #[inline(always)]
    unsafe fn enter(&self, v: Pair) -> Pair {
        v
    }

    #[inline(always)]
    unsafe fn forward(&self, stage: usize, x: Pair, y: Pair, f: Factor<Pair>) -> (Pair, Pair) {
        // SAFETY: no instruction needs anything.
        unsafe {
            let x = if stage.is_multiple_of(4) {
                self.reduce(x)
            } else {
                x
            };
            self.check(x, 5 * (1 + stage as u64 % 4));
            let t = self.mul(y, f);
            (sums(x, t), differences(x, t))
        }
    }

    #[inline(always)]
    unsafe fn leave(&self, v: Pair) -> Pair {
        // SAFETY: no instruction needs anything.
        unsafe { self.check(v, 25) };
        Pair(v.0.map(|x| self.residue(x)))
    }

    #[inline(always)]
    unsafe fn inverse(&self, stage: usize, x: Pair, y: Pair, f: Factor<Pair>) -> (Pair, Pair) {
        // SAFETY: no instruction needs anything.
        unsafe {
            self.check(x, 10);
            self.check(y, 10);
            let sum = sums(x, y);
            let sum = if stage.is_multiple_of(2) {
                sum
            } else {
                self.reduce(sum)
            };
            (sum, self.mul(differences(x, y), f))
        }
    }

    #[inline(always)]
    unsafe fn between(&self, v: Pair) -> Pair {
        v
    }

    #[inline(always)]
    unsafe fn settle(&self, _r: usize, _radix: usize, v: Pair) -> Pair {
        v
    }

    #[inline(always)]
    unsafe fn inverse_last(
        &self,
        _stage: usize,
        x: Pair,
        y: Pair,
        n_inv: Factor<Pair>,
        last: Factor<Pair>,
    ) -> (Pair, Pair) {
        // SAFETY: no instruction needs anything.
        unsafe {
            let (sum, difference) = (
                self.mul(sums(x, y), n_inv),
                self.mul(differences(x, y), last),
            );
            (self.leave(sum), self.leave(difference))
        }
    }
}
