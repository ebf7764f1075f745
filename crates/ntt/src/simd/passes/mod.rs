// SPDX-License-Identifier: Apache-2.0
//! The order of the work, for any arithmetic: passes of several stages each, depth first.
//!
//! Node `k` of the transform's tree is a block whose first stage uses twiddle `k` (the root is 1, the halves of block
//! `k` are `2k` and `2k+1`). A pass takes a block through two or three stages with its operands in registers; then each
//! sub-block is finished before the next one starts, so that a sub-block that fits a cache level stays in it, whatever
//! the size of the caches. The last pass takes blocks of eight vectors through the remaining stages, in registers
//! alone: three across vectors, `log2 LANES` within them. The inverse is the mirror.

#[macro_use]
mod registers;
mod forward;
mod input;
mod inverse;
mod prefetch;
mod stagewise;
mod walk;

use zq::simd::Lanes;

use super::arith::Arith;
use super::schedule::{MIN_LEN, block_len};
use super::tables::Tables;
pub(crate) use forward::Runs;
use forward::{forward_blocks, forward_pass_of};
use input::Input;
pub(crate) use input::{Lifted, Plain};
use inverse::{inverse_blocks, inverse_pass_of};
use prefetch::Prefetch;
use registers::group_count;
use walk::{forward_walk_of, inverse_walk_of};

/// The forward transform of `tables.n` words.
///
/// # Safety
/// `a` points to `tables.n` words, [`MIN_LEN`] or more; the features of `A::V` are enabled.
#[inline(always)]
pub(crate) unsafe fn forward<A: Arith>(arith: &A, tables: &Tables, a: *mut u64) {
    // SAFETY: `a` has n words and features are enabled, by the caller; before pass 0 the whole is one block, number 0.
    unsafe { forward_block::<A, false>(arith, tables, 0, a, [1, 0], &[]) }
}

/// The outermost pass alone over `len` words, as many columns for each outer block, to blocks whose starts are as far
/// apart as `out` says.
///
/// # Safety
/// The input has `len` words, whole steps of the pass, and `out` room for its columns of the blocks; the features of
/// `A::V` are enabled; there is a pass before the last.
#[inline(always)]
pub(crate) unsafe fn forward_outer<A: Arith, I: Input<A::V>>(
    arith: &A,
    tables: &Tables,
    (input, len): (I, usize),
    out: Runs,
) {
    if const { A::STAGEWISE } {
        let (t, stages) = (tables.forward.factors(), tables.schedule.stages(0));
        // SAFETY: the caller's.
        return unsafe { stagewise::forward_outer(arith, t, stages, (input, len), out) };
    }
    // SAFETY: the caller vouches for the input's `len` words, the room, the features and pass 0. Node 1 for all
    // columns: they have the same factors.
    unsafe {
        forward_pass_of(
            arith,
            tables.forward.factors(),
            tables.schedule.stages(0),
            input,
            out,
            (len, 1),
            Prefetch::NONE,
        )
    }
}

/// The passes from number `first` on of block `outer_block` of `outer_blocks`, whose words are at `a`; they prefetch as
/// many words at each of `prefetch`.
///
/// # Safety
/// `a` points to `tables.n / outer_blocks` words, [`MIN_LEN`] or more, and passes before `first` leave that many
/// blocks; the features of `A::V` are enabled.
#[inline(always)]
pub(crate) unsafe fn forward_block<A: Arith, const LAZY: bool>(
    arith: &A,
    tables: &Tables,
    first: usize,
    a: *mut u64,
    [outer_blocks, outer_block]: [usize; 2],
    prefetch: &[*const u64],
) {
    if const { A::STAGEWISE } {
        // SAFETY: the caller's.
        return unsafe {
            stagewise::forward(arith, tables, a, [outer_blocks, outer_block], prefetch)
        };
    }
    debug_assert!(tables.n / outer_blocks >= MIN_LEN, "whole groups of blocks");
    let (n, t, schedule) = (tables.n, tables.forward.factors(), &tables.schedule);
    let blocks = n / block_len::<A::V>();
    let offset = outer_block * (n / outer_blocks);
    let group = group_count::<A::V>();
    let last_block = 1 << schedule.log_len(schedule.passes().max(first + 1) - 1);
    for b in (0..blocks / outer_blocks).step_by(group) {
        let (local, start) = (b * block_len::<A::V>(), offset + b * block_len::<A::V>());
        for pass in first..schedule.passes() {
            let len = 1 << schedule.log_len(pass);
            if start & (len - 1) != 0 {
                continue;
            }
            let asked = if pass + 1 == schedule.passes() {
                len
            } else {
                0
            };
            let prefetch = Prefetch::before_last::<A::V>(prefetch, local, asked);
            // SAFETY: a block of `len` words starts at `start`; its node is below `n / block_len`.
            unsafe {
                let (p, k) = (a.add(local), (n + start) / len);
                let stages = schedule.stages(pass);
                if const { A::V::WALKS } {
                    let rests = A::RESTS && (pass == 0 || !pass.is_multiple_of(2));
                    forward_walk_of(arith, t, stages, (p, len, k), rests);
                    continue;
                }
                forward_pass_of(
                    arith,
                    t,
                    stages,
                    Plain(p),
                    (p, len >> stages),
                    (len, k),
                    prefetch,
                );
            }
        }
        // SAFETY: `start / block_len < blocks`.
        unsafe {
            let at = (blocks, start / block_len::<A::V>());
            let p = a.add(local);
            let prefetch = |groups| {
                Prefetch::last::<A::V>(prefetch, local, groups * block_len::<A::V>(), last_block)
            };
            if const { group_count::<A::V>() == 1 } {
                forward_blocks::<A, LAZY, 1>(arith, t, p, at, prefetch(1));
            } else {
                forward_blocks::<A, LAZY, 2>(arith, t, p, at, prefetch(2));
            }
        }
    }
}

/// The inverse transform of the `tables.n` words at `from`, to `a`, which may be the same.
///
/// # Safety
/// As [`forward`], for both.
#[inline(always)]
pub(crate) unsafe fn inverse<A: Arith>(arith: &A, t: &Tables, from: *const u64, a: *mut u64) {
    if const { A::STAGEWISE } {
        // SAFETY: the caller's.
        return unsafe { stagewise::inverse(arith, t, from, a) };
    }
    debug_assert!(t.n >= MIN_LEN, "whole groups of blocks");
    let (n, schedule, scale) = (t.n, &t.schedule, &t.scale);
    let t = t.inverse.factors();
    let blocks = n / block_len::<A::V>();
    let group = group_count::<A::V>();
    for b in (0..blocks).step_by(group) {
        // SAFETY: the blocks are below `blocks`, a power of two.
        unsafe {
            if const { group_count::<A::V>() == 1 } {
                inverse_blocks::<A, 1>(arith, t, scale, (from, a), blocks, b);
            } else {
                inverse_blocks::<A, 2>(arith, t, scale, (from, a), blocks, b);
            }
        }
        let end = (b + group) * block_len::<A::V>();
        for pass in (0..schedule.passes()).rev() {
            let len = 1 << schedule.log_len(pass);
            if end & (len - 1) != 0 {
                break;
            }
            let start = end - len;
            // SAFETY: `end` is a multiple of `len`, so `start` starts a block of `len` words; its node is in the table.
            unsafe {
                let (p, k) = (a.add(start), (n + start) / len);
                let stages = schedule.stages(pass);
                if const { A::V::WALKS } {
                    if pass == 0 {
                        inverse_walk_of::<A, true>(arith, t, scale, stages, (p, len, k));
                    } else {
                        inverse_walk_of::<A, false>(arith, t, scale, stages, (p, len, k));
                    }
                } else if pass == 0 {
                    inverse_pass_of::<A, true>(arith, t, scale, stages, p, len, k);
                } else {
                    inverse_pass_of::<A, false>(arith, t, scale, stages, p, len, k);
                }
            }
        }
    }
}
