// SPDX-License-Identifier: Apache-2.0
//! Passes in place with a pointer for each run, for registers that are loaded in pairs ([`Lanes::WALKS`]).

use zq::simd::Lanes;

use super::forward::forward_stages;
use super::inverse::inverse_stages;
use super::prefetch::Prefetch;
use super::registers::{factors, pairs};
use crate::simd::arith::Arith;
use crate::simd::tables::Factors;

/// The words of a pass: where they start, how many they are, and the node.
type Node = (*mut u64, usize, usize);

/// A forward pass of one or two stages, numbered from 2 on where it `rests`.
#[inline(always)]
pub(super) unsafe fn forward_walk_of<A: Arith>(
    arith: &A,
    t: Factors,
    stages: u32,
    node: Node,
    rests: bool,
) {
    // SAFETY: the caller's: a block's words, its node, and R = 2^stages runs.
    unsafe {
        match (stages, rests) {
            (1, false) => forward_walk::<A, 2, 0>(arith, t, node),
            (1, true) => forward_walk::<A, 2, 2>(arith, t, node),
            (_, false) => forward_walk::<A, 4, 0>(arith, t, node),
            (_, true) => forward_walk::<A, 4, 2>(arith, t, node),
        }
    }
}

#[inline(always)]
unsafe fn forward_walk<A: Arith, const R: usize, const FIRST: usize>(
    arith: &A,
    t: Factors,
    (a, len, k): Node,
) {
    // SAFETY: `a` has `len` words, R runs of `len / R`, and every access is below; nodes from `k` on down exist.
    unsafe {
        let f = factors::<A, R>(t, k);
        let mut runs = runs::<A::V, R>(a, len / R);
        let end = a.add(len / R);
        while runs[0] != end {
            let mut v = [load::<A::V, R>(&runs)];
            if k == 1 {
                for v in v[0].iter_mut().take(R) {
                    *v = arith.enter(*v);
                }
            }
            forward_stages::<A, _, R, 1, FIRST>(arith, &mut v, &f, Prefetch::NONE);
            store::<A::V, R>(&v[0], &mut runs);
        }
    }
}

/// An inverse pass of one or two stages; `ROOT` is the outermost one.
#[inline(always)]
pub(super) unsafe fn inverse_walk_of<A: Arith, const ROOT: bool>(
    arith: &A,
    t: Factors,
    scale: &[u64; 4],
    stages: u32,
    node: Node,
) {
    // SAFETY: the caller's: a block's words, its node, and R = 2^stages runs.
    unsafe {
        match stages {
            1 => inverse_walk::<A, 2, ROOT>(arith, t, scale, node),
            _ => inverse_walk::<A, 4, ROOT>(arith, t, scale, node),
        }
    }
}

#[inline(always)]
unsafe fn inverse_walk<A: Arith, const R: usize, const ROOT: bool>(
    arith: &A,
    t: Factors,
    scale: &[u64; 4],
    (a, len, k): Node,
) {
    // SAFETY: `a` has `len` words, R runs of `len / R`, and every access is below; nodes from `k` on down exist.
    unsafe {
        let f = factors::<A, R>(t, k);
        let mut runs = runs::<A::V, R>(a, len / R);
        let end = a.add(len / R);
        while runs[0] != end {
            let mut v = [load::<A::V, R>(&runs)];
            inverse_stages::<A, _, R, 1, ROOT>(arith, &mut v, &f, scale);
            store::<A::V, R>(&v[0], &mut runs);
        }
    }
}

/// The starts of `R` runs of `step` words.
#[inline(always)]
unsafe fn runs<V: Lanes, const R: usize>(a: *mut u64, step: usize) -> [*mut u64; R] {
    debug_assert_eq!(pairs::<V>(R / 2), R / 2, "a group holds one set");
    // SAFETY: the runs lie within the block (caller).
    let mut runs = core::array::from_fn(|r| unsafe { a.add(r * step) });
    V::walk(&mut runs);
    runs
}

#[inline(always)]
unsafe fn load<V: Lanes, const R: usize>(runs: &[*mut u64; R]) -> [V; 8] {
    // SAFETY: each run has a vector's words from its pointer on (caller).
    unsafe {
        let mut v = [V::load(runs[0]); 8];
        for (v, run) in v.iter_mut().zip(runs).skip(1) {
            *v = V::load(*run);
        }
        v
    }
}

/// The mirror of [`load`], to the next vectors.
#[inline(always)]
unsafe fn store<V: Lanes, const R: usize>(v: &[V; 8], runs: &mut [*mut u64; R]) {
    for (v, run) in v.iter().zip(runs.iter_mut()) {
        // SAFETY: each run has a vector's words from its pointer on (caller).
        unsafe {
            v.store(*run);
            *run = run.add(V::LANES);
        }
    }
    V::walk(runs);
}
