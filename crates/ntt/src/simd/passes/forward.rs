// SPDX-License-Identifier: Apache-2.0
//! Forward passes.

use std::marker::PhantomData;

use zq::simd::Lanes;

use super::input::Input;
use super::prefetch::Prefetch;
use super::registers::*;
use crate::simd::arith::Arith;
use crate::simd::tables::Factors;

/// Destination of a pass: its runs of neighbouring results, and their stride in words.
pub(crate) type Runs = (*mut u64, usize);

/// Portions that the last pass prefetches ([`Prefetch`]): one before, between and after its stages.
const PORTIONS: usize = 8;

/// Forward stage `stage` of a group, numbered from `FIRST` on: four butterflies at distance `HALF`.
#[inline(always)]
unsafe fn forward_stage<A: Arith, F: FactorOf<A::V>, const HALF: usize, const FIRST: usize>(
    arith: &A,
    v: &mut [A::V; 8],
    f: &F,
    g: usize,
    stage: usize,
) {
    unrolled!(pairs::<A::V>(HALF << stage), i => {
        let (block, x) = operands(i, HALF);
        // SAFETY: arithmetic on registers; the factor exists.
        unsafe {
            let f = f.get(g, stage, block % (1 << stage));
            (v[x], v[x + HALF]) = arith.forward(FIRST + stage, v[x], v[x + HALF], f);
        }
    });
}

/// `log2 R` forward stages of `R` operands, numbered from `FIRST` on; a group holds `8 / R` sets of them. Portions 1 to
/// 3 of `prefetch` are prefetched.
#[inline(always)]
pub(super) unsafe fn forward_stages<
    A: Arith,
    F: FactorOf<A::V>,
    const R: usize,
    const G: usize,
    const FIRST: usize,
>(
    arith: &A,
    v: &mut [[A::V; 8]; G],
    f: &F,
    prefetch: Prefetch<'_>,
) {
    // SAFETY: arithmetic on registers; `f` has a factor for every block of these stages (caller).
    unsafe {
        if const { R > 4 } {
            groups!(G, g => forward_stage::<A, F, 4, FIRST>(arith, &mut v[g], f, g, 0));
            pin(v);
            prefetch.request::<A::V>(1, PORTIONS);
        }
        if const { R > 2 } {
            groups!(G, g => forward_stage::<A, F, 2, FIRST>(arith, &mut v[g], f, g, R.ilog2() as usize - 2));
            pin(v);
            prefetch.request::<A::V>(2, PORTIONS);
        }
        groups!(G, g => forward_stage::<A, F, 1, FIRST>(arith, &mut v[g], f, g, R.ilog2() as usize - 1));
        pin(v);
        prefetch.request::<A::V>(3, PORTIONS);
    }
}

/// A forward pass of `log2 R` stages over a block of `len` words, node `k`, operands from `input`, results to `out`:
/// runs of `len / R` neighbours, which start that many words apart.
#[inline(always)]
unsafe fn forward_pass<A: Arith, I: Input<A::V>, const R: usize, const G: usize>(
    arith: &A,
    t: Factors,
    input: I,
    (out, apart): Runs,
    (len, k): (usize, usize),
    prefetch: Prefetch<'_>,
) {
    // SAFETY: the input has `len` words, the output R runs of `len / R`, and every access is below; nodes are there.
    unsafe {
        let f = factors::<A, R>(t, k);
        let step = len / R;
        let width = G * sets::<A::V>(R) * A::V::LANES;
        for j in (0..step).step_by(width) {
            prefetch.request::<A::V>(j / width, step / width);
            let mut v = load_sets::<A::V, I, R, G>(input, j, step);
            if k == 1 {
                groups!(G, g => each!(v[g], arith.enter));
            }
            forward_stages::<A, _, R, G, 0>(arith, &mut v, &f, Prefetch::NONE);
            store_sets::<A::V, R, G>(&v, out.add(j), apart);
        }
    }
}

/// A forward pass of one, two or three stages.
#[inline(always)]
pub(super) unsafe fn forward_pass_of<A: Arith, I: Input<A::V>>(
    arith: &A,
    t: Factors,
    stages: u32,
    input: I,
    out: Runs,
    node: (usize, usize),
    prefetch: Prefetch<'_>,
) {
    // SAFETY: the caller enabled the features and gives a block's `len` words, its node, and R = 2^stages runs to fill.
    unsafe {
        if const { group_count::<A::V>() == 1 } {
            match stages {
                1 => forward_pass::<A, I, 2, 1>(arith, t, input, out, node, prefetch),
                2 => forward_pass::<A, I, 4, 1>(arith, t, input, out, node, prefetch),
                _ => forward_pass::<A, I, 8, 1>(arith, t, input, out, node, prefetch),
            }
        } else {
            match stages {
                1 => forward_pass::<A, I, 2, 2>(arith, t, input, out, node, prefetch),
                2 => forward_pass::<A, I, 4, 2>(arith, t, input, out, node, prefetch),
                _ => forward_pass::<A, I, 8, 2>(arith, t, input, out, node, prefetch),
            }
        }
    }
}

/// The last pass: blocks `b..b + G` of `blocks` at `p`, from three stages across vectors to results in order, fully
/// reduced unless `LAZY`. Stage by stage over all pairs of all blocks: one pair alone would wait for its own results.
/// `prefetch` is prefetched between the stages.
#[inline(always)]
pub(super) unsafe fn forward_blocks<A: Arith, const LAZY: bool, const G: usize>(
    arith: &A,
    t: Factors,
    p: *mut u64,
    (blocks, b): (usize, usize),
    prefetch: Prefetch<'_>,
) {
    // SAFETY: the blocks lie within the transform.
    unsafe {
        prefetch.request::<A::V>(0, PORTIONS);
        let mut v = [load_block::<A::V>(p); G];
        groups!(G, g => v[g] = load_block::<A::V>(p.add(g * block_len::<A::V>())));
        let nodes = FromNode {
            table: t,
            k: blocks + b,
            arith: PhantomData::<A>,
        };
        forward_stages::<A, _, 8, G, 0>(arith, &mut v, &nodes, prefetch);
        groups!(G, g => forward_lanes::<A, 2, 0>(arith, t, b + g, &mut v[g]));
        pin(&mut v);
        prefetch.request::<A::V>(4, PORTIONS);
        if const { A::V::LOG_LANES > 1 } {
            groups!(G, g => forward_lanes::<A, 4, 1>(arith, t, b + g, &mut v[g]));
            pin(&mut v);
        }
        prefetch.request::<A::V>(5, PORTIONS);
        if const { A::V::LOG_LANES > 2 } {
            groups!(G, g => forward_lanes::<A, 8, 2>(arith, t, b + g, &mut v[g]));
            pin(&mut v);
        }
        prefetch.request::<A::V>(6, PORTIONS);
        if const { !LAZY } {
            groups!(G, g => each!(v[g], arith.leave));
        }
        groups!(G, g => {
            shuffle!(v[g], A::V::merge);
            store_block(&v[g], p.add(g * block_len::<A::V>()));
        });
        prefetch.request::<A::V>(7, PORTIONS);
    }
}

/// In-register stage `S` with `D` blocks in a pair, forward.
#[inline(always)]
unsafe fn forward_lanes<A: Arith, const D: usize, const S: usize>(
    arith: &A,
    t: Factors,
    b: usize,
    v: &mut [A::V; 8],
) {
    // SAFETY: shuffles; the table has factors for all pairs. Stages go on after the three across vectors.
    unsafe {
        shuffle!(v, A::V::split::<S>);
        unrolled!(VECTORS / 2, i => {
            let (x, y) = (2 * i, 2 * i + 1);
            let f = lane_factor::<A, D>(t, b, i);
            (v[x], v[y]) = arith.forward(3 + S, v[x], v[y], f);
        });
    }
}
