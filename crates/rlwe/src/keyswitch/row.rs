// SPDX-License-Identifier: Apache-2.0
//! A transform in two steps: the outer stages of a whole polynomial, then block by block the others.

use super::inner_product::operand_bound;
use ntt::{Form, NttPlan};
use rns::{CentredLift, RnsBasis};
use std::slice::{ChunksExact, ChunksExactMut};
use zq::Word;

/// A transform in two steps: finished, or after its outer stages.
pub(super) enum Row<'a, W: Word> {
    Finished(&'a [W]),
    Outer(&'a mut [W]),
}

/// One block of a [`Row`], finished or after the outer stages.
pub(super) enum Block<'a, W: Word> {
    Finished(&'a [W]),
    Outer(&'a mut [W]),
}

/// The [`Block`]s of a [`Row`], one after another.
pub(super) enum Blocks<'a, W: Word> {
    Finished(ChunksExact<'a, W>),
    /// Words from one block to the next, and of a block.
    Outer(ChunksExactMut<'a, W>, usize),
}

impl<'a, W: Word> Row<'a, W> {
    /// The blocks.
    pub fn blocks(self, plan: &NttPlan<W>) -> Blocks<'a, W> {
        let len = plan.n() / plan.blocks();
        match self {
            Self::Finished(row) => Blocks::Finished(row.chunks_exact(len)),
            Self::Outer(row) => Blocks::Outer(row.chunks_exact_mut(plan.block_stride()), len),
        }
    }
}

impl<'a, W: Word> Iterator for Blocks<'a, W> {
    type Item = Block<'a, W>;

    fn next(&mut self) -> Option<Block<'a, W>> {
        match self {
            Self::Finished(blocks) => blocks.next().map(Block::Finished),
            Self::Outer(blocks, len) => blocks.next().map(|block| Block::Outer(&mut block[..*len])),
        }
    }
}

impl<W: Word> Block<'_, W> {
    /// The remaining stages; returns the results.
    pub fn finish(&mut self, plan: &NttPlan<W>, block: usize, form: Form, prefetch: [&[W]; 3]) {
        if let Self::Outer(words) = self {
            plan.forward_block(block, words, form, prefetch);
        }
    }

    pub fn words(&self) -> &[W] {
        match self {
            Self::Finished(words) => words,
            Self::Outer(words) => words,
        }
    }

    /// The multiple of q that the words are below, where results of blocks are below `lazy` times q.
    pub fn bound(&self, lazy: u64) -> u64 {
        match self {
            Self::Finished(_) => 1,
            Self::Outer(_) => lazy,
        }
    }
}

/// The form of transforms whose products are summed, `terms` of them, and the multiple of q that bounds their words:
/// lazy where the sums can take that.
pub(super) fn form_for<W: Word>(plan: &NttPlan<W>, terms: usize) -> (Form, u64) {
    match operand_bound(plan, terms) {
        bound if bound > 1 => (Form::Lazy, bound),
        bound => (Form::Reduced, bound),
    }
}

/// Words of a transform in two steps modulo any prime of `basis`.
pub(super) fn outer_len<W: Word>(basis: &RnsBasis<W>) -> usize {
    let longest = basis.plans().iter().map(|plan| plan.outer_len()).max();
    longest.unwrap_or(0)
}

/// The outer stages of `from`, lifted, into `buffer`; the whole transform where the lift is not a shift.
pub(super) fn outer<'b, W: Word>(
    plan: &NttPlan<W>,
    from: &[W],
    lift: Option<&CentredLift<W>>,
    buffer: &'b mut [W],
) -> Row<'b, W> {
    match lift.map(CentredLift::shift) {
        None => plan.forward_outer(from, None, buffer),
        Some(Some(shift)) => plan.forward_outer(from, Some(shift), buffer),
        Some(None) => {
            let buffer = &mut buffer[..plan.n()];
            if let Some(lift) = lift {
                lift.apply(from, buffer);
            }
            plan.forward(buffer);
            return Row::Finished(buffer);
        }
    }
    Row::Outer(buffer)
}
