// SPDX-License-Identifier: Apache-2.0
//! Inverse passes, the mirror of the forward ones.

use std::marker::PhantomData;

use zq::simd::Lanes;

use super::input::Plain;
use super::registers::*;
use crate::simd::arith::Arith;
use crate::simd::tables::Factors;

/// The inverse stage of a group whose butterflies are at distance `HALF`, the mirror of forward stage `stage`.
#[inline(always)]
unsafe fn inverse_stage<A: Arith, F: FactorOf<A::V>, const HALF: usize>(
    arith: &A,
    v: &mut [A::V; 8],
    f: &F,
    g: usize,
    stage: usize,
) {
    // Stages are numbered on from those within vectors.
    let number = A::V::LOG_LANES + HALF.ilog2() as usize;
    unrolled!(pairs::<A::V>(HALF << stage), i => {
        let (block, x) = operands(i, HALF);
        // SAFETY: arithmetic on registers; the factor exists.
        unsafe {
            let f = f.get(g, stage, block % (1 << stage));
            (v[x], v[x + HALF]) = arith.inverse(number, v[x], v[x + HALF], f);
        }
    });
}

/// `log2 R` inverse stages of `R` operands; with `ROOT` the last one is the outermost of the whole transform, which
/// multiplies by `n^-1` and reduces fully.
#[inline(always)]
pub(super) unsafe fn inverse_stages<
    A: Arith,
    F: FactorOf<A::V>,
    const R: usize,
    const G: usize,
    const ROOT: bool,
>(
    arith: &A,
    v: &mut [[A::V; 8]; G],
    f: &F,
    scale: &[u64; 4],
) {
    // SAFETY: arithmetic on registers; `f` has a factor for every block of these stages (caller).
    unsafe {
        if const { R > 2 } {
            groups!(G, g => inverse_stage::<A, F, 1>(arith, &mut v[g], f, g, R.ilog2() as usize - 1));
            pin(v);
        }
        if const { R > 4 } {
            groups!(G, g => inverse_stage::<A, F, 2>(arith, &mut v[g], f, g, R.ilog2() as usize - 2));
            pin(v);
        }
        if const { ROOT && R == 2 } {
            groups!(G, g => scaling_stage::<A, 1>(arith, &mut v[g], scale));
        } else if const { ROOT && R == 4 } {
            groups!(G, g => scaling_stage::<A, 2>(arith, &mut v[g], scale));
        } else if const { ROOT } {
            groups!(G, g => scaling_stage::<A, 4>(arith, &mut v[g], scale));
        } else if const { R == 2 } {
            groups!(G, g => inverse_stage::<A, F, 1>(arith, &mut v[g], f, g, 0));
        } else if const { R == 4 } {
            groups!(G, g => inverse_stage::<A, F, 2>(arith, &mut v[g], f, g, 0));
        } else {
            groups!(G, g => inverse_stage::<A, F, 4>(arith, &mut v[g], f, g, 0));
        }
        if const { !ROOT } {
            // Back to what the next pass accepts.
            groups!(G, g => for (r, v) in v[g].iter_mut().enumerate() {
                *v = arith.settle(r % R, R, *v);
            });
        }
    }
}

/// The outermost inverse stage of the whole transform, butterflies at distance `HALF`.
#[inline(always)]
unsafe fn scaling_stage<A: Arith, const HALF: usize>(
    arith: &A,
    v: &mut [A::V; 8],
    scale: &[u64; 4],
) {
    // SAFETY: `scale` is two pairs; the rest is arithmetic on registers.
    unsafe {
        let n_inv = splat_pair(scale.as_ptr());
        let last = splat_pair(scale.as_ptr().add(2));
        let number = A::V::LOG_LANES + HALF.ilog2() as usize;
        unrolled!(pairs::<A::V>(HALF), i => {
            let (_, x) = operands(i, HALF);
            (v[x], v[x + HALF]) = arith.inverse_last(number, v[x], v[x + HALF], n_inv, last);
        });
    }
}

/// The mirror of `forward_pass`; `ROOT` is the outermost one.
#[inline(always)]
unsafe fn inverse_pass<A: Arith, const R: usize, const G: usize, const ROOT: bool>(
    arith: &A,
    t: Factors,
    scale: &[u64; 4],
    a: *mut u64,
    len: usize,
    k: usize,
) {
    // SAFETY: `a` has `len` words, R runs of `len / R`, and every access is below; nodes from `k` on down exist.
    unsafe {
        let f = factors::<A, R>(t, k);
        let step = len / R;
        for j in (0..step).step_by(G * sets::<A::V>(R) * A::V::LANES) {
            let mut v = load_sets::<A::V, _, R, G>(Plain(a), j, step);
            inverse_stages::<A, _, R, G, ROOT>(arith, &mut v, &f, scale);
            store_sets::<A::V, R, G>(&v, a.add(j), step);
        }
    }
}

/// An inverse pass of one, two or three stages.
#[inline(always)]
pub(super) unsafe fn inverse_pass_of<A: Arith, const ROOT: bool>(
    arith: &A,
    t: Factors,
    scale: &[u64; 4],
    stages: u32,
    a: *mut u64,
    len: usize,
    k: usize,
) {
    // SAFETY: the caller enabled the features and gives a block's `len` words, its node `k`, and R = 2^stages.
    unsafe {
        if const { group_count::<A::V>() == 1 } {
            match stages {
                1 => inverse_pass::<A, 2, 1, ROOT>(arith, t, scale, a, len, k),
                2 => inverse_pass::<A, 4, 1, ROOT>(arith, t, scale, a, len, k),
                _ => inverse_pass::<A, 8, 1, ROOT>(arith, t, scale, a, len, k),
            }
        } else {
            match stages {
                1 => inverse_pass::<A, 2, 2, ROOT>(arith, t, scale, a, len, k),
                2 => inverse_pass::<A, 4, 2, ROOT>(arith, t, scale, a, len, k),
                _ => inverse_pass::<A, 8, 2, ROOT>(arith, t, scale, a, len, k),
            }
        }
    }
}

/// The in-register stage with `D` blocks in a pair, inverse.
#[inline(always)]
unsafe fn inverse_lanes<A: Arith, const D: usize>(
    arith: &A,
    t: Factors,
    b: usize,
    v: &mut [A::V; 8],
) {
    let number = A::V::LOG_LANES - D.trailing_zeros() as usize;
    unrolled!(VECTORS / 2, i => {
        let (x, y) = (2 * i, 2 * i + 1);
        // SAFETY: the table has factors for block `b`, this stage and pair `i`; the rest is arithmetic on registers.
        (v[x], v[y]) = unsafe { arith.inverse(number, v[x], v[y], lane_factor::<A, D>(t, b, i)) };
    });
}

/// The mirror of `forward_blocks`, from `from` to `a`, which may be the same.
#[inline(always)]
pub(super) unsafe fn inverse_blocks<A: Arith, const G: usize>(
    arith: &A,
    t: Factors,
    scale: &[u64; 4],
    (from, a): (*const u64, *mut u64),
    blocks: usize,
    b: usize,
) {
    // SAFETY: the blocks lie within the transform.
    unsafe {
        let start = b * block_len::<A::V>();
        let (from, p) = (from.add(start), a.add(start));
        let mut v = [load_block::<A::V>(from); G];
        groups!(G, g => v[g] = load_block::<A::V>(from.add(g * block_len::<A::V>())));
        groups!(G, g => {
            each!(v[g], arith.enter_inverse);
            shuffle!(v[g], A::V::unmerge);
        });
        if const { A::V::LOG_LANES > 2 } {
            groups!(G, g => inverse_lanes::<A, 8>(arith, t, b + g, &mut v[g]));
            pin(&mut v);
            groups!(G, g => {
                shuffle!(v[g], A::V::join::<1>);
                inverse_lanes::<A, 4>(arith, t, b + g, &mut v[g]);
            });
            pin(&mut v);
            groups!(G, g => shuffle!(v[g], A::V::join::<2>));
        } else if const { A::V::LOG_LANES > 1 } {
            groups!(G, g => inverse_lanes::<A, 4>(arith, t, b + g, &mut v[g]));
            pin(&mut v);
            groups!(G, g => shuffle!(v[g], A::V::join::<1>));
        }
        groups!(G, g => inverse_lanes::<A, 2>(arith, t, b + g, &mut v[g]));
        pin(&mut v);
        groups!(G, g => {
            shuffle!(v[g], A::V::unsplit);
            each!(v[g], arith.between);
        });
        let nodes = FromNode {
            table: t,
            k: blocks + b,
            arith: PhantomData::<A>,
        };
        inverse_stages::<A, _, 8, G, false>(arith, &mut v, &nodes, scale);
        groups!(G, g => store_block(&v[g], p.add(g * block_len::<A::V>())));
    }
}
