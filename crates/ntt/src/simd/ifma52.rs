// SPDX-License-Identifier: Apache-2.0
//! Butterflies on 52-bit multiply-add (IFMA) with values that only grow.

use zq::simd::{Avx512, Ifma, Lanes, Vector};

use super::arith::{Arith, Factor, check_lanes};

/// No correction between forward stages.
pub(crate) const NEVER: usize = usize::MAX;

/// Values live in the low 52 bits of a lane; the multiplier ignores what is above, so bits above may hold anything.
///
/// **Product.** For `y < 2^52` and `w' = floor(w 2^52 / q)`, with `h = floor(y w' / 2^52)`:
/// `0 <= y w - h q < q + y q / 2^52 < 2q`, and it is `lo(y w) + lo(h (2^52 - q))` modulo 2^52. Added to `x` by the same
/// two instructions.
///
/// **Forward.** `x' = x + t`, `y' = 2x + 2q - x'` with `t < 2q`: both below `x + 2q`. From `q`, after `s` stages values
/// are below `(1 + 2s) q`: 35q for `n = 2^17`, below 2^52 for `q < 2^46` ([`NEVER`]). With `x` reduced below `2q` (two
/// more instructions) in every stage whose number is a multiple of `PERIOD`, values stay below `(2 + 2 PERIOD) q`: 8q
/// for `PERIOD = 3` (`q < 2^49`), 4q for 1 (`q < 2^50`).
///
/// **Inverse.** `NEVER`: sums double. A pass accepts values below 8q; stage number `s` (0..6) has operands below
/// `2^s q`, adds that to the difference and yields sums and differences below `2^(s+1) q <= 64 q < 2^52`. After a pass,
/// result `r = 0` (only sums) is reduced below 2q; `r` with highest bit `b` was a product (below 2q) in the pass's
/// stage `b` of `log2 R <= 3`, then summed at most twice: below 8q. Other periods: operands below 2q, the sum (below
/// 4q) is reduced in every stage.
#[derive(Clone, Copy)]
pub(crate) struct Ifma52<const PERIOD: usize> {
    q: u64,
    /// `2^52 - q`.
    minus_q: Avx512,
    q1: Avx512,
    q2: Avx512,
    /// `floor(2^52 / q)`.
    reciprocal: Avx512,
    two: Avx512,
    mask: Avx512,
    zero: Avx512,
}

const BITS: u32 = 52;

impl<const PERIOD: usize> Ifma52<PERIOD> {
    /// `x + w y` with a product below 2q.
    #[inline(always)]
    unsafe fn mul_add(&self, x: Avx512, y: Avx512, f: Factor<Avx512>) -> Avx512 {
        // SAFETY: IFMA by the contract of `Arith`.
        unsafe {
            let h = self.zero.madd_hi(f.quotient, y);
            x.madd_lo(f.w, y).madd_lo(h, self.minus_q)
        }
    }

    /// `w y - q`, with the product below 2q.
    #[inline(always)]
    pub(super) unsafe fn product_less_q(&self, y: Avx512, f: Factor<Avx512>) -> Avx512 {
        // SAFETY: IFMA by the caller, a method of `Arith`.
        unsafe { self.mul_add(self.minus_q, y, f) }
    }

    /// Any value below 2^52 to one below 2q: the product by 1.
    #[inline(always)]
    unsafe fn reduce(&self, x: Avx512) -> Avx512 {
        // SAFETY: IFMA by the caller, a method of `Arith`.
        unsafe { self.reduce_from(self.zero, x) }
    }

    /// The same less `first` times q.
    #[inline(always)]
    pub(super) unsafe fn reduce_from(&self, first: Avx512, x: Avx512) -> Avx512 {
        // SAFETY: IFMA by the caller, a method of `Arith`; `x` and the constants are registers.
        unsafe { x.madd_lo(first.madd_hi(self.reciprocal, x), self.minus_q) }
    }

    /// A value below 2q, with anything above bit 51, to a residue.
    #[inline(always)]
    unsafe fn finish(&self, x: Avx512) -> Avx512 {
        // SAFETY: AVX-512 F by the caller, a method of `Arith`; two operations on registers.
        unsafe { x.and(self.mask).csub(self.q1) }
    }

    /// Added to a difference so that it is not negative: the bound of the operands.
    #[inline(always)]
    unsafe fn bias(&self, stage: usize) -> Avx512 {
        debug_assert!(stage < 6);
        // SAFETY: AVX-512 F by the caller, a method of `Arith`, all that a splat needs.
        unsafe {
            if PERIOD == NEVER {
                Avx512::splat(self.q << stage)
            } else {
                self.q2
            }
        }
    }

    /// Checks, in debug builds, that the 52-bit value of every lane is below `bound` times `q`.
    #[inline(always)]
    pub(super) unsafe fn check(&self, v: Avx512, bound: u64) {
        let q = self.q;
        // SAFETY: AVX-512 F by the caller, a method of `Arith`; `check_lanes` stores to an array of its own.
        unsafe {
            check_lanes(
                v.and(self.mask),
                |x| {
                    let limit = u128::from(bound) * u128::from(q);
                    debug_assert!(limit <= 1 << BITS, "{bound} q does not fit for q = {q}");
                    u128::from(x) < limit
                },
                "below its multiple of q",
            )
        };
    }

    /// `x + y` and `x - y + bias`, in 52 bits.
    #[inline(always)]
    unsafe fn sum_difference(&self, stage: usize, x: Avx512, y: Avx512) -> (Avx512, Avx512) {
        // SAFETY: AVX-512 F by the caller, a method of `Arith`, which `check` and `bias` need; sums of registers.
        unsafe {
            let bound = if PERIOD == NEVER { 1 << stage } else { 2 };
            self.check(x, bound);
            self.check(y, bound);
            (x.add(y), x.add(self.bias(stage)).sub(y))
        }
    }
}

impl<const PERIOD: usize> Arith for Ifma52<PERIOD> {
    type V = Avx512;
    const LAZY_BOUND: u64 = if PERIOD == NEVER {
        35
    } else {
        2 + 2 * PERIOD as u64
    };

    fn twiddle(q: u64, w: u64) -> [u64; 2] {
        [w, ((u128::from(w) << BITS) / u128::from(q)) as u64]
    }

    #[inline(always)]
    unsafe fn new(q: u64) -> Self {
        // SAFETY: AVX-512 F by the contract of `Arith`, all that a splat needs.
        unsafe {
            Self {
                q,
                minus_q: Avx512::splat((1 << BITS) - q),
                q1: Avx512::splat(q),
                q2: Avx512::splat(2 * q),
                reciprocal: Avx512::splat((1 << BITS) / q),
                two: Avx512::splat(2),
                mask: Avx512::splat((1 << BITS) - 1),
                zero: Avx512::splat(0),
            }
        }
    }

    #[inline(always)]
    unsafe fn enter(&self, v: Avx512) -> Avx512 {
        v
    }

    #[inline(always)]
    unsafe fn forward(
        &self,
        stage: usize,
        x: Avx512,
        y: Avx512,
        f: Factor<Avx512>,
    ) -> (Avx512, Avx512) {
        // SAFETY: IFMA by the contract of `Arith`, which `reduce` and `mul_add` need; operands are registers.
        unsafe {
            let x = if PERIOD != NEVER && stage.is_multiple_of(PERIOD) {
                self.reduce(x)
            } else {
                x
            };
            if PERIOD != NEVER {
                let bound = 2 + 2 * (stage % PERIOD) as u64;
                self.check(x, bound);
                self.check(y, 2 + 2 * PERIOD as u64);
            }
            let sum = self.mul_add(x, y, f);
            (sum, self.q2.madd_lo(x, self.two).sub(sum))
        }
    }

    #[inline(always)]
    unsafe fn leave(&self, v: Avx512) -> Avx512 {
        // SAFETY: IFMA by the contract of `Arith`. The largest bound of all: n = 2^17 without corrections.
        unsafe {
            self.check(v, Self::LAZY_BOUND);
            self.finish(self.reduce(v))
        }
    }

    #[inline(always)]
    unsafe fn inverse(
        &self,
        stage: usize,
        x: Avx512,
        y: Avx512,
        f: Factor<Avx512>,
    ) -> (Avx512, Avx512) {
        // SAFETY: IFMA by the contract of `Arith`, which `reduce` and `mul_add` need; `x` and `y` are registers.
        unsafe {
            let (sum, difference) = self.sum_difference(stage, x, y);
            let sum = if PERIOD == NEVER {
                sum
            } else {
                self.reduce(sum)
            };
            (sum, self.mul_add(self.zero, difference, f))
        }
    }

    #[inline(always)]
    unsafe fn settle(&self, r: usize, _radix: usize, v: Avx512) -> Avx512 {
        // SAFETY: IFMA by the contract of `Arith`, all that `reduce` needs.
        unsafe {
            if PERIOD == NEVER && r == 0 {
                self.reduce(v)
            } else {
                v
            }
        }
    }

    #[inline(always)]
    unsafe fn inverse_last(
        &self,
        stage: usize,
        x: Avx512,
        y: Avx512,
        n_inv: Factor<Avx512>,
        last: Factor<Avx512>,
    ) -> (Avx512, Avx512) {
        // SAFETY: IFMA by the contract of `Arith`. Sum and difference are below 64q or 4q, so below 2^52.
        unsafe {
            let (sum, difference) = self.sum_difference(stage, x, y);
            let sum = self.finish(self.mul_add(self.zero, sum, n_inv));
            (sum, self.finish(self.mul_add(self.zero, difference, last)))
        }
    }
}
