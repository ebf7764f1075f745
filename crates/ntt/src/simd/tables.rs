// SPDX-License-Identifier: Apache-2.0
//! Twiddle factors in the order the vector passes read them.

use zq::AlignedVec;
use zq::simd::Vector;

use super::arith::Arith;
use crate::plan::ScalarTables;

/// Tables of one direction.
#[derive(Debug, Clone)]
pub(crate) struct Direction {
    /// Pairs `[w, w']` of node `k = m + i` at `2k`, for the stages whose halves are whole vectors.
    pub nodes: AlignedVec<u64>,
    /// For each block of the last (first) pass: for each in-register stage, for each pair of vectors, `LANES` factors and
    /// their `LANES` quotients, in the lanes of that stage.
    pub lanes: AlignedVec<u64>,
}

/// Both directions and the final scaling.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    pub n: usize,
    pub forward: Direction,
    pub inverse: Direction,
    /// `[n^-1, n^-1', n^-1 w, (n^-1 w)']` with the last inverse twiddle `w`.
    pub scale: [u64; 4],
}

impl Tables {
    pub fn new<A: Arith>(plan: &ScalarTables<'_>) -> Self {
        let q = plan.q;
        let (fl, il) = (A::V::FORWARD_LANES, A::V::INVERSE_LANES);
        // Forward stages go from wide to narrow, inverse from narrow to wide.
        let last = A::V::LOG_LANES - 1;
        let forward = Direction::new::<A>(q, plan.forward, |s| (last - s, fl[s]));
        let inverse = Direction::new::<A>(q, plan.inverse, |s| (s, il[s]));
        let [a, b] = plan.scale.map(|w| A::twiddle(q, w));
        Self {
            n: plan.forward.len(),
            forward,
            inverse,
            scale: [a[0], a[1], b[0], b[1]],
        }
    }
}

impl Direction {
    /// `stage(s)` gives `log2` of the half-length of in-register stage `s` and the elements in its lanes.
    fn new<A: Arith>(
        q: u64,
        w: &[u64],
        stage: impl Fn(usize) -> (usize, &'static [usize]),
    ) -> Self {
        let (n, lanes) = (w.len(), A::V::LANES);
        let mut nodes = AlignedVec::zeros(2 * n / lanes);
        for (pair, &w) in nodes.chunks_exact_mut(2).zip(w) {
            pair.copy_from_slice(&A::twiddle(q, w));
        }
        let mut table = AlignedVec::zeros(A::V::LOG_LANES * n);
        let block = super::passes::block_len::<A::V>();
        let mut out = table.chunks_exact_mut(2 * lanes);
        for start in (0..n).step_by(block) {
            for s in 0..A::V::LOG_LANES {
                let (log_half, elements) = stage(s);
                for pair in (start..start + block).step_by(2 * lanes) {
                    let out = out.next().expect("one entry for each stage and pair");
                    for (lane, element) in elements.iter().enumerate() {
                        // Element e of a stage with halves of 2^h is in block e >> (h+1) of n >> (h+1).
                        let node = (n + pair + element) >> (log_half + 1);
                        [out[lane], out[lanes + lane]] = A::twiddle(q, w[node]);
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
