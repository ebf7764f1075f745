// SPDX-License-Identifier: Apache-2.0
//! One prime's share of a key switch.
//!
//! The transforms of the digits are done in two steps ([`ntt::Form`]): first the outer stages of all digits, lifted as they are
//! read; then, part by part, the other stages of every digit, the products with the keys' part and the division by P. A part of all
//! digits fits the second cache level, so results meet the keys where they were made, and the keys are asked for from memory
//! while the transforms go on.

use super::centred_lift::CentredLift;
use super::division::Division;
use super::inner_product::{Add, Divide, Finish, Permuted, Products, dot_pair};
use super::level::KeySwitchLevel;
use super::request::{Job, Source};
use super::row::{Piece, Row, form_for, outer, outer_len};
use crate::Threads;
use ntt::NttPlan;
use rns::Automorphism;
use std::ops::Range;
use zq::Word;

/// The work modulo one prime of Q·P.
pub(super) struct Modulo<'a, W: Word> {
    pub level: &'a KeySwitchLevel<W>,
    pub division: &'a Division<W>,
    /// Index of the prime.
    pub j: usize,
    pub sources: &'a [Source<'a, W>],
    pub jobs: &'a [Job<'a, W>],
}

/// The outer stages modulo one prime of the digits of several other primes: a row for each, source by source.
pub(super) type Lifted<'a, W> = Vec<&'a mut [W]>;

/// Where a job's sums go: the number of the two rows, and whether they are added to what these hold.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub rows: usize,
    pub onto: bool,
}

/// What is subtracted before the division: for each half of every job a polynomial in coefficient form.
pub(super) enum Corrections<'a, W: Word> {
    /// Nothing is divided.
    None,
    /// Residues of the only prime that is divided away.
    Dropped(&'a [W], CentredLift<W>),
    /// Residues of this prime after the outer stages.
    Outer(Lifted<'a, W>),
}

/// One job, and where its halves go.
struct Use<'a, W: Word> {
    index: usize,
    job: &'a Job<'a, W>,
    halves: [&'a mut [W]; 2],
}

/// One part of one job: where its halves go and what is subtracted from them.
struct Target<'a, W: Word> {
    job: &'a Job<'a, W>,
    /// Number of the part of the results; that of the digits differs under an automorphism.
    part: usize,
    halves: [&'a mut [W]; 2],
    corrections: Option<[Piece<'a, W>; 2]>,
    /// Whether the results are added to what the halves hold.
    onto: bool,
}

impl<'a, W: Word> Target<'a, W> {
    fn permuted(&self) -> Permuted<'a> {
        let sources = self.job.automorphism.map(Automorphism::eval_sources);
        Permuted::part(sources, self.part, self.halves[0].len())
    }
}

impl<'a, W: Word> Modulo<'a, W> {
    fn plan(&self) -> &'a NttPlan<W> {
        self.level.qp().plan(self.j)
    }

    /// Words of buffers that [`Modulo::run`] needs: one source's digits, two corrections for each of its jobs.
    pub fn buffer_len(level: &KeySwitchLevel<W>, jobs: &[Job<'_, W>]) -> usize {
        let of_source = |s: usize| jobs.iter().filter(|job| job.source == s).count();
        let most = jobs.iter().map(|job| of_source(job.source)).max();
        let rows = level.digit_count() + 2 * most.unwrap_or(0);
        rows * outer_len(level.qp())
    }

    /// `out[2·job + half]` = sum of products, divided if there are corrections, plus what the job adds.
    pub fn run(
        &self,
        mut corrections: Corrections<'_, W>,
        (buffers, lifted): (&mut [W], Lifted<'_, W>),
        out: Vec<&mut [W]>,
        threads: &Threads,
    ) {
        let digits = self.level.digit_count() * self.plan().outer_len();
        let (digits, fixes) = buffers.split_at_mut(digits);
        let (mut out, mut lifted) = (out.into_iter(), lifted.into_iter());
        let mut uses: Vec<_> = (self.jobs.iter().enumerate())
            .map_while(|(index, job)| {
                let halves = [out.next()?, out.next()?];
                Some(Use { index, job, halves })
            })
            .collect();
        for (s, source) in self.sources.iter().enumerate() {
            let uses: Vec<_> = uses.extract_if(.., |u| u.job.source == s).collect();
            let fixes = self.corrections(&mut corrections, &uses, fixes, threads);
            let rows = self.digits(source, (digits, &mut lifted), threads);
            self.parts(rows, uses, fixes, threads);
        }
    }

    /// The sums of products of every job, not divided, plus what it adds, to its place among the pairs of rows `out`: several
    /// jobs may share one.
    pub fn run_to(
        &self,
        (buffers, lifted): (&mut [W], Lifted<'_, W>),
        out: &mut [[&mut [W]; 2]],
        places: &[Place],
    ) {
        let (plan, parts) = (self.plan(), self.plan().parts());
        let len = plan.n() / parts;
        let digits = self.level.digit_count() * plan.outer_len();
        let mut lifted = lifted.into_iter();
        for (s, source) in self.sources.iter().enumerate() {
            let uses = self.jobs.iter().zip(places);
            let uses: Vec<_> = uses.filter(|(job, _)| job.source == s).collect();
            let rows = self.digits(source, (&mut buffers[..digits], &mut lifted), &Threads::ONE);
            let mut rows: Vec<_> = rows.into_iter().map(|row| row.pieces(plan)).collect();
            for from in 0..parts {
                let to = |job| (0..parts).find(|to| part_from(job, *to, len) == from);
                let next = uses.first().and_then(|(job, _)| Some((*job, to(job)?)));
                let digits = rows.iter_mut().filter_map(Iterator::next).collect();
                let (digits, bound) = self.finish(from, digits, next);
                let digits: Vec<&[W]> = digits.iter().map(Piece::words).collect();
                for (job, place) in &uses {
                    let Some(part) = to(job) else { continue };
                    let halves = out[place.rows].each_mut();
                    let target = Target {
                        job,
                        part,
                        halves: halves.map(|half| &mut half[part * len..][..len]),
                        corrections: None,
                        onto: place.onto,
                    };
                    self.target(from, (&digits, bound), target);
                }
            }
        }
    }

    /// The outer stages of one source's digits; those of several primes are at hand, in order, where they lack this prime.
    fn digits<'b, 'l: 'b>(
        &self,
        source: &Source<'b, W>,
        (buffers, lifted): (&'b mut [W], &mut impl Iterator<Item = &'l mut [W]>),
        threads: &Threads,
    ) -> Vec<Row<'b, W>>
    where
        'a: 'b,
    {
        let (plan, j, level) = (self.plan(), self.j, self.level);
        let n = plan.n();
        let mut rows: Vec<Option<Row<'b, W>>> = Vec::new();
        rows.resize_with(level.digit_count(), || None);
        let digits = level.digits.iter().zip(&mut rows);
        let work = digits.zip(buffers.chunks_exact_mut(plan.outer_len()));
        let work: Vec<_> = work
            .filter_map(|((digit, row), buffer)| {
                if digit.own.len() > 1 && !digit.own.contains(&j) {
                    *row = lifted
                        .next()
                        .map(|row| Row::Open(&mut row[..plan.outer_len()]));
                    return None;
                }
                Some((digit, row, buffer))
            })
            .collect();
        threads.for_each(work.into_iter(), |(digit, row, buffer)| {
            let coefficients = |i: usize| &source.coefficients[i * n..][..n];
            *row = Some(match (digit.own.contains(&j), source.values) {
                (true, Some(values)) => Row::Finished(&values[j * n..][..n]),
                (true, None) => outer(plan, coefficients(j), None, buffer),
                (false, _) => {
                    let start = digit.own.start;
                    let lift = CentredLift::new(level.q().modulus(start), plan.modulus());
                    outer(plan, coefficients(start), Some(&lift), buffer)
                }
            });
        });
        rows.into_iter().flatten().collect()
    }

    /// The outer stages of the corrections of these uses, two for each, or none.
    fn corrections<'b, 'c: 'b>(
        &self,
        corrections: &mut Corrections<'c, W>,
        uses: &[Use<'_, W>],
        buffers: &'b mut [W],
        threads: &Threads,
    ) -> Vec<Row<'b, W>> {
        let (plan, n) = (self.plan(), self.plan().n());
        let halves = uses.iter().flat_map(|u| [2 * u.index, 2 * u.index + 1]);
        match corrections {
            Corrections::None => Vec::new(),
            Corrections::Outer(rows) => halves
                .map(|k| Row::Open(&mut std::mem::take(&mut rows[k])[..plan.outer_len()]))
                .collect(),
            Corrections::Dropped(limbs, lift) => {
                let mut rows: Vec<Option<Row<'b, W>>> = Vec::new();
                rows.resize_with(2 * uses.len(), || None);
                let (limbs, lift): (&[W], &CentredLift<W>) = (limbs, lift);
                let buffers = buffers.chunks_exact_mut(plan.outer_len());
                let work = halves.zip(buffers).zip(&mut rows);
                threads.for_each(work, |((k, buffer), row)| {
                    *row = Some(outer(plan, &limbs[k * n..][..n], Some(lift), buffer));
                });
                rows.into_iter().flatten().collect()
            }
        }
    }

    /// Part by part: the other stages, the sums, the division.
    fn parts<'b>(
        &self,
        rows: Vec<Row<'b, W>>,
        uses: Vec<Use<'b, W>>,
        fixes: Vec<Row<'b, W>>,
        threads: &Threads,
    ) {
        let plan = self.plan();
        let (parts, len) = (plan.parts(), plan.n() / plan.parts());
        let mut rows: Vec<_> = rows.into_iter().map(|row| row.pieces(plan)).collect();
        let digits = (0..parts).map(|_| rows.iter_mut().filter_map(Iterator::next).collect());
        let mut targets: Vec<Vec<Target<'b, W>>> =
            (0..parts).map(|_| Vec::with_capacity(uses.len())).collect();
        let mut fixes = fixes.into_iter().map(|row| row.pieces(plan));
        for Use {
            job,
            halves: [first, second],
            ..
        } in uses
        {
            let mut fixes = fixes.next().zip(fixes.next());
            let halves = first
                .chunks_exact_mut(len)
                .zip(second.chunks_exact_mut(len));
            for (part, (a, b)) in halves.enumerate() {
                let corrections = fixes
                    .as_mut()
                    .and_then(|(a, b)| Some([a.next()?, b.next()?]));
                targets[part_from(job, part, len)].push(Target {
                    job,
                    part,
                    halves: [a, b],
                    corrections,
                    onto: false,
                });
            }
        }
        let work = digits.zip(targets).enumerate();
        threads.for_each(work, |(part, (digits, targets))| {
            self.part(part, digits, targets);
        });
    }

    fn part(&self, part: usize, digits: Vec<Piece<'_, W>>, targets: Vec<Target<'_, W>>) {
        let next = targets.first().map(|t| (t.job, t.part));
        let (digits, bound) = self.finish(part, digits, next);
        let digits: Vec<&[W]> = digits.iter().map(Piece::words).collect();
        for target in targets {
            self.target(part, (&digits, bound), target);
        }
    }

    /// The other stages of part `part` of the digits, while the keys for part and job `next` are asked for; the multiple of q
    /// that the results are below.
    fn finish<'b>(
        &self,
        part: usize,
        mut digits: Vec<Piece<'b, W>>,
        next: Option<(&Job<'_, W>, usize)>,
    ) -> (Vec<Piece<'b, W>>, u64) {
        let plan = self.plan();
        let (form, bound) = form_for(plan, digits.len());
        let len = plan.n() / plan.parts();
        let ahead =
            next.map(|(job, to)| [0, 1].map(|half| self.keys(job, half, to * len..(to + 1) * len)));
        for (d, digit) in digits.iter_mut().enumerate() {
            let ahead = (ahead.as_ref()).map_or([&[][..]; 2], |[a, b]| [a[d], b[d]]);
            digit.finish(plan, part, form, ahead);
        }
        (digits, bound)
    }

    /// The sums of one part of one job, divided, from part `from` of the digits.
    fn target(&self, from: usize, (digits, bound): (&[&[W]], u64), target: Target<'_, W>) {
        let plan = self.plan();
        let place =
            target.part * target.halves[0].len()..(target.part + 1) * target.halves[0].len();
        let keys = [0, 1].map(|half| self.keys(target.job, half, place.clone()));
        let products = Products {
            digits,
            bound,
            keys: [&keys[0], &keys[1]],
            permuted: target.permuted(),
        };
        let Target {
            job,
            part,
            halves,
            mut corrections,
            onto,
        } = target;
        let (form, bound) = form_for(plan, digits.len());
        for correction in corrections.iter_mut().flatten() {
            correction.finish(plan, part, form, [&[], &[]]);
        }
        let start = self.j * plan.n() + from * halves[0].len();
        let finish = [0, 1].map(|half| {
            // What is added may end with the data primes.
            let add = job.add[half].filter(|limbs| start < limbs.len());
            Finish {
                divide: corrections.as_ref().map(|corrections| Divide {
                    correction: corrections[half].words(),
                    bound: corrections[half].bound(bound),
                    factor: self.division.inverses[self.j],
                }),
                add: add.map(|limbs| Add {
                    words: &limbs[start..][..halves[0].len()],
                    factor: self.division.addend.get(self.j).copied().flatten(),
                }),
                onto,
            }
        });
        dot_pair(plan.modulus(), products, finish, halves);
    }

    /// A range of the limbs of all digits' keys modulo this prime.
    fn keys<'b>(&self, job: &Job<'b, W>, half: usize, range: Range<usize>) -> Vec<&'b [W]> {
        let l = self.level.q().len();
        let limb = if self.j < l {
            self.j
        } else {
            job.key.limbs() + self.j - l
        };
        let keys = job.key.parts()[..self.level.digit_count()].iter();
        keys.map(|key| &key[half].limb(limb)[range.clone()])
            .collect()
    }
}

/// The part of the source that part `to` of a job's results comes from: an automorphism maps parts to parts.
fn part_from<W: Word>(job: &Job<'_, W>, to: usize, len: usize) -> usize {
    job.automorphism
        .map_or(to, |a| a.eval_sources()[to * len] as usize / len)
}
