// SPDX-License-Identifier: Apache-2.0
//! Linear transforms: see [`crate::linear_transform`].
//!
//! Prime by prime, as key switches ([`super::modulo`]): first the inner rotations, their products with the factors and the
//! sums; then, sum by sum, the second part of those that are rotated divided by P, and its digits times the key.

use super::kernels::{Finish, Permuted, Products, dot_pair, most_terms};
use super::lift::CentredLift;
use super::modulo::{
    Lifted, Modulo, Place, outer_len, subtract_and_divide, subtract_outer_and_divide,
};
use super::{Buffers, Job, Source, SwitchScratch, for_each};
use crate::keyswitch::KeySwitchLevel;
use crate::linear_transform::{GiantStep, Rotation, TransformSource};
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
        let lifted = scratch.lifted.take(self.lifted_len(1));
        let lifted = self.lift_wide_digits(&own, lifted, threads, &scratch.buffers);
        let mut sums: Vec<_> = sums
            .chunks_exact_mut(self.qp().len() * n)
            .map(|sum| sum.chunks_exact_mut(n))
            .collect();
        let rows = total.chunks_exact_mut(2 * n).zip(lifted).enumerate();
        let rows = rows.map(|(j, (total, lifted))| {
            let mut halves = sums.iter_mut().filter_map(Iterator::next);
            let count = steps.rotations().len();
            let rotated = (0..count).filter_map(|_| Some([halves.next()?, halves.next()?]));
            // The sum of those that are not rotated stands last.
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
        let lifted = scratch.lifted.take(self.lifted_len(sources.len()));
        let lifted = self.lift_wide_digits(&sources, lifted, threads, &scratch.buffers);
        let pairs = sums.chunks_exact(2 * limbs * n).zip(rotations).enumerate();
        let jobs: Vec<_> = pairs
            .map(|(source, (pair, (auto, key)))| Job {
                source,
                key,
                automorphism: Some(auto),
                add: [Some(&pair[..limbs * n]), None],
            })
            .collect();
        let places = vec![
            Place {
                rows: 0,
                onto: true
            };
            jobs.len()
        ];
        let rows = total.chunks_exact_mut(2 * n).zip(lifted).enumerate();
        for_each(
            threads,
            &scratch.buffers,
            rows,
            |(j, (total, lifted)), own| {
                let modulo = Modulo {
                    level: self,
                    division: &self.special,
                    j,
                    sources: &sources,
                    jobs: &jobs,
                };
                let work = own.transforms.take(Modulo::buffer_len(self, &[]));
                modulo.run_to((work, lifted), &mut [total.split_at_mut(n).into()], &places);
            },
        );
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
                for (half, out) in [a, b].into_iter().enumerate() {
                    out.copy_from_slice(&kept[(2 * j + half) * n..][..n]);
                    let Some(factor) = factor.filter(|_| count > 0) else {
                        continue;
                    };
                    if let Some(fix) = fixes.next() {
                        subtract_outer_and_divide(plan, fix, *factor, out);
                        continue;
                    }
                    let lift = CentredLift::new(self.qp().modulus(l), plan.modulus());
                    let buffer = own.transforms.take(outer_len(self.qp()));
                    let x = &dropped[half * n..][..n];
                    subtract_and_divide(plan, (x, &lift), *factor, buffer, out);
                }
            },
        );
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

impl<W: Word> Inner<'_, W> {
    /// The sums of all giant steps to their rows of `out`, the last of which holds zeros.
    fn run<'b>(
        &self,
        mut out: Vec<[&'b mut [W]; 2]>,
        lifted: Lifted<'_, W>,
        buffers: &'b mut Buffers<W>,
    ) {
        let n = self.level.q().n();
        let (babies, last) = (&self.steps.babies, out.len() - 1);
        // Rows of the rotations follow those of the sums, then the ciphertext itself.
        let values = buffers.rotations.take(2 * (babies.len() + 1) * n);
        let own = last + 1 + babies.len();
        out.extend(
            values
                .chunks_exact_mut(2 * n)
                .map(|pair| pair.split_at_mut(n).into()),
        );
        let row_of = |number: &Option<usize>| number.unwrap_or(last);
        let (mut jobs, mut places) = (Vec::new(), Vec::new());
        let baby = |place: usize| Place {
            rows: last + 1 + place,
            onto: false,
        };
        for (i, rotation) in babies.iter().enumerate() {
            jobs.push(self.job(*rotation));
            places.push(baby(i));
        }
        for (giant, number) in self.steps.giants.iter().zip(&self.steps.rotated) {
            let rows = row_of(number);
            let plain = || giant.terms.iter().filter(|term| term.factor.is_none());
            if number.is_some() && plain().next().is_some() {
                out[rows].iter_mut().for_each(|row| row.fill(W::ZERO));
            }
            for term in plain() {
                match term.rotation {
                    Some(rotation) => {
                        jobs.push(self.job(rotation));
                        places.push(Place { rows, onto: true });
                    }
                    None => self.add_source(&mut out[rows]),
                }
            }
        }
        out[own].iter_mut().for_each(|row| row.fill(W::ZERO));
        self.add_source(&mut out[own]);
        let sources = [Source {
            coefficients: self.source.coefficients,
            values: Some(self.source.values[1]),
        }];
        let modulo = Modulo {
            level: self.level,
            division: &self.level.undivided,
            j: self.j,
            sources: &sources,
            jobs: &jobs,
        };
        if !jobs.is_empty() {
            let work = buffers.transforms.take(Modulo::buffer_len(self.level, &[]));
            modulo.run_to((work, lifted), &mut out, &places);
        }
        let (sums, values) = out.split_at_mut(last + 1);
        let values: Vec<[&[W]; 2]> = values.iter().map(|pair| [&*pair[0], &*pair[1]]).collect();
        let tile = (TILE_WORDS / (2 * values.len())).next_power_of_two();
        let tile = tile.clamp(MIN_TILE.min(n), n);
        for start in (0..n).step_by(tile) {
            for (giant, number) in self.steps.giants.iter().zip(&self.steps.rotated) {
                let range = start..start + tile;
                let rows = sums[row_of(number)].each_mut();
                let rows = rows.map(|row| &mut row[range.clone()]);
                self.add_products(giant, &values, range, rows);
            }
        }
    }

    fn job<'b>(&'b self, (auto, key): Rotation<'b, W>) -> Job<'b, W> {
        Job {
            source: 0,
            key,
            automorphism: Some(auto),
            add: [Some(self.source.values[0]), None],
        }
    }

    /// Adds P times the ciphertext, which is 0 modulo the special primes.
    fn add_source(&self, rows: &mut [&mut [W]; 2]) {
        let (n, m) = (self.level.q().n(), self.level.qp().modulus(self.j));
        let Some(factor) = self.level.undivided.addend.get(self.j) else {
            return;
        };
        for (row, values) in rows.iter_mut().zip(self.source.values) {
            let x = &values[self.j * n..][..n];
            match factor {
                Some(factor) => m.shoup_mul_add_assign(row, x, *factor),
                None => m.add_assign(row, x),
            }
        }
    }

    /// Adds the products of one tile of a sum to both rows. The rows of a sum that is rotated hold something only if it has
    /// terms without factors.
    fn add_products(
        &self,
        giant: &GiantStep<'_, W>,
        values: &[[&[W]; 2]],
        tile: Range<usize>,
        [first, second]: [&mut [W]; 2],
    ) {
        let m = self.level.qp().modulus(self.j);
        let special = self.j >= self.level.q().len();
        let with_factor = giant.terms.iter().filter_map(|term| {
            let at = match term.rotation {
                Some(rotation) => index_of(&self.steps.babies, rotation)?,
                None if special => return None,
                None => values.len() - 1,
            };
            let [a, b] = values[at].map(|row| &row[tile.clone()]);
            Some((&term.factor?.limb(self.j)[tile.clone()], a, b))
        });
        let rows: Vec<_> = with_factor.collect();
        let mut onto = giant.rotation.is_none() || giant.terms.iter().any(|t| t.factor.is_none());
        if rows.is_empty() && !onto {
            first.fill(W::ZERO);
            second.fill(W::ZERO);
        }
        for rows in rows.chunks(most_terms(m)) {
            let factors: Vec<&[W]> = rows.iter().map(|row| row.0).collect();
            let firsts: Vec<&[W]> = rows.iter().map(|row| row.1).collect();
            let seconds: Vec<&[W]> = rows.iter().map(|row| row.2).collect();
            let products = Products {
                digits: &factors,
                bound: 1,
                keys: [&firsts, &seconds],
                permuted: Permuted::default(),
            };
            let finish = Finish {
                divide: None,
                add: None,
                onto,
            };
            dot_pair(m, products, [finish; 2], [&mut *first, &mut *second]);
            onto = true;
        }
    }
}
