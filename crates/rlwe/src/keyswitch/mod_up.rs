// SPDX-License-Identifier: Apache-2.0
//! Mod-up: digits of more than one prime lifted to the primes they lack.

use super::level::KeySwitchLevel;
use super::per_prime::Lifted;
use super::request::Source;
use super::row::outer_len;
use super::work_space::{Buffers, for_each};
use crate::Threads;
use rns::BaseConverter;
use zq::{Pool, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// Words that the digits of more than one prime take, for `sources` polynomials.
    pub(super) fn lifted_len(&self, sources: usize) -> usize {
        let wide = self.digits.iter().filter(|d| d.own.len() > 1);
        let rows: usize = wide.map(|d| self.qp().len() - d.own.len()).sum();
        sources * rows * outer_len(self.qp())
    }

    /// Lifts every digit of more than one prime to the primes it lacks and does the outer stages of their transforms, a
    /// block of coefficients after another, so that lifts never leave the nearest cache. The rows for each prime, in
    /// order.
    pub(super) fn lift_wide_digits<'a>(
        &self,
        sources: &[Source<'_, W>],
        lifted: &'a mut [W],
        threads: &Threads,
        buffers: &Pool<Buffers<W>>,
    ) -> Vec<Lifted<'a, W>> {
        let n = self.q().n();
        let mut free = lifted.chunks_exact_mut(outer_len(self.qp()));
        let mut tasks = Vec::new();
        for source in sources {
            for digit in self.digits.iter().filter(|d| d.own.len() > 1) {
                let Some(converter) = &digit.converter else {
                    continue;
                };
                let rows: Vec<_> = free.by_ref().take(converter.outputs()).collect();
                let others = (0..self.qp().len()).filter(|j| !digit.own.contains(j));
                let rows: Vec<_> = others.zip(rows).collect();
                let words = &source.coefficients[digit.own.start * n..digit.own.end * n];
                tasks.push((words, converter, rows));
            }
        }
        let cuts = threads.cuts(tasks.len());
        let work = tasks.iter_mut().flat_map(|(words, converter, rows)| {
            let (words, converter, part) = (*words, *converter, rows.len().div_ceil(cuts).max(1));
            let parts = rows.chunks_mut(part).enumerate();
            parts.map(move |(i, rows)| (words, converter, (i * part, rows)))
        });
        for_each(threads, buffers, work, |(words, converter, rows), own| {
            self.lift_outer(words, converter, rows, own);
        });
        let mut by_prime: Vec<Lifted<'a, W>> = Vec::new();
        by_prime.resize_with(self.qp().len(), Vec::new);
        for (j, row) in tasks.into_iter().flat_map(|(.., rows)| rows) {
            by_prime[j].push(row);
        }
        by_prime
    }

    /// One digit's lifts, from the converter's output number `first` on, and the outer stages of their transforms to
    /// `rows`, which are modulo the primes of these numbers.
    pub(super) fn lift_outer(
        &self,
        words: &[W],
        converter: &BaseConverter<W>,
        (first, rows): (usize, &mut [(usize, &mut [W])]),
        own: &mut Buffers<W>,
    ) {
        let n = self.q().n();
        let blocks = |j: usize| self.qp().plan(j).blocks();
        // Most often all transforms have as many blocks.
        let mut counts: Vec<usize> = rows.iter().map(|(j, _)| blocks(*j)).collect();
        counts.sort_unstable();
        counts.dedup();
        for count in counts {
            let columns = (BaseConverter::<W>::BLOCK / count).min(n / count);
            let lift = own.transforms.take(count * columns);
            for start in (0..n / count).step_by(columns) {
                let block = converter.block(words, (count, columns), start, &mut own.convert);
                for (i, (j, row)) in rows.iter_mut().enumerate() {
                    let plan = self.qp().plan(*j);
                    if plan.blocks() == count {
                        block.output(first + i, lift);
                        plan.forward_outer_columns(lift, start, &mut row[..plan.outer_len()]);
                    }
                }
            }
        }
    }
}
