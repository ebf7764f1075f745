// SPDX-License-Identifier: Apache-2.0
//! Forward butterflies on 52-bit multiply-add for processors that start half as many of them as sums
//! ([`zq::simd::Level::IfmaAmd`]): three a butterfly, those of the product, and everything else by other operations.

use zq::simd::{Avx512, Lanes, Vector};

use super::arith::{Arith, Factor};
use super::ifma52::{Ifma52, NEVER};

/// Values as those of [`Ifma52`], in the low 52 bits of a lane; the same inverse butterflies.
///
/// **Forward.** `t = y w - (h + 1) q`, with `h` as there, is at least `-q` and below q, and costs nothing more: the sum
/// starts from -q. `x' = x + t`, `y' = x - t`: in every stage values spread by q at both ends of their range, so they
/// have to start away from 0.
///
/// `NEVER`: from 17q to 18q at the start, after `s` stages from `(17 - s) q` to `(18 + s) q`: to 35q for `n = 2^17`,
/// below 2^52 for `q < 2^46`. With `PERIOD = 3` (`q < 2^49`), `x` is reduced to `3q .. 5q` in every third stage by two
/// multiply-adds, so values stay below 8q. With 1 (`2^49 < q < 2^50`), in every stage: bits 49 to 51 of `x < 4q`, the
/// number `c`, choose a multiple `floor(c 2^49 / q) q` of q, and `x` less that is below `q + 2^49 < 2q`; q more are
/// added, so values stay below 4q.
#[derive(Clone, Copy)]
pub(crate) struct Ifma52Amd<const PERIOD: usize> {
    common: Ifma52<PERIOD>,
    /// `17 q`.
    start: Avx512,
    /// -3 modulo 2^52.
    minus_3: Avx512,
    /// `q - floor(c 2^49 / q) q` in lane `c`.
    multiples: Avx512,
}

/// The lowest of the bits that choose a multiple.
const CHOICE: u32 = 49;

impl<const PERIOD: usize> Ifma52Amd<PERIOD> {
    /// `x` to where it has room for the stages that follow.
    #[inline(always)]
    unsafe fn make_room(&self, stage: usize, x: Avx512) -> Avx512 {
        // SAFETY: IFMA by the caller, a method of `Arith`; `x` and the constants are registers.
        unsafe {
            if PERIOD == NEVER || !stage.is_multiple_of(PERIOD) {
                return x;
            }
            self.common.check(x, Self::LAZY_BOUND);
            if PERIOD == 1 {
                // The bits above the three do not count.
                x.add(self.multiples.permute(x.shr::<CHOICE>()))
            } else {
                self.common.reduce_from(self.minus_3, x)
            }
        }
    }
}

impl<const PERIOD: usize> Arith for Ifma52Amd<PERIOD> {
    type V = Avx512;
    const LAZY_BOUND: u64 = Ifma52::<PERIOD>::LAZY_BOUND;

    fn twiddle(q: u64, w: u64) -> [u64; 2] {
        Ifma52::<PERIOD>::twiddle(q, w)
    }

    #[inline(always)]
    unsafe fn new(q: u64) -> Self {
        debug_assert!(PERIOD != 1 || q >> CHOICE == 1);
        let multiple = |c: u64| q.wrapping_sub((c << CHOICE) / q * q);
        let multiples: [u64; 8] = core::array::from_fn(|c| multiple(c as u64));
        // SAFETY: AVX-512 F by the contract of `Arith`; the array has eight words.
        unsafe {
            Self {
                common: Ifma52::new(q),
                start: Avx512::splat(17 * q),
                minus_3: Avx512::splat(3u64.wrapping_neg()),
                multiples: Avx512::load(multiples.as_ptr()),
            }
        }
    }

    #[inline(always)]
    unsafe fn enter(&self, v: Avx512) -> Avx512 {
        // SAFETY: AVX-512 F by the contract of `Arith`; a sum of registers.
        unsafe {
            if PERIOD == NEVER {
                v.add(self.start)
            } else {
                v
            }
        }
    }

    #[inline(always)]
    unsafe fn enter_inverse(&self, v: Avx512) -> Avx512 {
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
        // SAFETY: IFMA by the contract of `Arith`; operands are registers.
        unsafe {
            self.common.check(y, Self::LAZY_BOUND);
            let x = self.make_room(stage, x);
            let t = self.common.product_less_q(y, f);
            (x.add(t), x.sub(t))
        }
    }

    #[inline(always)]
    unsafe fn leave(&self, v: Avx512) -> Avx512 {
        // SAFETY: the contract of `Arith`, and values as there.
        unsafe { self.common.leave(v) }
    }

    #[inline(always)]
    unsafe fn inverse(
        &self,
        stage: usize,
        x: Avx512,
        y: Avx512,
        f: Factor<Avx512>,
    ) -> (Avx512, Avx512) {
        // SAFETY: the contract of `Arith`, and values as there.
        unsafe { self.common.inverse(stage, x, y, f) }
    }

    #[inline(always)]
    unsafe fn settle(&self, r: usize, radix: usize, v: Avx512) -> Avx512 {
        // SAFETY: the contract of `Arith`, and values as there.
        unsafe { self.common.settle(r, radix, v) }
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
        // SAFETY: the contract of `Arith`, and values as there.
        unsafe { self.common.inverse_last(stage, x, y, n_inv, last) }
    }
}
