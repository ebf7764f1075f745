// SPDX-License-Identifier: Apache-2.0
//! One stage after another through memory, for arithmetics whose butterflies are long chains of few operations
//! ([`Arith::STAGEWISE`]).
//!
//! A processor looks some sixty vector operations ahead. Eight operations that take sixteen cycles one after another
//! need eight butterflies in flight to start four in every cycle; sixteen registers hold the operands of four, whose
//! results the next stage waits for. From memory the butterflies of a stage need no registers but their own.

use zq::simd::Lanes;

use super::forward::Runs;
use super::input::{Input, Plain};
use super::prefetch::Prefetch;
use super::registers::{VECTORS, block_len, lane_factor, node, splat_pair};
use crate::simd::arith::{Arith, Factor};
use crate::simd::tables::{Factors, Tables};

/// Words that go through all their stages together: with their factors they fit the first cache level.
const REGION: usize = 1024;

/// Vectors of a run that the outer stages take together.
const COLUMNS: usize = 4;

/// Stages between two reductions.
const PERIOD: usize = 3;

/// Runs `$e` for each of `$vectors` vectors, a power of two, with the word that it starts from as `$i`. By fours: what
/// a loop costs is a quarter of a butterfly.
macro_rules! each_vector {
    ($V:ty, $vectors:expr, $i:ident => $e:expr) => {{
        let words = $vectors * <$V>::LANES;
        if words >= 4 * <$V>::LANES {
            for first in (0..words).step_by(4 * <$V>::LANES) {
                unrolled!(4, vector => {
                    let $i = first + vector * <$V>::LANES;
                    $e;
                });
            }
        } else {
            for $i in (0..words).step_by(<$V>::LANES) {
                $e;
            }
        }
    }};
}

/// Butterflies of `vectors` vectors, a power of two, from words `x` and `y` of the input on to `to`.
#[inline(always)]
unsafe fn forward_run<A: Arith, I: Input<A::V>, const STAGE: usize, const ENTER: bool>(
    arith: &A,
    f: Factor<A::V>,
    (input, [x, y]): (I, [usize; 2]),
    to: [*mut u64; 2],
    vectors: usize,
) {
    // SAFETY: the caller vouches for the features, and for as many vectors at each of the four places.
    unsafe {
        each_vector!(A::V, vectors, i => {
            let (mut a, mut b) = (input.load(x + i), input.load(y + i));
            if ENTER {
                (a, b) = (arith.enter(a), arith.enter(b));
            }
            let (a, b) = arith.forward(STAGE, a, b, f);
            a.store(to[0].add(i));
            b.store(to[1].add(i));
        });
    }
}

/// The stage of the block of `len` words at `p`, node `k`, number `number` of the transform or of its inner stages.
#[inline(always)]
unsafe fn forward_stage<A: Arith>(
    arith: &A,
    t: Factors,
    (p, len, k): (*mut u64, usize, usize),
    number: usize,
) {
    // SAFETY: the block has `len` words, two runs of whole vectors, and its node is in the table (caller).
    unsafe {
        let f = node::<A>(t, k);
        let (from, to) = ((Plain(p), [0, len / 2]), [p, p.add(len / 2)]);
        let vectors = len / 2 / A::V::LANES;
        if k == 1 {
            forward_run::<A, _, 0, true>(arith, f, from, to, vectors);
        } else if number.is_multiple_of(PERIOD) {
            forward_run::<A, _, 0, false>(arith, f, from, to, vectors);
        } else {
            forward_run::<A, _, 1, false>(arith, f, from, to, vectors);
        }
    }
}

/// In-register stage `S` with `D` blocks in a pair, over `blocks` blocks at `p`, the first of them number `b`; rows are
/// prefetched block by block.
#[inline(always)]
unsafe fn forward_lanes<A: Arith, const D: usize, const S: usize, const STAGE: usize>(
    arith: &A,
    t: Factors,
    p: *mut u64,
    (b, blocks): (usize, usize),
    mut prefetch: Prefetch<'_>,
) {
    // SAFETY: the blocks lie at `p`, and the table has factors for all pairs of vectors (caller).
    unsafe {
        for block in 0..blocks {
            prefetch.request::<A::V>(0, 1);
            prefetch.start += block_len::<A::V>();
            unrolled!(VECTORS / 2, i => {
                let p = p.add(block * block_len::<A::V>() + 2 * i * A::V::LANES);
                let (x, y) = A::V::split::<S>(A::V::load(p), A::V::load(p.add(A::V::LANES)));
                let f = lane_factor::<A, D>(t, b + block, i);
                let (x, y) = arith.forward(STAGE, x, y, f);
                x.store(p);
                y.store(p.add(A::V::LANES));
            });
        }
    }
}

/// The stages within vectors of `blocks` blocks, to reduced residues in order; the first is number `number`.
#[inline(always)]
unsafe fn forward_within<A: Arith>(
    arith: &A,
    t: Factors,
    p: *mut u64,
    blocks: (usize, usize),
    (number, prefetch): (usize, Prefetch<'_>),
) {
    // SAFETY: as `forward_lanes`; pairs of vectors lie within the blocks.
    unsafe {
        match number % PERIOD {
            0 => {
                forward_lanes::<A, 2, 0, 0>(arith, t, p, blocks, prefetch);
                forward_lanes::<A, 4, 1, 1>(arith, t, p, blocks, Prefetch::NONE);
            }
            1 => {
                forward_lanes::<A, 2, 0, 1>(arith, t, p, blocks, prefetch);
                forward_lanes::<A, 4, 1, 1>(arith, t, p, blocks, Prefetch::NONE);
            }
            _ => {
                forward_lanes::<A, 2, 0, 1>(arith, t, p, blocks, prefetch);
                forward_lanes::<A, 4, 1, 0>(arith, t, p, blocks, Prefetch::NONE);
            }
        }
        for i in (0..blocks.1 * block_len::<A::V>()).step_by(2 * A::V::LANES) {
            let p = p.add(i);
            let (x, y) = (A::V::load(p), A::V::load(p.add(A::V::LANES)));
            let (x, y) = A::V::merge(arith.leave(x), arith.leave(y));
            x.store(p);
            y.store(p.add(A::V::LANES));
        }
    }
}

/// The stages of block `outer_block` of `outer_blocks`, whose words are at `a`, after those that leave that many.
///
/// # Safety
/// As [`super::forward_block`].
#[inline(always)]
pub(super) unsafe fn forward<A: Arith>(
    arith: &A,
    tables: &Tables,
    a: *mut u64,
    [outer_blocks, outer_block]: [usize; 2],
    prefetch: &[*const u64],
) {
    let (n, t) = (tables.n, tables.forward.factors());
    let total = n / outer_blocks;
    let (offset, region) = (outer_block * total, total.min(REGION));
    for start in (0..total).step_by(region) {
        let (mut len, mut number) = (total, 0);
        while len >= 2 * A::V::LANES {
            // Of a block longer than the region when its first region is reached.
            let blocks = if len <= region {
                start..start + region
            } else {
                start..start + usize::from(start.is_multiple_of(len))
            };
            let first = (n + offset + start) / len;
            for (k, start) in (first..).zip(blocks.step_by(len)) {
                // SAFETY: a block of `len` words starts at `start`; its node is in the table.
                unsafe { forward_stage(arith, t, (a.add(start), len, k), number) };
            }
            (len, number) = (len / 2, number + 1);
        }
        let blocks = [offset + start, region].map(|words| words / block_len::<A::V>());
        let prefetch = Prefetch {
            rows: prefetch,
            start,
            len: block_len::<A::V>(),
        };
        // SAFETY: the blocks of the region.
        unsafe { forward_within(arith, t, a.add(start), blocks.into(), (number, prefetch)) };
    }
}

/// The outer stages of the columns of the input, [`super::forward_outer`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn forward_outer<A: Arith, I: Input<A::V>>(
    arith: &A,
    t: Factors,
    stages: u32,
    (input, len): (I, usize),
    (out, apart): Runs,
) {
    let rows = 1 << stages;
    let step = len / rows;
    for j in (0..step).step_by(COLUMNS * A::V::LANES) {
        for stage in 0..stages as usize {
            let half = rows >> (stage + 1);
            for pair in 0..rows / 2 {
                let (block, x) = (pair / half, 2 * half * (pair / half) + pair % half);
                // SAFETY: rows of the input have `step` words, whole columns, and those of the output as many; nodes
                // from the root down exist.
                unsafe {
                    let f = node::<A>(t, (1 << stage) + block);
                    let row = |r: usize| out.add(r * apart + j);
                    let to = [row(x), row(x + half)];
                    if stage == 0 {
                        let from = (input, [x * step + j, (x + half) * step + j]);
                        forward_run::<A, I, 0, true>(arith, f, from, to, COLUMNS);
                    } else {
                        let from = (Plain(out), [x * apart + j, (x + half) * apart + j]);
                        forward_run::<A, _, 1, false>(arith, f, from, to, COLUMNS);
                    }
                }
            }
        }
    }
}

/// The inverse stage of a block of `len` words at `p`; with `REDUCED` results are what the stages that follow start
/// with.
#[inline(always)]
unsafe fn inverse_stage<A: Arith, const REDUCED: bool>(
    arith: &A,
    f: Factor<A::V>,
    (p, len): (*mut u64, usize),
) {
    // SAFETY: the block has two runs of whole vectors (caller).
    unsafe {
        each_vector!(A::V, len / 2 / A::V::LANES, i => {
            let to = [p.add(i), p.add(len / 2 + i)];
            let (mut x, mut y) = arith.inverse(0, A::V::load(to[0]), A::V::load(to[1]), f);
            if REDUCED {
                (x, y) = (arith.settle(0, 2, x), arith.settle(1, 2, y));
            }
            x.store(to[0]);
            y.store(to[1]);
        });
    }
}

/// The outermost inverse stage, of the `n` words at `p`.
#[inline(always)]
unsafe fn scaling_stage<A: Arith>(arith: &A, scale: &[u64; 4], (p, n): (*mut u64, usize)) {
    // SAFETY: `scale` is two pairs; there are two runs of whole vectors (caller).
    unsafe {
        let n_inv = splat_pair(scale.as_ptr());
        let last = splat_pair(scale.as_ptr().add(2));
        each_vector!(A::V, n / 2 / A::V::LANES, i => {
            let to = [p.add(i), p.add(n / 2 + i)];
            let (x, y) = (A::V::load(to[0]), A::V::load(to[1]));
            let (x, y) = arith.inverse_last(0, x, y, n_inv, last);
            x.store(to[0]);
            y.store(to[1]);
        });
    }
}

/// The stages within vectors of `blocks` blocks, the first of them number `b`, from `from` to `p`.
#[inline(always)]
unsafe fn inverse_within<A: Arith>(
    arith: &A,
    t: Factors,
    (from, p): (*const u64, *mut u64),
    (b, blocks): (usize, usize),
) {
    // SAFETY: the blocks lie at both places, and the table has factors for all pairs of vectors (caller).
    unsafe {
        for block in 0..blocks {
            unrolled!(VECTORS / 2, i => {
                let at = block * block_len::<A::V>() + 2 * i * A::V::LANES;
                let x = arith.enter_inverse(A::V::load(from.add(at)));
                let y = arith.enter_inverse(A::V::load(from.add(at + A::V::LANES)));
                let (x, y) = A::V::unmerge(x, y);
                let (x, y) = arith.inverse(0, x, y, lane_factor::<A, 4>(t, b + block, i));
                x.store(p.add(at));
                y.store(p.add(at + A::V::LANES));
            });
        }
        for block in 0..blocks {
            unrolled!(VECTORS / 2, i => {
                let p = p.add(block * block_len::<A::V>() + 2 * i * A::V::LANES);
                let (x, y) = A::V::join::<1>(A::V::load(p), A::V::load(p.add(A::V::LANES)));
                let (x, y) = arith.inverse(0, x, y, lane_factor::<A, 2>(t, b + block, i));
                let (x, y) = A::V::unsplit(x, y);
                x.store(p);
                y.store(p.add(A::V::LANES));
            });
        }
    }
}

/// The inverse transform, [`super::inverse`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn inverse<A: Arith>(arith: &A, tables: &Tables, from: *const u64, a: *mut u64) {
    let (n, t) = (tables.n, tables.inverse.factors());
    let region = n.min(REGION);
    for start in (0..n).step_by(region) {
        let blocks = [start, region].map(|words| words / block_len::<A::V>());
        // SAFETY: the blocks of the region.
        unsafe { inverse_within(arith, t, (from.add(start), a.add(start)), blocks.into()) };
        let end = start + region;
        let (mut len, mut number) = (2 * A::V::LANES, A::V::LOG_LANES);
        // Of a block longer than the region when its last region is done.
        while len <= n && end.is_multiple_of(len) {
            let start = end - region.max(len);
            for (k, start) in ((n + start) / len..).zip((start..end).step_by(len)) {
                // SAFETY: a block of `len` words starts at `start`; its node is in the table.
                unsafe {
                    let (block, f) = ((a.add(start), len), node::<A>(t, k));
                    if len == n {
                        scaling_stage(arith, &tables.scale, block);
                    } else if number % PERIOD == PERIOD - 1 {
                        inverse_stage::<A, true>(arith, f, block);
                    } else {
                        inverse_stage::<A, false>(arith, f, block);
                    }
                }
            }
            (len, number) = (2 * len, number + 1);
        }
    }
}
