// SPDX-License-Identifier: Apache-2.0
//! Butterflies for moduli below 2^60 on 64-bit products in general registers, where vectors have none.

use zq::Word;
use zq::simd::Pair;

use super::arith::{Arith, Factor, check_lanes};

/// Values are words congruent to the residue, signed unless said otherwise.
///
/// **Product.** A factor is `w` between `-q/2` and `q/2` with `w' = round(w 2^64 / q)`; `h = floor(y w' / 2^64)`, a
/// signed high half. `y w / q - h` is the cut of `h`, in `[0, 1)`, and `y` times the rounding of `w'`, at most
/// `|y| 2^-65 <= 1/4` in size: the product `y w - h q` is above `-q/4` and below `5q/4` for any word `y`.
///
/// **Forward.** A stage adds at most 5q/4 to the size of `x`. In every fourth stage by its number `x` is reduced by a
/// product by 1: then sizes are up to 5/2, 15/4, 5 and 25/4 q, below 2^63 as `8q <= 2^63`. So two passes of two stages
/// need one reduction, and the first two, which start from residues, none: [`Arith::RESTS`].
///
/// **Inverse.** Sums double the ends of a range, and nothing is reduced within a pass; differences then are below 8q in
/// size. A pass starts between `-q/2` and `5q/2`, the first one with residues, and after two stages a sum of sums is
/// between `-2q` and `10q`, after the first pass's four below `16q <= 2^64`: as unsigned words, the lower end added,
/// they are brought below 2q. Other results are in range, or are reduced by a product by 1.
/// The last stage makes products of unsigned words, with a quotient that is cut, which are below 2q.
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
        unsafe { self.check(t, [1, 5]) };
        t
    }

    /// `y w` as a residue, for any unsigned word `y` and a factor of [`Arith::last_twiddle`]: the quotient is short by
    /// the cut of `w'`, less than `y 2^-64`, and its own, so by less than 2.
    #[inline(always)]
    fn last_product(&self, Pair(y): Pair, f: Factor<Pair>) -> Pair {
        let lane = |i: usize| {
            let h = y[i].mul_hi(f.quotient.0[i]);
            y[i].wrapping_mul(f.w.0[i])
                .wrapping_sub(h.wrapping_mul(self.q))
        };
        Pair([lane(0), lane(1)]).csub(self.q)
    }

    /// Any word to one between `-q/4` and `5q/4`.
    #[inline(always)]
    unsafe fn reduce(&self, Pair(x): Pair) -> Pair {
        Pair(x.map(|x| self.product(x, 1, self.one)))
    }

    /// Any unsigned word to one below 2q: the quotient is short by the cut of the reciprocal, less than `x 2^-64`, and
    /// its own.
    #[inline(always)]
    fn reduce_unsigned(&self, x: u64) -> u64 {
        x.wrapping_sub(x.mul_hi(self.reciprocal).wrapping_mul(self.q))
    }

    /// Adds a multiple of `q`.
    #[inline(always)]
    fn raise(&self, Pair(x): Pair, times: u64) -> Pair {
        Pair(x.map(|x| x.wrapping_add(self.q.wrapping_mul(times))))
    }

    /// Checks, in debug builds, that every lane is between as many quarters of `q` below zero and above.
    #[inline(always)]
    unsafe fn check(&self, v: Pair, [below, above]: [u64; 2]) {
        let quarter = |k: u64| i128::from(k) * i128::from(self.q) / 4;
        let holds = |x: u64| (-quarter(below)..=quarter(above)).contains(&(x as i64).into());
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

    fn last_twiddle(q: u64, w: u64) -> [u64; 2] {
        [w, ((u128::from(w) << 64) / u128::from(q)) as u64]
    }

    const RESTS: bool = true;

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
            self.check(x, [5 * (1 + stage as u64 % 4); 2]);
            let t = self.mul(y, f);
            (sums(x, t), differences(x, t))
        }
    }

    #[inline(always)]
    unsafe fn leave(&self, v: Pair) -> Pair {
        // SAFETY: no instruction needs anything.
        unsafe { self.check(v, [25; 2]) };
        Pair(self.raise(v, 7).0.map(|x| self.reduce_unsigned(x))).csub(self.q)
    }

    #[inline(always)]
    unsafe fn inverse(&self, _stage: usize, x: Pair, y: Pair, f: Factor<Pair>) -> (Pair, Pair) {
        // SAFETY: no instruction needs anything.
        unsafe {
            self.check(x, [4, 32]);
            self.check(y, [4, 32]);
            (sums(x, y), self.mul(differences(x, y), f))
        }
    }

    #[inline(always)]
    unsafe fn settle(&self, r: usize, radix: usize, v: Pair) -> Pair {
        let settled = match (radix, r) {
            (4, 0) => Pair(self.raise(v, 2).0.map(|x| self.reduce_unsigned(x))),
            // The first pass has had a stage within the pair: of sums, which nothing is subtracted from, and products.
            (8, 0) => {
                let Pair([sum, product]) = v;
                Pair([sum, self.raise(Pair([product; 2]), 2).0[0]].map(|x| self.reduce_unsigned(x)))
            }
            // SAFETY: no instruction needs anything.
            (2, 0) | (8, 1) => unsafe { self.reduce(v) },
            _ => v,
        };
        // SAFETY: no instruction needs anything.
        unsafe { self.check(settled, [2, 10]) };
        settled
    }

    /// As the last stage of a pass of two or one: a transform has more words than the first pass's blocks.
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
            self.check(x, [4, 20]);
            self.check(y, [4, 20]);
        }
        let (sum, difference) = (self.raise(sums(x, y), 2), self.raise(differences(x, y), 6));
        (
            self.last_product(sum, n_inv),
            self.last_product(difference, last),
        )
    }
}
