// SPDX-License-Identifier: Apache-2.0
//! The sums of a linear transform over Q·P.
//!
//! Prime by prime, as key switches ([`super::super::per_prime`]): first the inner rotations, their products with the
//! factors and the sums; then, sum by sum, the second part of those that are rotated divided by P, and its digits times
//! the key.

use super::inner_sums::Inner;
use super::steps::{RotatedSum, Steps};
use super::{GiantStep, TransformSource};
use crate::keyswitch::level::KeySwitchLevel;
use crate::keyswitch::per_prime::{PerPrime, Place};
use crate::keyswitch::request::{Source, SwitchRequest};
use crate::keyswitch::work_space::{SwitchScratch, for_each};
use crate::{Error, Threads};
use rns::{Coeff, Eval, RnsPoly, Scratch};
use zq::Word;

impl<W: Word> KeySwitchLevel<W> {
    /// A linear transform of a ciphertext in evaluation form.
    ///
    /// # Errors
    /// [`Error::Shape`] when a part, a factor or a key is not of this level.
    #[inline(never)]
    pub fn linear_transform_eval(
        &self,
        source: TransformSource<'_, W>,
        giants: &[GiantStep<'_, W>],
        threads: &Threads,
    ) -> Result<[RnsPoly<W, Eval>; 2], Error> {
        self.transform(source, giants, threads, |total, scratch| {
            self.divide_eval(total, threads, scratch)
                .map(|data| RnsPoly::from_data(self.q(), data))
        })
    }

    /// A linear transform, the result in coefficient form.
    ///
    /// # Errors
    /// As [`KeySwitchLevel::linear_transform_eval`].
    #[inline(never)]
    pub fn linear_transform_coeff(
        &self,
        source: TransformSource<'_, W>,
        giants: &[GiantStep<'_, W>],
        threads: &Threads,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        self.transform(source, giants, threads, |total, scratch| {
            self.divide_coeff(total, threads, scratch)
                .map(|data| RnsPoly::from_data(self.q(), data))
        })
    }

    /// The sums over Q·P, limb by limb both components, handed to `divide`.
    fn transform<R>(
        &self,
        source: TransformSource<'_, W>,
        giants: &[GiantStep<'_, W>],
        threads: &Threads,
        divide: impl FnOnce(&mut [W], &mut SwitchScratch<W>) -> R,
    ) -> Result<R, Error> {
        let (n, limbs) = (self.q().n(), self.qp().len());
        let own = Source {
            coefficients: source.coefficients,
            values: Some(source.values[1]),
        };
        let first = Source {
            coefficients: source.values[0],
            values: None,
        };
        self.check(&[own, first], &[])?;
        for (number, giant) in giants.iter().enumerate() {
            giant.check(self.q().len(), self.digit_count(), limbs * n)?;
            giant.check_order(number, giants.len())?;
        }
        let steps = Steps::new(giants);
        Ok(self.scratch.lend(|scratch| {
            let mut total = std::mem::take(&mut scratch.total);
            let mut sums = std::mem::take(&mut scratch.sums);
            let out = {
                let total = total.take(2 * limbs * n);
                threads.for_each(total.chunks_exact_mut(n), |row| row.fill(W::ZERO));
                let sums = sums.take(steps.sums() * 2 * limbs * n);
                self.inner_sums(source, &steps, (sums, total), threads, scratch);
                for round in steps.rounds() {
                    self.rotate_sums(&round, (sums, total), threads, scratch);
                }
                divide(total, scratch)
            };
            (scratch.total, scratch.sums) = (total, sums);
            out
        }))
    }

    /// The sums of products: those that will be rotated to `sums`, first components before second ones, the others onto
    /// `total`.
    fn inner_sums(
        &self,
        source: TransformSource<'_, W>,
        steps: &Steps<'_, W>,
        (sums, total): (&mut [W], &mut [W]),
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) {
        let n = self.q().n();
        let own = [Source {
            coefficients: source.coefficients,
            values: Some(source.values[1]),
        }];
        let lifted = scratch.lifted.take(self.lifted_len(1));
        let lifted = self.lift_wide_digits(&own, lifted, threads, &scratch.buffers);
        let mut sums: Vec<_> = sums
            .chunks_exact_mut(self.qp().len() * n)
            .map(|sum| sum.chunks_exact_mut(n))
            .collect();
        let rows = total.chunks_exact_mut(2 * n).zip(lifted).enumerate();
        let rows = rows.map(|(j, (total, lifted))| {
            let mut components = sums.iter_mut().filter_map(Iterator::next);
            let count = steps.sums();
            let rotated = (0..count).filter_map(|_| Some([components.next()?, components.next()?]));
            // The sum without rotation comes last.
            let out: Vec<[&mut [W]; 2]> = rotated.chain([total.split_at_mut(n).into()]).collect();
            (j, lifted, out)
        });
        let rows: Vec<_> = rows.collect();
        for_each(
            threads,
            &scratch.buffers,
            rows.into_iter(),
            |(j, lifted, out), own| {
                let inner = Inner {
                    level: self,
                    j,
                    source,
                    steps,
                };
                inner.run(out, lifted, own);
            },
        );
    }

    /// Adds the rotated `sums` of a round to others or to `total`, all over Q·P.
    fn rotate_sums(
        &self,
        round: &[RotatedSum<'_, W>],
        (sums, total): (&mut [W], &mut [W]),
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) {
        let (n, l, limbs) = (self.q().n(), self.q().len(), self.qp().len());
        let mut sums: Vec<Option<&mut [W]>> =
            sums.chunks_exact_mut(2 * limbs * n).map(Some).collect();
        let mut own: Vec<&mut [W]> = (round.iter())
            .filter_map(|sum| sums[sum.number].take())
            .collect();
        let seconds = own.iter_mut().map(|sum| &mut sum[limbs * n..]);
        let rows = seconds.flat_map(|sum| sum.chunks_exact_mut(n).enumerate());
        threads.for_each(rows, |(j, row)| self.qp().plan(j).inverse(row));
        let coefficients = scratch.coefficients.take(round.len() * l * n);
        let part = l.div_ceil(threads.cuts(round.len()));
        let work = own.iter().zip(coefficients.chunks_exact_mut(l * n));
        let work = work.flat_map(|(pair, out)| {
            let parts = out.chunks_mut(part * n).enumerate();
            parts.map(move |(i, out)| (&pair[limbs * n..], (i * part, out)))
        });
        for_each(threads, &scratch.buffers, work, |(x, out), buffers| {
            self.round_special(x, out, &mut buffers.convert);
        });
        let sources: Vec<_> = coefficients
            .chunks_exact(l * n)
            .map(|coefficients| Source {
                coefficients,
                values: None,
            })
            .collect();
        let lifted = scratch.lifted.take(self.lifted_len(sources.len()));
        let lifted = self.lift_wide_digits(&sources, lifted, threads, &scratch.buffers);
        let requests: Vec<_> = (own.iter().zip(round).enumerate())
            .map(|(source, (pair, sum))| SwitchRequest {
                source,
                key: sum.rotation.1,
                automorphism: Some(sum.rotation.0),
                add: [Some(&pair[..limbs * n]), None],
            })
            .collect();
        let (places, targets) = destinations(round);
        let rows = rows_of_targets((sums, &targets), total, (limbs, n));
        let rows = rows.into_iter().zip(lifted).enumerate();
        for_each(
            threads,
            &scratch.buffers,
            rows,
            |(j, (mut out, lifted)), own| {
                let per_prime = PerPrime {
                    level: self,
                    division: &self.special,
                    j,
                    sources: &sources,
                    requests: &requests,
                };
                let work = own.transforms.take(PerPrime::buffer_len(self, &[]));
                per_prime.run_to((work, lifted), &mut out, &places);
            },
        );
    }

    /// Rounds x/P, coefficients over Q·P to coefficients modulo the data primes from number `first` on.
    pub(super) fn round_special(
        &self,
        x: &[W],
        (first, out): (usize, &mut [W]),
        convert: &mut Scratch<W>,
    ) {
        let (n, l) = (self.q().n(), self.q().len());
        let kept = &x[first * n..][..out.len()];
        match self.down.as_ref() {
            Some(down) => down.scale_some_into(&x[l * n..], kept, (first, out), convert),
            None => out.copy_from_slice(kept),
        }
    }
}

/// Where the sums of a round are added: to row 0, the sum of all, or to rows of other sums, whose numbers are returned.
fn destinations<W: Word>(round: &[RotatedSum<'_, W>]) -> (Vec<Place>, Vec<usize>) {
    let mut targets: Vec<usize> = Vec::new();
    let mut row = |onto: usize| {
        let known = targets.iter().position(|target| *target == onto);
        known.unwrap_or_else(|| {
            targets.push(onto);
            targets.len() - 1
        })
    };
    let places = round.iter().map(|sum| Place {
        rows: sum.onto.map_or(0, |onto| 1 + row(onto)),
        onto: true,
    });
    (places.collect(), targets)
}

/// For each prime the rows of both components: those of `total`, then those of the targets among `sums`.
fn rows_of_targets<'a, W: Word>(
    (mut sums, targets): (Vec<Option<&'a mut [W]>>, &[usize]),
    total: &'a mut [W],
    (limbs, n): (usize, usize),
) -> Vec<Vec<[&'a mut [W]; 2]>> {
    let mut rows: Vec<Vec<[&mut [W]; 2]>> = total
        .chunks_exact_mut(2 * n)
        .map(|pair| vec![pair.split_at_mut(n).into()])
        .collect();
    for sum in targets.iter().filter_map(|target| sums[*target].take()) {
        let (first, second) = sum.split_at_mut(limbs * n);
        let pairs = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n));
        rows.iter_mut()
            .zip(pairs)
            .for_each(|(rows, (a, b))| rows.push([a, b]));
    }
    rows
}
