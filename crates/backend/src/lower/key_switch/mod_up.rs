// SPDX-License-Identifier: Apache-2.0
//! Mod-up: the centred representative of a digit modulo all primes, as coefficients.

use super::decompose::Decomposition;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;
use ::polynomial::{Form, Limb};
use std::ops::Range;

impl<S: Lower> Lowering<'_, S> {
    /// A digit as an engine raises it, `copies` times side by side: its own residues are made anew too, where the
    /// others need a reduction or come of several primes.
    pub(super) fn raised(&mut self, of: &Decomposition, run: &Range<usize>, copies: usize) -> Part {
        let others = others(&of.moduli, run);
        if !others.is_empty() && (run.len() > 1 || self.is_long(of.moduli[run.start], &others)) {
            let limbs = self.centred(&[of.digit(run)], &of.moduli.repeat(copies));
            let form = Form::Coefficients;
            return Part { form, limbs };
        }
        self.completed(of, run, copies)
    }

    /// A digit's own residues, and those modulo the primes that it lacks; `copies` times side by side.
    pub(super) fn completed(
        &mut self,
        of: &Decomposition,
        run: &Range<usize>,
        copies: usize,
    ) -> Part {
        let (form, own) = (Form::Coefficients, of.digit(run));
        let others = others(&of.moduli, run);
        if others.is_empty() {
            return Part { form, limbs: own };
        }
        let made = self.centred(std::slice::from_ref(&own), &others.repeat(copies));
        let whole = |others: &[Limb]| {
            let mut digit = others.to_vec();
            digit.splice(run.start..run.start, own.iter().copied());
            digit
        };
        let limbs = made.chunks(others.len()).flat_map(whole).collect();
        Part { form, limbs }
    }
}

/// The primes outside a run.
fn others(moduli: &[u16], run: &Range<usize>) -> Vec<u16> {
    [&moduli[..run.start], &moduli[run.end..]].concat()
}
