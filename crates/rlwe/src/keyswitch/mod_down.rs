// SPDX-License-Identifier: Apache-2.0
//! Mod-down: the division of sums over Q·P by their last primes.

use super::division::Division;
use super::inner_product::Divide;
use super::level::KeySwitchLevel;
use super::per_prime::Lifted;
use super::row::{Row, form_for, outer, outer_len};
use super::work_space::{Buffers, for_each};
use crate::Threads;
use ntt::NttPlan;
use rns::{CentredLift, Eval, RnsBasis, RnsPoly};
use zq::{AlignedVec, Pool, Shoup, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// Words of [`KeySwitchLevel::correct_outer`].
    pub(super) fn corrections_len(&self, division: &Division<W>, components: usize) -> usize {
        division.corrections() * components * outer_len(self.qp())
    }

    /// The centred representatives of the sums modulo the dropped primes, if there are several, modulo each kept prime,
    /// after the outer stages of their transforms: for each prime a row for each component.
    pub(super) fn correct_outer<'a>(
        &self,
        division: &Division<W>,
        sums: &[W],
        corrections: &'a mut [W],
        threads: &Threads,
        buffers: &Pool<Buffers<W>>,
    ) -> Vec<Lifted<'a, W>> {
        let (n, kept) = (self.q().n(), division.kept);
        let count = self.qp().len() - kept;
        let mut by_prime: Vec<Lifted<'a, W>> = Vec::new();
        by_prime.resize_with(kept, Vec::new);
        let Some(converter) = &division.converter else {
            return by_prime;
        };
        let components = sums.len() / (n * count);
        let mut free = corrections.chunks_exact_mut(outer_len(self.qp()));
        let rows = (0..components).map(|_| (0..kept).zip(free.by_ref()).collect());
        let mut rows: Vec<Vec<(usize, &'a mut [W])>> = rows.collect();
        let part = kept.div_ceil(threads.cuts(components)).max(1);
        let work = rows.iter_mut().enumerate().flat_map(|(k, rows)| {
            let parts = rows.chunks_mut(part).enumerate();
            parts.map(move |(i, rows)| (k, i * part, rows))
        });
        for_each(threads, buffers, work, |(k, first, rows), own| {
            let mut together = std::mem::take(&mut own.together);
            let words = together.take(count * n);
            for (i, out) in words.chunks_exact_mut(n).enumerate() {
                out.copy_from_slice(&sums[(i * components + k) * n..][..n]);
            }
            self.lift_outer(words, converter, (first, rows), own);
            own.together = together;
        });
        for (j, row) in rows.into_iter().flatten() {
            by_prime[j].push(row);
        }
        by_prime
    }

    /// The centred representatives of the sums modulo the dropped primes, coefficient form, modulo each kept prime, if
    /// there are several.
    pub(super) fn correct(
        &self,
        division: &Division<W>,
        sums: &[W],
        corrections: &mut [W],
        threads: &Threads,
        buffers: &Pool<Buffers<W>>,
    ) {
        let (n, count) = (self.q().n(), self.qp().len() - division.kept);
        let Some(converter) = &division.converter else {
            return;
        };
        let components = sums.len() / (n * count);
        let rows = corrections.chunks_exact_mut(division.kept * n).enumerate();
        for_each(threads, buffers, rows, |(k, fix), buffers| {
            let Buffers {
                together, convert, ..
            } = buffers;
            let together = together.take(count * n);
            for (i, out) in together.chunks_exact_mut(n).enumerate() {
                out.copy_from_slice(&sums[(i * components + k) * n..][..n]);
            }
            converter.convert_into(together, fix, convert);
        });
    }

    /// Divides coefficients by P: `parts` modulo the kept primes, `dropped` modulo the special ones, where there are
    /// several with their `corrections` ([`KeySwitchLevel::correct`]).
    pub(super) fn divide(
        &self,
        parts: &mut [AlignedVec<W>],
        (dropped, corrections): (&[W], &[W]),
        threads: &Threads,
        buffers: &Pool<Buffers<W>>,
    ) {
        let (n, l) = (self.q().n(), self.q().len());
        let limbs = parts.iter_mut().enumerate().flat_map(|(component, part)| {
            let limbs = part.chunks_exact_mut(n).enumerate();
            limbs.map(move |limb| (component, limb))
        });
        for_each(threads, buffers, limbs, |(component, (j, out)), own| {
            let correction = if corrections.is_empty() {
                let lifted = own.transforms.take(n);
                let lift = CentredLift::new(self.qp().modulus(l), self.q().modulus(j));
                lift.apply(&dropped[component * n..][..n], lifted);
                lifted
            } else {
                &corrections[(component * l + j) * n..][..n]
            };
            Divide {
                correction,
                bound: 1,
                factor: self.special.inverses[j],
            }
            .run(self.q().modulus(j), out);
        });
    }
}

/// `round(x / q)` of each part x for their last prime q, over the primes before it; `inverses` are those of q modulo
/// each. The threads share the primes of all parts among them.
///
/// Equal to [`rns::ScaleRounder`] with numerator 1, with one pass over the kept limbs.
///
/// # Panics
/// If `kept` is not the basis of a part without its last prime, or the inverses are not one for each prime.
#[inline(never)]
pub fn divide_by_last<W: Word>(
    parts: &[RnsPoly<W, Eval>],
    kept: &RnsBasis<W>,
    inverses: &[Shoup<W>],
    threads: &Threads,
) -> Vec<RnsPoly<W, Eval>> {
    let (n, l) = (kept.n(), kept.len());
    assert!(
        parts.iter().all(|x| x.limb_count() == l + 1) && inverses.len() == l,
        "shapes of a division by the last prime"
    );
    let threads = threads.worth(parts.len() * (l + 1) * n);
    let mut dropped = AlignedVec::for_overwrite(parts.len() * n);
    let last = dropped.chunks_exact_mut(n).zip(parts);
    threads.for_each(last, |(dropped, x)| {
        x.basis().plan(l).inverse_from(x.limb(l), dropped);
    });
    let mut out: Vec<AlignedVec<W>> =
        (parts.iter().map(|_| AlignedVec::for_overwrite(l * n))).collect();
    let each = out.iter_mut().zip(parts).zip(dropped.chunks_exact(n));
    let rows = each.flat_map(|((out, x), dropped)| {
        let rows = out.chunks_exact_mut(n).enumerate();
        rows.map(move |(j, out)| (j, out, x, dropped))
    });
    let buffers: Pool<AlignedVec<W>> = Pool::default();
    threads.for_each(rows, |(j, out, x, dropped)| {
        let plan = kept.plan(j);
        let lift = CentredLift::new(x.basis().modulus(l), plan.modulus());
        out.copy_from_slice(x.limb(j));
        buffers.lend(|buffer| {
            if buffer.is_empty() {
                *buffer = AlignedVec::for_overwrite(outer_len(kept));
            }
            subtract_and_divide(plan, (dropped, &lift), inverses[j], buffer, out);
        });
    });
    let poly = |data| RnsPoly::from_data(kept, data);
    out.into_iter().map(poly).collect()
}

/// `out = (out - transform of the lifted x)·factor` modulo the plan's prime, with `buffer` of [`outer_len`] words for
/// the transform.
pub(super) fn subtract_and_divide<W: Word>(
    plan: &NttPlan<W>,
    (x, lift): (&[W], &CentredLift<W>),
    factor: Shoup<W>,
    buffer: &mut [W],
    out: &mut [W],
) {
    let row = outer(plan, x, Some(lift), &mut buffer[..plan.outer_len()]);
    finish_and_divide(plan, row, factor, out);
}

/// As [`subtract_and_divide`], from the outer stages' results in `row`.
pub(super) fn subtract_outer_and_divide<W: Word>(
    plan: &NttPlan<W>,
    row: &mut [W],
    factor: Shoup<W>,
    out: &mut [W],
) {
    finish_and_divide(plan, Row::Outer(&mut row[..plan.outer_len()]), factor, out);
}

fn finish_and_divide<W: Word>(plan: &NttPlan<W>, row: Row<'_, W>, factor: Shoup<W>, out: &mut [W]) {
    let len = plan.n() / plan.blocks();
    let (form, bound) = form_for(plan, 1);
    let blocks = row.blocks(plan).zip(out.chunks_exact_mut(len));
    for (block, (mut fix, out)) in blocks.enumerate() {
        fix.finish(plan, block, form, [&[]; 3]);
        Divide {
            correction: fix.words(),
            bound: fix.bound(bound),
            factor,
        }
        .run(plan.modulus(), out);
    }
}
