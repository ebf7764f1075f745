// SPDX-License-Identifier: Apache-2.0
//! Prefetching of rows that are wanted next, while passes compute.

use zq::simd::Lanes;

use super::registers::group_count;

/// Words of a cache line.
const LINE: usize = 8;

/// Words of several rows to prefetch: as many of each, from the same place on.
#[derive(Clone, Copy)]
pub(super) struct Prefetch<'a> {
    pub rows: &'a [*const u64],
    /// First word.
    pub start: usize,
    /// Words of each row.
    pub len: usize,
}

/// Whether prefetches are spread over passes. All at once are more than the first cache level has buffers for, and the
/// loads behind them wait; but sixteen registers leave none for rows while stages go on.
const fn spread<V: Lanes>() -> bool {
    group_count::<V>() > 1
}

impl<'a> Prefetch<'a> {
    /// Prefetches of the last pass but one for the block of `len` words at `start`: if spread, the first quarter. The
    /// last pass prefetches the second half; the hardware prefetcher, which has seen a run of lines, fetches the rest.
    #[inline(always)]
    pub fn before_last<V: Lanes>(rows: &'a [*const u64], start: usize, len: usize) -> Self {
        Self {
            rows: if spread::<V>() { rows } else { &[] },
            start,
            len: len / 4,
        }
    }

    /// Prefetches of the last pass for the `len` words at `start`, in a block of `block` words of the pass before.
    #[inline(always)]
    pub fn last<V: Lanes>(rows: &'a [*const u64], start: usize, len: usize, block: usize) -> Self {
        let within = start & (block - 1);
        let (start, len) = if spread::<V>() {
            (start - within + block / 2 + within / 2, len / 2)
        } else {
            (start, len)
        };
        Self { rows, start, len }
    }
}

impl Prefetch<'_> {
    /// Nothing to prefetch.
    pub const NONE: Self = Self {
        rows: &[],
        start: 0,
        len: 0,
    };

    /// Prefetches portion number `portion` of `portions`, in whole lines; for all with the first where they are not
    /// spread.
    ///
    /// # Safety
    /// The features of `V` are enabled.
    #[inline(always)]
    pub unsafe fn request<V: Lanes>(self, portion: usize, portions: usize) {
        let lines = match (spread::<V>(), portion) {
            (true, _) => self.len / LINE / portions,
            (false, 0) => self.len / LINE,
            (false, _) => return,
        };
        for row in self.rows {
            let row = row.wrapping_add(self.start + LINE * lines * portion);
            for line in 0..lines {
                // SAFETY: any address will do.
                unsafe { V::prefetch(row.wrapping_add(LINE * line)) };
            }
        }
    }
}
