// SPDX-License-Identifier: Apache-2.0
//! Twiddle factors in the order the vector passes read them.

use zq::AlignedVec;
use zq::simd::Lanes;

use super::arith::Arith;
use super::schedule::{Schedule, VECTORS, block_len};
use crate::tables::ScalarTables;

/// Tables of one direction: 16 bytes for each coefficient with eight lanes.
#[derive(Debug, Clone)]
pub(crate) struct Direction {
    /// Pairs `[w, w']` of node `k = m + i` at `2k`, for the stages whose halves are whole vectors.
    pub nodes: AlignedVec<u64>,
    /// For each block of the last (first) pass: for each in-register stage, wide to narrow, for each pair of vectors,
    /// the factors of the first lanes, one for each block of the stage, and their quotients.
    pub lanes: AlignedVec<u64>,
}

/// Where the words of a [`Direction`] stand: passes read factors in their innermost loops, where an [`AlignedVec`]
/// would find its words anew each time.
#[derive(Clone, Copy)]
pub(crate) struct Factors {
    nodes: (*const u64, usize),
    lanes: (*const u64, usize),
}

impl Factors {
    /// The pair of node `k`.
    ///
    /// # Safety
    /// The table holds it: its halves are whole vectors.
    #[inline(always)]
    pub unsafe fn node(self, k: usize) -> *const u64 {
        debug_assert!(2 * k + 1 < self.nodes.1);
        // SAFETY: the caller's.
        unsafe { self.nodes.0.add(2 * k) }
    }

    /// The `len` words of the lane table from `entry` on.
    ///
    /// # Safety
    /// The table has them.
    #[inline(always)]
    pub unsafe fn lanes(self, entry: usize, len: usize) -> *const u64 {
        debug_assert!(entry + len <= self.lanes.1);
        // SAFETY: the caller's.
        unsafe { self.lanes.0.add(entry) }
    }
}

/// Both directions and the final scaling.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    pub n: usize,
    /// The passes that read these tables.
    pub schedule: Schedule,
    pub forward: Direction,
    pub inverse: Direction,
    /// `[n^-1, n^-1', n^-1 w, (n^-1 w)']` with the last inverse twiddle `w`.
    pub scale: [u64; 4],
}

/// Words of a block's lane table before stage `s`: a pair of vectors has `2^(s+1)` factors and as many quotients.
pub(crate) const fn stage_offset(s: usize) -> usize {
    VECTORS / 2 * 4 * ((1 << s) - 1)
}

impl Tables {
    pub fn new<A: Arith>(plan: &ScalarTables<'_>) -> Self {
        let direction = |w| Direction::new::<A>(plan.q, w);
        let [a, b] = plan.scale.map(|w| A::last_twiddle(plan.q, w));
        Self {
            n: plan.forward.len(),
            schedule: Schedule::new::<A>(plan.forward.len()),
            forward: direction(plan.forward),
            inverse: direction(plan.inverse),
            scale: [a[0], a[1], b[0], b[1]],
        }
    }
}

impl Direction {
    /// Where its words stand, for as long as it is borrowed.
    pub fn factors(&self) -> Factors {
        Factors {
            nodes: (self.nodes.as_ptr(), self.nodes.len()),
            lanes: (self.lanes.as_ptr(), self.lanes.len()),
        }
    }

    fn new<A: Arith>(q: u64, w: &[u64]) -> Self {
        let (n, lanes) = (w.len(), A::V::LANES);
        let mut nodes = AlignedVec::zeros(2 * n / lanes);
        for (pair, &w) in nodes.chunks_exact_mut(2).zip(w) {
            pair.copy_from_slice(&A::twiddle(q, w));
        }
        let block = block_len::<A::V>();
        let mut table = AlignedVec::zeros(n / block * stage_offset(A::V::LOG_LANES));
        for (b, out) in table
            .chunks_exact_mut(stage_offset(A::V::LOG_LANES))
            .enumerate()
        {
            for (s, elements) in A::V::LANES_OF_STAGE.iter().enumerate() {
                let distinct = 2 << s;
                let pairs = out[stage_offset(s)..]
                    .chunks_exact_mut(2 * distinct)
                    .take(VECTORS / 2);
                for (i, out) in pairs.enumerate() {
                    let start = b * block + i * 2 * lanes;
                    for lane in 0..distinct {
                        // A block of the stage is 2^(log2 LANES - s) elements.
                        let node = (n + start + elements[lane]) >> (A::V::LOG_LANES - s);
                        [out[lane], out[distinct + lane]] = A::twiddle(q, w[node]);
                    }
                }
            }
        }
        Self {
            nodes,
            lanes: table,
        }
    }
}
