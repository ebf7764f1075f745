// SPDX-License-Identifier: Apache-2.0
//! Blocks and passes of a transform, by its length.

use zq::simd::Lanes;

use super::arith::Arith;

/// Vectors of a group, and of a block of the last pass.
pub(crate) const VECTORS: usize = 8;

/// Elements of a block of the last pass.
pub(crate) const fn block_len<V: Lanes>() -> usize {
    VECTORS * V::LANES
}

/// Shortest transform worth vectors, and shortest part of one that goes its own way: two blocks of the widest, which go
/// through the last pass together.
pub(super) const MIN_LEN: usize = 128;

/// Passes of the longest transform over the shortest block, two stages each.
const MAX_PASSES: usize = 8;

/// `log2` of the block lengths of the passes before the last, outermost first.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    log_len: [u32; MAX_PASSES + 1],
    passes: usize,
}

impl Schedule {
    pub fn new<A: Arith>(n: usize) -> Self {
        let (mut log_len, last) = ([0; MAX_PASSES + 1], block_len::<A::V>().ilog2());
        log_len[0] = n.ilog2();
        let mut passes = 0;
        while log_len[passes] > last {
            // Three stages, but two where that leaves no single one.
            let left = log_len[passes] - last;
            let stages = if left == 4 { 2 } else { left.min(A::V::STAGES) };
            log_len[passes + 1] = log_len[passes] - stages;
            passes += 1;
        }
        Self { log_len, passes }
    }

    /// Stages of pass `pass`, which are two or three.
    pub fn stages(&self, pass: usize) -> u32 {
        self.log_len[pass] - self.log_len[pass + 1]
    }

    /// Passes before the last.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// `log2` of the length of the blocks of pass `pass`; of the last pass for [`Schedule::passes`].
    pub fn log_len(&self, pass: usize) -> u32 {
        self.log_len[pass]
    }

    /// Independent blocks that the outermost pass leaves; 1 where the last pass is the only one, or they are too short.
    pub fn outer_blocks(&self) -> usize {
        if self.passes == 0 || 1 << self.log_len[1] < MIN_LEN {
            1
        } else {
            1 << self.stages(0)
        }
    }
}
