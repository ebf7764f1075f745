// SPDX-License-Identifier: Apache-2.0
//! The division of both components of a sum by P.

use crate::Threads;
use crate::keyswitch::level::KeySwitchLevel;
use crate::keyswitch::mod_down::{subtract_and_divide, subtract_outer_and_divide};
use crate::keyswitch::row::outer_len;
use crate::keyswitch::work_space::{SwitchScratch, for_each};
use rns::CentredLift;
use zq::{AlignedVec, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// Both components of `total` divided by P, in evaluation form.
    pub(in crate::keyswitch) fn divide_eval(
        &self,
        total: &mut [W],
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) -> [AlignedVec<W>; 2] {
        let (n, l) = (self.q().n(), self.q().len());
        let (kept, dropped) = total.split_at_mut(2 * l * n);
        let rows = dropped.chunks_exact_mut(n).enumerate();
        threads.for_each(rows, |(i, row)| self.qp().plan(l + i / 2).inverse(row));
        let corrections = scratch
            .corrections
            .take(self.corrections_len(&self.special, 2));
        let (special, buffers) = (&self.special, &scratch.buffers);
        let corrections = self.correct_outer(special, dropped, corrections, threads, buffers);
        let mut out = [0, 1].map(|_| AlignedVec::for_overwrite(l * n));
        let [first, second] = &mut out;
        let rows = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n));
        let rows: Vec<_> = rows.zip(corrections).enumerate().collect();
        let count = dropped.len() / (2 * n);
        for_each(
            threads,
            buffers,
            rows.into_iter(),
            |(j, ((a, b), fixes)), own| {
                let (plan, factor) = (self.qp().plan(j), special.inverses.get(j));
                let mut fixes = fixes.into_iter();
                for (component, out) in [a, b].into_iter().enumerate() {
                    out.copy_from_slice(&kept[(2 * j + component) * n..][..n]);
                    let Some(factor) = factor.filter(|_| count > 0) else {
                        continue;
                    };
                    if let Some(fix) = fixes.next() {
                        subtract_outer_and_divide(plan, fix, *factor, out);
                        continue;
                    }
                    let lift = CentredLift::new(self.qp().modulus(l), plan.modulus());
                    let buffer = own.transforms.take(outer_len(self.qp()));
                    let x = &dropped[component * n..][..n];
                    subtract_and_divide(plan, (x, &lift), *factor, buffer, out);
                }
            },
        );
        out
    }

    /// Both components of `total` divided by P, in coefficient form.
    pub(super) fn divide_coeff(
        &self,
        total: &mut [W],
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) -> [AlignedVec<W>; 2] {
        let (n, l, limbs) = (self.q().n(), self.q().len(), self.qp().len());
        let rows = total.chunks_exact_mut(n).enumerate();
        threads.for_each(rows, |(i, row)| self.qp().plan(i / 2).inverse(row));
        let together = scratch.sums.take(2 * limbs * n);
        for (component, x) in together.chunks_exact_mut(limbs * n).enumerate() {
            for (j, row) in x.chunks_exact_mut(n).enumerate() {
                row.copy_from_slice(&total[(2 * j + component) * n..][..n]);
            }
        }
        let mut out = [0, 1].map(|_| AlignedVec::for_overwrite(l * n));
        let components = together.chunks_exact(limbs * n).zip(&mut out);
        for_each(threads, &scratch.buffers, components, |(x, out), own| {
            self.round_special(x, (0, out), &mut own.convert);
        });
        out
    }
}
