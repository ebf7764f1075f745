// SPDX-License-Identifier: Apache-2.0
//! Linear transforms: see [`crate::linear_transform`].
//!
//! Prime by prime, as key switches ([`super::modulo`]): first the inner rotations, their products with the factors and the
//! sums; then, sum by sum, the second part of those that are rotated divided by P, and its digits times the key.

use super::kernels::{Finish, Permuted, Products, dot_pair, most_terms};
use super::lift::CentredLift;
use super::modulo::{Modulo, outer_len, subtract_and_divide};
use super::{Buffers, Job, Source, SwitchScratch, for_each};
use crate::keyswitch::KeySwitchLevel;
use crate::linear_transform::{BabyStep, GiantStep, Rotation, TransformSource};
use crate::{Error, Threads};
use rns::{Coeff, Eval, RnsPoly, Scratch};
use std::ops::Range;
use zq::{AlignedVec, Word};

/// Words of rotations that are summed a tile at a time: they stay in the second cache level while factors pass.
const TILE_WORDS: usize = 1 << 15;

/// Shortest tile: whole blocks of every kernel.
const MIN_TILE: usize = 64;

/// The steps of a transform in the order of the work.
struct Steps<'a, W: Word> {
    /// Inner rotations of terms with factors, each once.
    babies: Vec<Rotation<'a, W>>,
    giants: &'a [GiantStep<'a, W>],
    /// For each giant step the number of its sum among those that are rotated.
    rotated: Vec<Option<usize>>,
}

impl<'a, W: Word> Steps<'a, W> {
    fn new(giants: &'a [GiantStep<'a, W>]) -> Self {
        let mut babies: Vec<Rotation<'a, W>> = Vec::new();
        let terms = giants.iter().flat_map(|giant| &giant.terms);
        for rotation in terms
            .filter(|t| t.factor.is_some())
            .filter_map(|t| t.rotation)
        {
            if index_of(&babies, rotation).is_none() {
                babies.push(rotation);
            }
        }
        let numbers = giants.iter().scan(0, |count, giant| {
            let number = giant.rotation.map(|_| *count);
            *count += usize::from(giant.rotation.is_some());
            Some(number)
        });
        Self {
            babies,
            giants,
            rotated: numbers.collect(),
        }
    }

    /// Rotations of sums, in order.
    fn rotations(&self) -> Vec<Rotation<'a, W>> {
        self.giants.iter().filter_map(|g| g.rotation).collect()
    }
}

fn index_of<W: Word>(babies: &[Rotation<'_, W>], (auto, key): Rotation<'_, W>) -> Option<usize> {
    let same = |known: &Rotation<'_, W>| known.0.g() == auto.g() && std::ptr::eq(known.1, key);
    babies.iter().position(same)
}

/// The work modulo one prime.
struct Inner<'a, W: Word> {
    level: &'a KeySwitchLevel<W>,
    j: usize,
    source: TransformSource<'a, W>,
    steps: &'a Steps<'a, W>,
    /// See [`Modulo::lifted`].
    lifted: &'a [W],
}

/// Where sums go: two rows for those that are rotated, by number, and two for all others.
struct Outputs<'a, W> {
    rotated: Vec<[&'a mut [W]; 2]>,
    total: [&'a mut [W]; 2],
}

impl<W: Word> KeySwitchLevel<W> {
    /// A linear transform of a ciphertext in evaluation form.
    ///
    /// # Errors
    /// [`Error::Shape`] when a part, a factor or a key is not of this level.
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

    /// The sums over Q·P, limb by limb both halves, handed to `divide`.
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
        for giant in giants {
            giant.check(self.q().len(), self.digit_count(), limbs * n)?;
        }
        let steps = Steps::new(giants);
        Ok(self.scratch.lend(|scratch| {
            let mut total = std::mem::take(&mut scratch.total);
            let mut sums = std::mem::take(&mut scratch.sums);
            let out = {
                let total = total.take(2 * limbs * n);
                total.fill(W::ZERO);
                let sums = sums.take(steps.rotations().len() * 2 * limbs * n);
                self.inner_sums(source, &steps, (sums, total), threads, scratch);
                self.rotate_sums(&steps.rotations(), (sums, total), threads, scratch);
                divide(total, scratch)
            };
            (scratch.total, scratch.sums) = (total, sums);
            out
        }))
    }

    /// The sums of products: those that will be rotated to `sums`, first halves before second ones, the others onto `total`.
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
        let lifted = scratch.lifted.take(self.lifted_len() * n);
        self.lift_wide_digits(&own, lifted, threads, &scratch.buffers);
        let mut sums: Vec<_> = sums
            .chunks_exact_mut(self.qp().len() * n)
            .map(|sum| sum.chunks_exact_mut(n))
            .collect();
        let rows = total.chunks_exact_mut(2 * n).enumerate().map(|(j, total)| {
            let mut halves = sums.iter_mut().filter_map(Iterator::next);
            let count = steps.rotations().len();
            let rotated = (0..count).filter_map(|_| Some([halves.next()?, halves.next()?]));
            let rotated = rotated.collect();
            let total = total.split_at_mut(n).into();
            (j, Outputs { rotated, total })
        });
        let rows: Vec<_> = rows.collect();
        for_each(
            threads,
            &scratch.buffers,
            rows.into_iter(),
            |(j, out), buffers| {
                let inner = Inner {
                    level: self,
                    j,
                    source,
                    steps,
                    lifted,
                };
                inner.run(out, buffers);
            },
        );
    }

    /// Adds the rotated `sums` to `total`, both over Q·P.
    fn rotate_sums(
        &self,
        rotations: &[Rotation<'_, W>],
        (sums, total): (&mut [W], &mut [W]),
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) {
        let (n, l, limbs) = (self.q().n(), self.q().len(), self.qp().len());
        let seconds = sums.chunks_exact_mut(limbs * n).skip(1).step_by(2);
        let rows = seconds.flat_map(|sum| sum.chunks_exact_mut(n).enumerate());
        threads.for_each(rows, |(j, row)| self.qp().plan(j).inverse(row));
        let coefficients = scratch.coefficients.take(rotations.len() * l * n);
        let pairs = sums.chunks_exact(2 * limbs * n);
        let work = pairs.zip(coefficients.chunks_exact_mut(l * n));
        for_each(threads, &scratch.buffers, work, |(pair, out), buffers| {
            self.round_special(&pair[limbs * n..], out, &mut buffers.convert);
        });
        let sources: Vec<_> = coefficients
            .chunks_exact(l * n)
            .map(|coefficients| Source {
                coefficients,
                values: None,
            })
            .collect();
        let lifted = scratch.lifted.take(sources.len() * self.lifted_len() * n);
        self.lift_wide_digits(&sources, lifted, threads, &scratch.buffers);
        let pairs = sums.chunks_exact(2 * limbs * n).zip(rotations).enumerate();
        let jobs: Vec<_> = pairs
            .map(|(source, (pair, (auto, key)))| Job {
                source,
                key,
                automorphism: Some(auto),
                add: [Some(&pair[..limbs * n]), None],
            })
            .collect();
        let rows = total.chunks_exact_mut(2 * n).enumerate();
        for_each(threads, &scratch.buffers, rows, |(j, total), own| {
            let modulo = Modulo {
                level: self,
                division: &self.special,
                j,
                sources: &sources,
                jobs: &jobs,
                lifted,
            };
            let work = own.transforms.take(Modulo::buffer_len(self, &[]));
            modulo.run_onto(work, total.split_at_mut(n).into());
        });
    }

    /// Rounds x/P, coefficients over Q·P to coefficients over Q.
    fn round_special(&self, x: &[W], out: &mut [W], convert: &mut Scratch<W>) {
        let (kept, special) = x.split_at(out.len());
        match self.down() {
            Some(down) => down.scale_into(special, kept, out, convert),
            None => out.copy_from_slice(kept),
        }
    }

    /// Both halves of `total` divided by P, in evaluation form.
    fn divide_eval(
        &self,
        total: &mut [W],
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) -> [AlignedVec<W>; 2] {
        let (n, l) = (self.q().n(), self.q().len());
        let (kept, dropped) = total.split_at_mut(2 * l * n);
        let rows = dropped.chunks_exact_mut(n).enumerate();
        threads.for_each(rows, |(i, row)| self.qp().plan(l + i / 2).inverse(row));
        let corrections = scratch.corrections.take(self.special.corrections() * 2 * n);
        self.correct(
            &self.special,
            dropped,
            corrections,
            threads,
            &scratch.buffers,
        );
        let mut out = [0, 1].map(|_| AlignedVec::for_overwrite(l * n));
        let rows = out.iter_mut().enumerate().flat_map(|(half, out)| {
            out.chunks_exact_mut(n)
                .enumerate()
                .map(move |(j, row)| (half, j, row))
        });
        for_each(threads, &scratch.buffers, rows, |(half, j, out), own| {
            out.copy_from_slice(&kept[(2 * j + half) * n..][..n]);
            let plan = self.qp().plan(j);
            let buffer = own.transforms.take(outer_len(self.qp()));
            let factor = self.special.inverses[j];
            match dropped.len() / (2 * n) {
                0 => {}
                1 => {
                    let lift = CentredLift::new(self.qp().modulus(l), plan.modulus());
                    let x = &dropped[half * n..][..n];
                    subtract_and_divide(plan, (x, Some(&lift)), factor, buffer, out);
                }
                _ => {
                    let x = &corrections[(half * l + j) * n..][..n];
                    subtract_and_divide(plan, (x, None), factor, buffer, out);
                }
            }
        });
        out
    }

    /// Both halves of `total` divided by P, in coefficient form.
    fn divide_coeff(
        &self,
        total: &mut [W],
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) -> [AlignedVec<W>; 2] {
        let (n, l, limbs) = (self.q().n(), self.q().len(), self.qp().len());
        let rows = total.chunks_exact_mut(n).enumerate();
        threads.for_each(rows, |(i, row)| self.qp().plan(i / 2).inverse(row));
        let together = scratch.sums.take(2 * limbs * n);
        for (half, x) in together.chunks_exact_mut(limbs * n).enumerate() {
            for (j, row) in x.chunks_exact_mut(n).enumerate() {
                row.copy_from_slice(&total[(2 * j + half) * n..][..n]);
            }
        }
        let mut out = [0, 1].map(|_| AlignedVec::for_overwrite(l * n));
        let halves = together.chunks_exact(limbs * n).zip(&mut out);
        for_each(threads, &scratch.buffers, halves, |(x, out), own| {
            self.round_special(x, out, &mut own.convert);
        });
        out
    }
}

impl<'a, W: Word> Inner<'a, W> {
    fn run(&self, mut out: Outputs<'_, W>, buffers: &mut Buffers<W>) {
        let n = self.level.q().n();
        for (giant, number) in self.steps.giants.iter().zip(&self.steps.rotated) {
            let rows = match number {
                Some(number) => {
                    let rows = &mut out.rotated[*number];
                    rows.iter_mut().for_each(|row| row.fill(W::ZERO));
                    rows
                }
                None => &mut out.total,
            };
            self.add_rotations(giant, rows, buffers);
        }
        let babies = &self.steps.babies;
        let values = buffers.rotations.take(2 * (babies.len() + 1) * n);
        self.rotate(values, &mut buffers.transforms);
        let tile = (TILE_WORDS / (2 * (babies.len() + 1))).next_power_of_two();
        let tile = tile.clamp(MIN_TILE.min(n), n);
        for start in (0..n).step_by(tile) {
            for (giant, number) in self.steps.giants.iter().zip(&self.steps.rotated) {
                let rows = match number {
                    Some(number) => &mut out.rotated[*number],
                    None => &mut out.total,
                };
                let [a, b] = rows;
                let range = start..start + tile;
                let rows = [&mut a[range.clone()], &mut b[range.clone()]];
                self.add_products(&giant.terms, values, range, rows);
            }
        }
    }

    /// Adds the terms without factors, P times too large, to both rows.
    fn add_rotations(
        &self,
        giant: &GiantStep<'_, W>,
        rows: &mut [&mut [W]; 2],
        buffers: &mut Buffers<W>,
    ) {
        let plain = |term: &&BabyStep<'_, W>| term.factor.is_none();
        let terms: Vec<_> = giant.terms.iter().filter(plain).collect();
        for _ in terms.iter().filter(|term| term.rotation.is_none()) {
            self.add_source(rows);
        }
        let rotations: Vec<_> = terms.iter().filter_map(|term| term.rotation).collect();
        let [a, b] = rows;
        self.modulo(&self.jobs(&rotations), |modulo| {
            let work = buffers.transforms.take(Modulo::buffer_len(self.level, &[]));
            modulo.run_onto(work, [&mut **a, &mut **b]);
        });
    }

    /// Adds P times the ciphertext.
    fn add_source(&self, rows: &mut [&mut [W]; 2]) {
        let (n, m) = (self.level.q().n(), self.level.qp().modulus(self.j));
        if self.j >= self.level.q().len() {
            return;
        }
        for (row, values) in rows.iter_mut().zip(self.source.values) {
            let x = &values[self.j * n..][..n];
            match self.level.undivided.addend[self.j] {
                Some(factor) => m.shoup_mul_add_assign(row, x, factor),
                None => m.add_assign(row, x),
            }
        }
    }

    /// P times the rotations and, last, the ciphertext itself, two rows each.
    fn rotate(&self, values: &mut [W], transforms: &mut Scratch<W>) {
        let n = self.level.q().n();
        if self
            .steps
            .giants
            .iter()
            .flat_map(|g| &g.terms)
            .all(|t| t.factor.is_none())
        {
            return;
        }
        let mut rows: Vec<_> = values.chunks_exact_mut(n).collect();
        let own = rows.split_off(2 * self.steps.babies.len());
        if let Ok(mut own) = <[&mut [W]; 2]>::try_from(own) {
            own.iter_mut().for_each(|row| row.fill(W::ZERO));
            self.add_source(&mut own);
        }
        self.modulo(&self.jobs(&self.steps.babies), |modulo| {
            let work = transforms.take(Modulo::buffer_len(self.level, &[]));
            modulo.run(super::modulo::Corrections::None, work, rows, &Threads::ONE);
        });
    }

    fn jobs<'b>(&self, rotations: &[Rotation<'b, W>]) -> Vec<Job<'b, W>>
    where
        'a: 'b,
    {
        let job = |(auto, key): &Rotation<'b, W>| Job {
            source: 0,
            key,
            automorphism: Some(auto),
            add: [Some(self.source.values[0]), None],
        };
        rotations.iter().map(job).collect()
    }

    /// Hands the work of these jobs to `f`, if there are any.
    fn modulo(&self, jobs: &[Job<'_, W>], f: impl FnOnce(&Modulo<'_, W>)) {
        if jobs.is_empty() {
            return;
        }
        let sources = [Source {
            coefficients: self.source.coefficients,
            values: Some(self.source.values[1]),
        }];
        f(&Modulo {
            level: self.level,
            division: &self.level.undivided,
            j: self.j,
            sources: &sources,
            jobs,
            lifted: self.lifted,
        });
    }

    /// Adds the products of one tile to both rows.
    fn add_products(
        &self,
        terms: &[BabyStep<'_, W>],
        values: &[W],
        tile: Range<usize>,
        [first, second]: [&mut [W]; 2],
    ) {
        let (n, m) = (self.level.q().n(), self.level.qp().modulus(self.j));
        let last = self.steps.babies.len();
        let special = self.j >= self.level.q().len();
        let with_factor = terms.iter().filter_map(|term| {
            let at = match term.rotation {
                Some(rotation) => index_of(&self.steps.babies, rotation)?,
                // P times the ciphertext is 0 modulo the special primes.
                None if special => return None,
                None => last,
            };
            let row = |half: usize| &values[(2 * at + half) * n..][tile.clone()];
            Some((&term.factor?.limb(self.j)[tile.clone()], row(0), row(1)))
        });
        let rows: Vec<_> = with_factor.collect();
        for rows in rows.chunks(most_terms(m)) {
            let factors: Vec<&[W]> = rows.iter().map(|row| row.0).collect();
            let [a, b]: [Vec<&[W]>; 2] = [
                rows.iter().map(|r| r.1).collect(),
                rows.iter().map(|r| r.2).collect(),
            ];
            let products = Products {
                digits: &factors,
                bound: 1,
                keys: [&a, &b],
                permuted: Permuted::default(),
            };
            let finish = Finish {
                divide: None,
                add: None,
                onto: true,
            };
            dot_pair(m, products, [finish; 2], [&mut *first, &mut *second]);
        }
    }
}
