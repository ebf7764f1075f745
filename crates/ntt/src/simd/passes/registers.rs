// SPDX-License-Identifier: Apache-2.0
//! Register contents of a pass: one or two groups of eight vectors, and the factors of its stages.
//!
//! Two groups go through every stage side by side where there are thirty-two registers: four butterflies of one group
//! alone take less time than their results need to arrive (docs/performance.md).

use std::marker::PhantomData;

use zq::simd::Lanes;

use super::input::Input;
use crate::simd::arith::{Arith, Factor};
pub(super) use crate::simd::schedule::{VECTORS, block_len};
use crate::simd::tables::{Factors, stage_offset};

/// Groups that go through a pass together. Two lanes wait for results no longer than for the other butterflies.
pub(super) const fn group_count<V: Lanes>() -> usize {
    if V::LANES == 8 { 2 } else { 1 }
}

/// Runs `$e` for each `$i` below `$count`, four at most. No loop: the compiler unrolls one too late to keep vectors in
/// registers, or not at all.
macro_rules! unrolled {
    ($count:expr, $i:ident => $e:expr) => {{
        let count: usize = $count;
        unrolled!(@ count, $i, 0, $e);
        unrolled!(@ count, $i, 1, $e);
        unrolled!(@ count, $i, 2, $e);
        unrolled!(@ count, $i, 3, $e);
    }};
    (@ $count:ident, $i:ident, $number:literal, $e:expr) => {
        if $number < $count {
            let $i: usize = $number;
            $e;
        }
    };
}

/// Rearranges each pair of vectors. A macro, since closures do not take on the features of the function around them.
macro_rules! shuffle {
    ($v:expr, $f:path) => {
        unrolled!(VECTORS / 2, i => ($v[2 * i], $v[2 * i + 1]) = $f($v[2 * i], $v[2 * i + 1]));
    };
}

/// Applies a method of the arithmetic to each vector of a group.
macro_rules! each {
    ($v:expr, $arith:ident.$f:ident) => {
        unrolled!(VECTORS / 2, i => {
            $v[2 * i] = $arith.$f($v[2 * i]);
            $v[2 * i + 1] = $arith.$f($v[2 * i + 1]);
        });
    };
}

/// Runs `$e` for each of `G` groups, one or two, with its number as `$g`. No loop: the compiler would not unroll it in
/// time to keep the groups in registers.
macro_rules! groups {
    ($G:ident, $g:ident => $e:expr) => {{
        {
            #[allow(non_upper_case_globals)]
            const $g: usize = 0;
            $e;
        }
        if const { $G > 1 } {
            #[allow(non_upper_case_globals)]
            const $g: usize = 1;
            $e;
        }
    }};
}

/// Sets of `r` operands that a group holds: one where registers hold no more than two stages.
pub(super) const fn sets<V: Lanes>(r: usize) -> usize {
    if V::STAGES > 2 { VECTORS / r } else { 1 }
}

/// Butterflies of a group in a stage of sets with `half` of them.
pub(super) const fn pairs<V: Lanes>(half: usize) -> usize {
    sets::<V>(2 * half) * half
}

/// Keeps the compiler from stringing groups and butterflies one after another to save registers.
#[inline(always)]
pub(super) unsafe fn pin<V: Lanes, const G: usize>(v: &mut [[V; 8]; G]) {
    // SAFETY: no instruction.
    unsafe { groups!(G, g => V::pin(&mut v[g])) };
}

/// Operands `i` of a stage at distance `half`: their block of the stage, and the first of them.
#[inline(always)]
pub(super) const fn operands(i: usize, half: usize) -> (usize, usize) {
    (i / half, 2 * half * (i / half) + i % half)
}

/// Word of operand `r` of group `g` in a pass: sets of `R` operands, `step` words apart, stand next to each other.
#[inline(always)]
const fn word<V: Lanes, const R: usize>(g: usize, r: usize, step: usize) -> usize {
    (g * sets::<V>(R) + r / R) * V::LANES + r % R * step
}

/// The groups of a pass from word `j` on.
#[inline(always)]
pub(super) unsafe fn load_sets<V: Lanes, I: Input<V>, const R: usize, const G: usize>(
    input: I,
    j: usize,
    step: usize,
) -> [[V; 8]; G] {
    // SAFETY: the input has R runs of `step` words, and in each the vectors of all groups fit from `j` on (caller).
    unsafe {
        let mut v = [[input.load(j); 8]; G];
        groups!(G, g => for (r, v) in v[g].iter_mut().enumerate().take(sets::<V>(R) * R) {
            *v = input.load(j + word::<V, R>(g, r, step));
        });
        v
    }
}

/// The mirror of [`load_sets`].
#[inline(always)]
pub(super) unsafe fn store_sets<V: Lanes, const R: usize, const G: usize>(
    v: &[[V; 8]; G],
    a: *mut u64,
    step: usize,
) {
    // SAFETY: R runs start `step` words apart, and in each the vectors of all groups fit from `a` on (caller).
    unsafe {
        groups!(G, g => for (r, v) in v[g].iter().enumerate().take(sets::<V>(R) * R) {
            v.store(a.add(word::<V, R>(g, r, step)));
        });
    }
}

#[inline(always)]
pub(super) unsafe fn load_block<V: Lanes>(p: *const u64) -> [V; 8] {
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
pub(super) unsafe fn store_block<V: Lanes>(v: &[V; 8], p: *mut u64) {
    for (i, v) in v.iter().enumerate() {
        // SAFETY: the caller gives eight vectors.
        unsafe { v.store(p.add(i * V::LANES)) };
    }
}

/// The factor of a node, in every lane.
#[inline(always)]
pub(super) unsafe fn node<A: Arith>(t: Factors, k: usize) -> Factor<A::V> {
    // SAFETY: the table holds every node whose halves are whole vectors.
    unsafe { splat_pair(t.node(k)) }
}

#[inline(always)]
pub(super) unsafe fn splat_pair<V: Lanes>(p: *const u64) -> Factor<V> {
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
pub(super) unsafe fn factors<A: Arith, const R: usize>(t: Factors, k: usize) -> [Factor<A::V>; 7] {
    // SAFETY: nodes below `k` down to the pass's last stage exist.
    unsafe {
        let mut f = [node::<A>(t, k); 7];
        if const { R > 2 } {
            (f[1], f[2]) = (node::<A>(t, 2 * k), node::<A>(t, 2 * k + 1));
        }
        if const { R > 4 } {
            (f[3], f[4]) = (node::<A>(t, 4 * k), node::<A>(t, 4 * k + 1));
            (f[5], f[6]) = (node::<A>(t, 4 * k + 2), node::<A>(t, 4 * k + 3));
        }
        f
    }
}

/// Source of the factors of stages across vectors.
pub(super) trait FactorOf<V: Lanes> {
    /// The factor of block `block` in stage `stage` of group `g`.
    unsafe fn get(&self, g: usize, stage: usize, block: usize) -> Factor<V>;
}

/// The same factors for every group, in registers.
impl<V: Lanes> FactorOf<V> for [Factor<V>; 7] {
    #[inline(always)]
    unsafe fn get(&self, _g: usize, stage: usize, block: usize) -> Factor<V> {
        self[(1 << stage) - 1 + block]
    }
}

/// Group `g` starts from node `k + g`; factors are read where they are used.
pub(super) struct FromNode<A> {
    pub table: Factors,
    pub k: usize,
    pub arith: PhantomData<A>,
}

impl<A: Arith> FactorOf<A::V> for FromNode<A> {
    #[inline(always)]
    unsafe fn get(&self, g: usize, stage: usize, block: usize) -> Factor<A::V> {
        // SAFETY: stages across vectors have nodes whose halves are whole vectors, and the table holds all of these.
        unsafe { node::<A>(self.table, ((self.k + g) << stage) + block) }
    }
}

/// The factors of in-register stage `s` (`D` distinct ones) for pair `i` of block `b`.
#[inline(always)]
pub(super) unsafe fn lane_factor<A: Arith, const D: usize>(
    t: Factors,
    b: usize,
    i: usize,
) -> Factor<A::V> {
    let stage = D.trailing_zeros() as usize - 1;
    let entry = b * stage_offset(A::V::LOG_LANES) + stage_offset(stage) + i * 2 * D;
    // SAFETY: the table has an entry for every block, stage and pair.
    unsafe {
        let p = t.lanes(entry, 2 * D);
        Factor {
            w: A::V::load_repeated::<D>(p),
            quotient: A::V::load_repeated::<D>(p.add(D)),
        }
    }
}
