// SPDX-License-Identifier: Apache-2.0
//! Requests for memory while a pass computes.

use zq::simd::Vector;

/// Portions that the requests of one pass over a block are made in. All at once would be more than the first cache level has
/// buffers for, and the loads behind them would wait.
const PORTIONS: usize = 8;

/// Words of a cache line.
const LINE: usize = 8;

/// As many words of each row as the pass works on.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a> {
    pub rows: &'a [*const u64],
    /// First word.
    pub start: usize,
    pub len: usize,
}

impl Ahead<'_> {
    /// No requests.
    pub const NONE: Self = Self {
        rows: &[],
        start: 0,
        len: 0,
    };

    /// Asks for portion number `portion`.
    ///
    /// # Safety
    /// The features of `V` are enabled.
    #[inline(always)]
    pub unsafe fn ask<V: Vector>(self, portion: usize) {
        let lines = self.len / LINE;
        for row in self.rows {
            for line in lines * portion / PORTIONS..lines * (portion + 1) / PORTIONS {
                // SAFETY: any address will do.
                unsafe { V::prefetch(row.wrapping_add(self.start + LINE * line)) };
            }
        }
    }
}
