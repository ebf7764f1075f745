// SPDX-License-Identifier: Apache-2.0
//! Requests for memory while passes compute.

use zq::simd::Vector;

/// Words of a cache line.
const LINE: usize = 8;

/// Words of several rows that are wanted next: as many of each, from the same place on.
///
/// They are asked for in portions spread over a pass. All at once would be more than the first cache level has buffers for, and
/// the loads behind them would wait.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a> {
    pub rows: &'a [*const u64],
    /// First word.
    pub start: usize,
    /// Words of each row.
    pub len: usize,
}

impl Ahead<'_> {
    /// No requests.
    pub const NONE: Self = Self {
        rows: &[],
        start: 0,
        len: 0,
    };

    /// Asks for portion number `portion` of `portions`, in whole lines.
    ///
    /// # Safety
    /// The features of `V` are enabled.
    #[inline(always)]
    pub unsafe fn ask<V: Vector>(self, portion: usize, portions: usize) {
        let lines = self.len / LINE / portions;
        for row in self.rows {
            let row = row.wrapping_add(self.start + LINE * lines * portion);
            for line in 0..lines {
                // SAFETY: any address will do.
                unsafe { V::prefetch(row.wrapping_add(LINE * line)) };
            }
        }
    }
}
