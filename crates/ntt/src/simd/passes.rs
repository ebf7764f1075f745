// SPDX-License-Identifier: Apache-2.0
//! The order of the work, for any arithmetic: passes of several stages each, depth first.
//!
//! Node `k` of the transform's tree is a block whose first stage uses twiddle `k` (the root is 1, the halves of block `k`
//! are `2k` and `2k+1`). A pass takes a block through two or three stages with its operands in registers; then each
//! sub-block is finished before the next one starts, so that a sub-block that fits a cache level stays in it, whatever the
//! size of the caches. The last pass takes eight vectors at a time through the remaining stages, in registers alone: three
//! across vectors, `log2 LANES` within them. The inverse is the mirror.

use zq::simd::Vector;

use super::arith::{Arith, Factor};
use super::tables::{Direction, Tables, stage_offset};

/// Vectors of a block of the last pass.
pub(crate) const VECTORS: usize = 8;
/// Passes of the longest transform over the shortest block, two stages each.
const MAX_PASSES: usize = 8;

/// Elements of a block of the last pass.
pub(crate) const fn block_len<V: Vector>() -> usize {
    VECTORS * V::LANES
}

/// `log2` of the block lengths of the passes before the last, outermost first.
struct Schedule {
    log_len: [u32; MAX_PASSES + 1],
    passes: usize,
}

impl Schedule {
    #[inline(always)]
    fn new<A: Arith>(n: usize) -> Self {
        let (mut log_len, last) = ([0; MAX_PASSES + 1], block_len::<A::V>().ilog2());
        log_len[0] = n.ilog2();
        let mut passes = 0;
        while log_len[passes] > last {
            // Three stages, but two where that leaves no single one.
            let left = log_len[passes] - last;
            let stages = if left == 4 {
                2
            } else {
                left.min(A::MAX_STAGES)
            };
            log_len[passes + 1] = log_len[passes] - stages;
            passes += 1;
        }
        Self { log_len, passes }
    }

    fn stages(&self, pass: usize) -> u32 {
        self.log_len[pass] - self.log_len[pass + 1]
    }
}

/// The factor of a node, in every lane.
#[inline(always)]
unsafe fn node<A: Arith>(t: &Direction, k: usize) -> Factor<A::V> {
    debug_assert!(2 * k + 1 < t.nodes.len());
    // SAFETY: the table holds every node whose halves are whole vectors.
    unsafe { splat_pair(t.nodes.as_ptr().add(2 * k)) }
}

#[inline(always)]
unsafe fn splat_pair<V: Vector>(p: *const u64) -> Factor<V> {
    // SAFETY: the caller gives a pair.
    unsafe {
        Factor {
            w: V::splat(*p),
            quotient: V::splat(*p.add(1)),
        }
    }
}

/// The `R - 1` factors of a pass from node `k`, stage by stage.
#[inline(always)]
unsafe fn factors<A: Arith, const R: usize>(t: &Direction, k: usize) -> [Factor<A::V>; 7] {
    // SAFETY: nodes below `k` down to the pass's last stage exist.
    unsafe {
        let mut f = [node::<A>(t, k); 7];
        if R > 2 {
            (f[1], f[2]) = (node::<A>(t, 2 * k), node::<A>(t, 2 * k + 1));
        }
        if R > 4 {
            (f[3], f[4]) = (node::<A>(t, 4 * k), node::<A>(t, 4 * k + 1));
            (f[5], f[6]) = (node::<A>(t, 4 * k + 2), node::<A>(t, 4 * k + 3));
        }
        f
    }
}

/// `log2 R` forward stages of `R` operands.
#[inline(always)]
unsafe fn forward_stages<A: Arith, const R: usize>(
    arith: &A,
    v: &mut [A::V; 8],
    f: &[Factor<A::V>; 7],
) {
    let mut half = R / 2;
    let mut stage = 0;
    while half > 0 {
        for block in 0..1 << stage {
            for i in 0..half {
                let (x, y) = (2 * half * block + i, 2 * half * block + half + i);
                // SAFETY: arithmetic on registers.
                (v[x], v[y]) =
                    unsafe { arith.forward(stage, v[x], v[y], f[(1 << stage) - 1 + block]) };
            }
        }
        half /= 2;
        stage += 1;
    }
}

/// `log2 R` inverse stages of `R` operands, without the outermost if `!OUTER`; their numbers start at `LOG_LANES`.
#[inline(always)]
unsafe fn inverse_stages<A: Arith, const R: usize, const OUTER: bool>(
    arith: &A,
    v: &mut [A::V; 8],
    f: &[Factor<A::V>; 7],
) {
    let mut half = 1;
    let mut number = A::V::LOG_LANES;
    while half < if OUTER { R } else { R / 2 } {
        let blocks = R / 2 / half;
        for block in 0..blocks {
            for i in 0..half {
                let (x, y) = (2 * half * block + i, 2 * half * block + half + i);
                // SAFETY: arithmetic on registers.
                (v[x], v[y]) = unsafe { arith.inverse(number, v[x], v[y], f[blocks - 1 + block]) };
            }
        }
        half *= 2;
        number += 1;
    }
}

/// The outermost inverse stage of the whole transform, which multiplies by `n^-1` and reduces fully.
#[inline(always)]
unsafe fn scaling_stage<A: Arith, const R: usize>(arith: &A, v: &mut [A::V; 8], scale: &[u64; 4]) {
    // SAFETY: `scale` is two pairs; the rest is arithmetic on registers.
    unsafe {
        let (n_inv, last) = (
            splat_pair(scale.as_ptr()),
            splat_pair(scale.as_ptr().add(2)),
        );
        let number = A::V::LOG_LANES + R.ilog2() as usize - 1;
        for i in 0..R / 2 {
            (v[i], v[i + R / 2]) = arith.inverse_last(number, v[i], v[i + R / 2], n_inv, last);
        }
    }
}

/// Where the outermost pass takes its operands from.
pub(crate) trait Input<V: Vector>: Copy {
    /// The vector at word `i`, a reduced residue in every lane.
    unsafe fn load(&self, i: usize) -> V;
}

/// Residues as they stand in memory.
#[derive(Clone, Copy)]
pub(crate) struct Plain(pub *const u64);

impl<V: Vector> Input<V> for Plain {
    #[inline(always)]
    unsafe fn load(&self, i: usize) -> V {
        // SAFETY: the caller's.
        unsafe { V::load(self.0.add(i)) }
    }
}

/// Residues of another prime: `shift` is added to those that are not below `threshold`.
#[derive(Clone, Copy)]
pub(crate) struct Lifted<V> {
    pub from: *const u64,
    pub threshold: V,
    pub shift: V,
}

impl<V: Vector> Input<V> for Lifted<V> {
    #[inline(always)]
    unsafe fn load(&self, i: usize) -> V {
        // SAFETY: the caller's.
        unsafe {
            let x = V::load(self.from.add(i));
            x.add_unless_below(self.threshold, self.shift)
        }
    }
}

/// A forward pass of `log2 R` stages over the block of `len` words at `a`, node `k`, operands from `input`.
#[inline(always)]
unsafe fn forward_pass<A: Arith, I: Input<A::V>, const R: usize>(
    arith: &A,
    t: &Direction,
    input: I,
    a: *mut u64,
    len: usize,
    k: usize,
) {
    // SAFETY: `a` and the input have `len` words and every access is below; nodes as `factors`.
    unsafe {
        let f = factors::<A, R>(t, k);
        let step = len / R;
        for j in (0..step).step_by(A::V::LANES) {
            let p = a.add(j);
            let mut v = [input.load(j); 8];
            for (r, v) in v.iter_mut().enumerate().take(R).skip(1) {
                *v = input.load(j + r * step);
            }
            if k == 1 {
                for v in v.iter_mut().take(R) {
                    *v = arith.enter(*v);
                }
            }
            forward_stages::<A, R>(arith, &mut v, &f);
            for (r, v) in v.iter().enumerate().take(R) {
                v.store(p.add(r * step));
            }
        }
    }
}

/// The mirror of [`forward_pass`]; `ROOT` is the outermost pass.
#[inline(always)]
unsafe fn inverse_pass<A: Arith, const R: usize, const ROOT: bool>(
    arith: &A,
    t: &Tables,
    a: *mut u64,
    len: usize,
    k: usize,
) {
    // SAFETY: as `forward_pass`.
    unsafe {
        let f = factors::<A, R>(&t.inverse, k);
        let step = len / R;
        for j in (0..step).step_by(A::V::LANES) {
            let p = a.add(j);
            let mut v = [A::V::load(p); 8];
            for (r, v) in v.iter_mut().enumerate().take(R).skip(1) {
                *v = A::V::load(p.add(r * step));
            }
            if ROOT {
                inverse_stages::<A, R, false>(arith, &mut v, &f);
                scaling_stage::<A, R>(arith, &mut v, &t.scale);
            } else {
                inverse_stages::<A, R, true>(arith, &mut v, &f);
                settle::<A, R>(arith, &mut v);
            }
            for (r, v) in v.iter().enumerate().take(R) {
                v.store(p.add(r * step));
            }
        }
    }
}

/// Brings the results of an inverse pass back to what the next one accepts.
#[inline(always)]
unsafe fn settle<A: Arith, const R: usize>(arith: &A, v: &mut [A::V; 8]) {
    for (r, v) in v.iter_mut().enumerate().take(R) {
        // SAFETY: arithmetic on registers.
        *v = unsafe { arith.settle(r, R, *v) };
    }
}

/// The factors of in-register stage `s` (`D` distinct ones) for pair `i` of block `b`.
#[inline(always)]
unsafe fn lane_factor<A: Arith, const D: usize>(t: &Direction, b: usize, i: usize) -> Factor<A::V> {
    let stage = D.trailing_zeros() as usize - 1;
    let entry = b * stage_offset(A::V::LOG_LANES) + stage_offset(stage) + i * 2 * D;
    debug_assert!(entry + 2 * D <= t.lanes.len());
    // SAFETY: the table has an entry for every block, stage and pair.
    unsafe {
        let p = t.lanes.as_ptr().add(entry);
        Factor {
            w: A::V::load_repeated::<D>(p),
            quotient: A::V::load_repeated::<D>(p.add(D)),
        }
    }
}

/// Rearranges each pair of vectors. A macro, since closures do not take on the features of the function around them.
macro_rules! shuffle {
    ($v:ident, $f:path) => {
        for i in 0..VECTORS / 2 {
            ($v[2 * i], $v[2 * i + 1]) = $f($v[2 * i], $v[2 * i + 1]);
        }
    };
}

/// Applies a method of the arithmetic to each vector.
macro_rules! each {
    ($v:ident, $arith:ident.$f:ident) => {
        for v in &mut $v {
            *v = $arith.$f(*v);
        }
    };
}

#[inline(always)]
unsafe fn load_block<V: Vector>(p: *const u64) -> [V; 8] {
    // SAFETY: the caller gives eight vectors.
    unsafe {
        let mut v = [V::load(p); 8];
        for (i, v) in v.iter_mut().enumerate().skip(1) {
            *v = V::load(p.add(i * V::LANES));
        }
        v
    }
}

#[inline(always)]
unsafe fn store_block<V: Vector>(v: &[V; 8], p: *mut u64) {
    for (i, v) in v.iter().enumerate() {
        // SAFETY: the caller gives eight vectors.
        unsafe { v.store(p.add(i * V::LANES)) };
    }
}

/// The last pass: block `b` of `blocks` at `p`, from three stages across vectors to results in order, fully reduced unless
/// `OPEN`.
#[inline(always)]
unsafe fn forward_block<A: Arith, const OPEN: bool>(
    arith: &A,
    t: &Direction,
    p: *mut u64,
    blocks: usize,
    b: usize,
) {
    // SAFETY: block `b` lies within the transform.
    unsafe {
        let mut v = load_block::<A::V>(p);
        if blocks == 1 {
            each!(v, arith.enter);
        }
        forward_stages::<A, 8>(arith, &mut v, &factors::<A, 8>(t, blocks + b));
        // Stage by stage over all four pairs: one pair alone would wait for its own results.
        A::V::pin(&mut v);
        shuffle!(v, A::V::split::<0>);
        forward_lanes::<A, 2>(arith, t, b, &mut v);
        A::V::pin(&mut v);
        shuffle!(v, A::V::split::<1>);
        forward_lanes::<A, 4>(arith, t, b, &mut v);
        A::V::pin(&mut v);
        if A::V::LOG_LANES > 2 {
            shuffle!(v, A::V::split::<2>);
            forward_lanes::<A, 8>(arith, t, b, &mut v);
            A::V::pin(&mut v);
        }
        if !OPEN || A::OPEN_BOUND == 1 {
            each!(v, arith.leave);
        }
        shuffle!(v, A::V::merge);
        store_block(&v, p);
    }
}

/// The in-register stage with `D` blocks in a pair, forward.
#[inline(always)]
unsafe fn forward_lanes<A: Arith, const D: usize>(
    arith: &A,
    t: &Direction,
    b: usize,
    v: &mut [A::V; 8],
) {
    // Stages go on after the three across vectors.
    let number = 3 + D.trailing_zeros() as usize - 1;
    for i in 0..VECTORS / 2 {
        let (x, y) = (2 * i, 2 * i + 1);
        // SAFETY: as `lane_factor`.
        (v[x], v[y]) = unsafe { arith.forward(number, v[x], v[y], lane_factor::<A, D>(t, b, i)) };
    }
}

/// The in-register stage with `D` blocks in a pair, inverse.
#[inline(always)]
unsafe fn inverse_lanes<A: Arith, const D: usize>(
    arith: &A,
    t: &Direction,
    b: usize,
    v: &mut [A::V; 8],
) {
    let number = A::V::LOG_LANES - D.trailing_zeros() as usize;
    for i in 0..VECTORS / 2 {
        let (x, y) = (2 * i, 2 * i + 1);
        // SAFETY: as `lane_factor`.
        (v[x], v[y]) = unsafe { arith.inverse(number, v[x], v[y], lane_factor::<A, D>(t, b, i)) };
    }
}

/// The mirror of [`forward_block`].
#[inline(always)]
unsafe fn inverse_block<A: Arith>(arith: &A, t: &Tables, a: *mut u64, blocks: usize, b: usize) {
    // SAFETY: block `b` lies within the transform.
    unsafe {
        let p = a.add(b * block_len::<A::V>());
        let mut v = load_block::<A::V>(p);
        each!(v, arith.enter);
        shuffle!(v, A::V::unmerge);
        if A::V::LOG_LANES > 2 {
            inverse_lanes::<A, 8>(arith, &t.inverse, b, &mut v);
            A::V::pin(&mut v);
            shuffle!(v, A::V::join::<1>);
            inverse_lanes::<A, 4>(arith, &t.inverse, b, &mut v);
            A::V::pin(&mut v);
            shuffle!(v, A::V::join::<2>);
        } else {
            inverse_lanes::<A, 4>(arith, &t.inverse, b, &mut v);
            A::V::pin(&mut v);
            shuffle!(v, A::V::join::<1>);
        }
        inverse_lanes::<A, 2>(arith, &t.inverse, b, &mut v);
        A::V::pin(&mut v);
        shuffle!(v, A::V::unsplit);
        each!(v, arith.between);
        let f = factors::<A, 8>(&t.inverse, blocks + b);
        if blocks == 1 {
            inverse_stages::<A, 8, false>(arith, &mut v, &f);
            scaling_stage::<A, 8>(arith, &mut v, &t.scale);
        } else {
            inverse_stages::<A, 8, true>(arith, &mut v, &f);
            settle::<A, 8>(arith, &mut v);
        }
        store_block(&v, p);
    }
}

/// The forward transform of `tables.n` words.
///
/// # Safety
/// `a` points to `tables.n` words; the features of `A::V` are enabled.
#[inline(always)]
pub(crate) unsafe fn forward<A: Arith>(arith: &A, tables: &Tables, a: *mut u64) {
    // SAFETY: the caller's; the whole is one part.
    unsafe { forward_part::<A, false>(arith, tables, 0, a, [1, 0], &[]) }
}

/// Parts that the outermost pass leaves, each to be finished by itself; 1 where the last pass is the only one.
pub(crate) fn parts<A: Arith>(n: usize) -> usize {
    let schedule = Schedule::new::<A>(n);
    if schedule.passes == 0 {
        1
    } else {
        1 << schedule.stages(0)
    }
}

/// The outermost pass alone, from `input` to `out`.
///
/// # Safety
/// Both have `tables.n` words; the features of `A::V` are enabled; there is a pass before the last.
#[inline(always)]
pub(crate) unsafe fn forward_outer<A: Arith, I: Input<A::V>>(
    arith: &A,
    tables: &Tables,
    input: I,
    out: *mut u64,
) {
    let schedule = Schedule::new::<A>(tables.n);
    // SAFETY: the caller's.
    unsafe {
        forward_pass_of(
            arith,
            &tables.forward,
            schedule.stages(0),
            input,
            out,
            tables.n,
            1,
        )
    }
}

/// A forward pass of one, two or three stages.
#[inline(always)]
unsafe fn forward_pass_of<A: Arith, I: Input<A::V>>(
    arith: &A,
    t: &Direction,
    stages: u32,
    input: I,
    a: *mut u64,
    len: usize,
    k: usize,
) {
    // SAFETY: as `forward_pass`.
    unsafe {
        match stages {
            1 => forward_pass::<A, I, 2>(arith, t, input, a, len, k),
            2 => forward_pass::<A, I, 4>(arith, t, input, a, len, k),
            _ => forward_pass::<A, I, 8>(arith, t, input, a, len, k),
        }
    }
}

/// The passes from number `first` on of part `part` of `parts`, whose words are at `a`. Meanwhile as many words at each of
/// `ahead` are asked for from memory.
///
/// # Safety
/// `a` points to `tables.n / parts` words, and passes before `first` leave that many parts; the features of `A::V` are enabled.
#[inline(always)]
pub(crate) unsafe fn forward_part<A: Arith, const OPEN: bool>(
    arith: &A,
    tables: &Tables,
    first: usize,
    a: *mut u64,
    [parts, part]: [usize; 2],
    ahead: &[*const u64],
) {
    let (n, t) = (tables.n, &tables.forward);
    let schedule = Schedule::new::<A>(n);
    let blocks = n / block_len::<A::V>();
    let offset = part * (n / parts);
    for b in 0..blocks / parts {
        let (local, start) = (b * block_len::<A::V>(), offset + b * block_len::<A::V>());
        for pass in first..schedule.passes {
            let len = 1 << schedule.log_len[pass];
            if start & (len - 1) != 0 {
                continue;
            }
            // SAFETY: a block of `len` words starts at `start`; its node is below `n / block_len`.
            unsafe {
                let (p, k) = (a.add(local), (n + start) / len);
                forward_pass_of(arith, t, schedule.stages(pass), Plain(p), p, len, k);
            }
        }
        // SAFETY: `start / block_len < blocks`.
        unsafe {
            for row in ahead {
                for line in (0..block_len::<A::V>()).step_by(8) {
                    A::V::prefetch(row.wrapping_add(local + line));
                }
            }
            let b = start / block_len::<A::V>();
            forward_block::<A, OPEN>(arith, t, a.add(local), blocks, b);
        }
    }
}

/// The inverse transform of `tables.n` words.
///
/// # Safety
/// As [`forward`].
#[inline(always)]
pub(crate) unsafe fn inverse<A: Arith>(arith: &A, t: &Tables, a: *mut u64) {
    let n = t.n;
    let schedule = Schedule::new::<A>(n);
    let blocks = n / block_len::<A::V>();
    for b in 0..blocks {
        // SAFETY: `b < blocks`.
        unsafe { inverse_block(arith, t, a, blocks, b) };
        let end = (b + 1) * block_len::<A::V>();
        for pass in (0..schedule.passes).rev() {
            let len = 1 << schedule.log_len[pass];
            if end & (len - 1) != 0 {
                break;
            }
            let start = end - len;
            // SAFETY: as `forward`.
            unsafe {
                let (p, k) = (a.add(start), (n + start) / len);
                match (schedule.stages(pass), pass == 0) {
                    (1, false) => inverse_pass::<A, 2, false>(arith, t, p, len, k),
                    (2, false) => inverse_pass::<A, 4, false>(arith, t, p, len, k),
                    (_, false) => inverse_pass::<A, 8, false>(arith, t, p, len, k),
                    (1, true) => inverse_pass::<A, 2, true>(arith, t, p, len, k),
                    (2, true) => inverse_pass::<A, 4, true>(arith, t, p, len, k),
                    (_, true) => inverse_pass::<A, 8, true>(arith, t, p, len, k),
                }
            }
        }
    }
}
