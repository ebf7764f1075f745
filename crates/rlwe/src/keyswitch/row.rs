// SPDX-License-Identifier: Apache-2.0
//! A transform in two steps: the outer stages of a whole polynomial, then block by block the others.

use super::centred_lift::CentredLift;
use super::inner_product::operand_bound;
use ntt::{Form, NttPlan};
use rns::RnsBasis;
use std::slice::{ChunksExact, ChunksExactMut};
use zq::Word;

/// A transform in two steps: finished, or between them.
pub(super) enum Row<'a, W: Word> {
    Finished(&'a [W]),
    Open(&'a mut [W]),
}

/// One part of a [`Row`].
pub(super) enum Piece<'a, W: Word> {
    Finished(&'a [W]),
    Open(&'a mut [W]),
}

/// The [`Piece`]s of a [`Row`], one after another.
pub(super) enum Pieces<'a, W: Word> {
    Finished(ChunksExact<'a, W>),
    /// Words from one part to the next, and of a part.
    Open(ChunksExactMut<'a, W>, usize),
}

impl<'a, W: Word> Row<'a, W> {
    /// The parts.
    pub fn pieces(self, plan: &NttPlan<W>) -> Pieces<'a, W> {
        let len = plan.n() / plan.parts();
        match self {
            Self::Finished(row) => Pieces::Finished(row.chunks_exact(len)),
            Self::Open(row) => Pieces::Open(row.chunks_exact_mut(plan.part_stride()), len),
        }
    }
}

impl<'a, W: Word> Iterator for Pieces<'a, W> {
    type Item = Piece<'a, W>;

    fn next(&mut self) -> Option<Piece<'a, W>> {
        match self {
            Self::Finished(parts) => parts.next().map(Piece::Finished),
            Self::Open(parts, len) => parts.next().map(|part| Piece::Open(&mut part[..*len])),
        }
    }
}

impl<W: Word> Piece<'_, W> {
    /// The remaining stages; returns the results.
    pub fn finish(&mut self, plan: &NttPlan<W>, part: usize, form: Form, ahead: [&[W]; 2]) {
        if let Self::Open(words) = self {
            plan.forward_part(part, words, form, ahead);
        }
    }

    pub fn words(&self) -> &[W] {
        match self {
            Self::Finished(words) => words,
            Self::Open(words) => words,
        }
    }

    /// The multiple of q that the words are below, where results of parts are below `open` times q.
    pub fn bound(&self, open: u64) -> u64 {
        match self {
            Self::Finished(_) => 1,
            Self::Open(_) => open,
        }
    }
}

/// How transforms are left for sums of so many terms, and the multiple of q their words are below: open where the sums can
/// take that.
pub(super) fn form_for<W: Word>(plan: &NttPlan<W>, terms: usize) -> (Form, u64) {
    match operand_bound(plan, terms) {
        bound if bound > 1 => (Form::Open, bound),
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
    Row::Open(buffer)
}
