// SPDX-License-Identifier: Apache-2.0
//! Key switching for several ciphertexts and keys at once, in evaluation form (CKKS), or from coefficients to coefficients (BFV).
//!
//! The loop runs over the target primes, not over the digits ([`modulo`]): modulo one prime all digits are lifted and transformed,
//! and the products with the keys' limbs of that prime are summed in double words with one reduction at the end. The special
//! primes come first, so that the sums modulo the others can be divided where they are made.
//! Rotations share the digits of their source (hoisting, ePrint 2018/244): the digits commute with `x -> x^g`, which
//! permutes evaluation points, so the permutation is folded into the loads of the inner product.
//!
//! Residues equal those of [`HoistedDigits`](crate::HoistedDigits) and [`key_switch`](crate::key_switch).

mod coefficients;
mod kernels;
mod lift;
mod modulo;
mod transform;
#[cfg(target_arch = "x86_64")]
mod vectors;

use crate::division::Division;
use crate::keys::KeySwitchKey;
use crate::keyswitch::KeySwitchLevel;
use crate::{Error, Pool, Threads};
use lift::CentredLift;
use modulo::{Corrections, Lifted, Modulo, outer_len, subtract_and_divide};
use rns::{Automorphism, BaseConverter, Eval, RnsBasis, RnsPoly, Scratch};
use zq::{AlignedVec, Shoup, Word};

/// A polynomial to decompose, over the level's data primes.
#[derive(Clone, Copy)]
pub struct Source<'a, W: Word> {
    /// Its coefficients, limb-major.
    pub coefficients: &'a [W],
    /// Its evaluation form, if at hand: saves transforms.
    pub values: Option<&'a [W]>,
}

/// One use of a source: `(k0 + σ(add_0), k1 + σ(add_1))` with `k0 + k1·s ≈ σ(c)·s'`.
#[derive(Clone, Copy)]
pub struct Job<'a, W: Word> {
    /// Index of the source c.
    pub source: usize,
    /// The key from s' to s.
    pub key: &'a KeySwitchKey<W>,
    /// σ, applied to the source before it is switched; `None` for the identity.
    pub automorphism: Option<&'a Automorphism>,
    /// Limbs over the data primes in evaluation form, added at the end after σ.
    pub add: [Option<&'a [W]>; 2],
}

/// Work space of one key switch; reused, nothing but the results is allocated after the first of a size.
#[derive(Default)]
pub(crate) struct SwitchScratch<W: Word> {
    /// Digits of several primes, lifted to all primes but their own, after the outer stages of their transforms.
    lifted: Scratch<W>,
    /// The sums modulo the primes that are divided away, both halves of every job.
    dropped: Scratch<W>,
    /// Their centred representatives modulo the kept primes, where several are divided away.
    corrections: Scratch<W>,
    /// The sums of a linear transform that are rotated, and the coefficients of their second parts.
    sums: Scratch<W>,
    coefficients: Scratch<W>,
    /// The sum of all of them.
    total: Scratch<W>,
    /// One for each thread at work.
    buffers: Pool<Buffers<W>>,
}

/// What one thread needs.
#[derive(Default)]
struct Buffers<W: Word> {
    transforms: Scratch<W>,
    convert: Scratch<W>,
    /// Limbs that are converted together.
    together: Scratch<W>,
    /// Rotations of a ciphertext modulo one prime.
    rotations: Scratch<W>,
}

/// Runs `f` on every item with buffers of its own.
fn for_each<W: Word, T: Send>(
    threads: &Threads,
    pool: &Pool<Buffers<W>>,
    items: impl Iterator<Item = T>,
    f: impl Fn(T, &mut Buffers<W>) + Send + Sync,
) {
    threads.for_each(items, |item| pool.lend(|buffers| f(item, buffers)));
}

impl<W: Word> KeySwitchLevel<W> {
    /// Runs all jobs; results are over this level's data basis, in the order of the jobs. The primes are
    /// shared among the threads; the residues do not depend on their number.
    ///
    /// # Errors
    /// [`Error::Shape`] when a source has another length, a key is for a lower level, or a job names no source.
    pub fn switch_eval(
        &self,
        sources: &[Source<'_, W>],
        jobs: &[Job<'_, W>],
        threads: &Threads,
    ) -> Result<Vec<[RnsPoly<W, Eval>; 2]>, Error> {
        self.switch_and_divide(&self.special, self.q(), sources, jobs, threads)
    }

    /// As [`KeySwitchLevel::switch_eval`] with one division by P and the last data prime together, P·add being added before it:
    /// results are over the data basis without that prime, and smaller by it.
    ///
    /// # Errors
    /// As [`KeySwitchLevel::switch_eval`], and [`Error::Shape`] when there is one data prime only.
    pub fn switch_eval_rescaled(
        &self,
        sources: &[Source<'_, W>],
        jobs: &[Job<'_, W>],
        threads: &Threads,
    ) -> Result<Vec<[RnsPoly<W, Eval>; 2]>, Error> {
        let division = self.rescale.as_ref().ok_or(Error::Shape {
            what: "data primes of a rescale",
            got: self.q().len(),
            expected: 2,
        })?;
        let kept = self.q().prefix(division.kept)?;
        self.switch_and_divide(division, &kept, sources, jobs, threads)
    }

    fn switch_and_divide(
        &self,
        division: &Division<W>,
        kept: &RnsBasis<W>,
        sources: &[Source<'_, W>],
        jobs: &[Job<'_, W>],
        threads: &Threads,
    ) -> Result<Vec<[RnsPoly<W, Eval>; 2]>, Error> {
        self.check(sources, jobs)?;
        let parts = self
            .scratch
            .lend(|scratch| self.switch_eval_with(division, sources, jobs, threads, scratch));
        let mut parts = parts.into_iter().map(|data| RnsPoly::from_data(kept, data));
        let pairs = jobs
            .iter()
            .filter_map(|_| Some([parts.next()?, parts.next()?]));
        Ok(pairs.collect())
    }

    /// The halves of all jobs, limbs of the primes that the division keeps.
    fn switch_eval_with(
        &self,
        division: &Division<W>,
        sources: &[Source<'_, W>],
        jobs: &[Job<'_, W>],
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) -> Vec<AlignedVec<W>> {
        let (n, kept, halves) = (self.q().n(), division.kept, 2 * jobs.len());
        let dropped = self.qp().len() - kept;
        let SwitchScratch {
            lifted,
            dropped: sums,
            corrections,
            buffers,
            ..
        } = scratch;
        let lifted = lifted.take(self.lifted_len(sources.len()));
        let mut lifted = self.lift_wide_digits(sources, lifted, threads, buffers);
        let modulo = |j| Modulo {
            level: self,
            division,
            j,
            sources,
            jobs,
        };
        let transforms = Modulo::buffer_len(self, jobs);
        let sums = sums.take(dropped * halves * n);
        for (i, sums) in sums.chunks_exact_mut((halves * n).max(1)).enumerate() {
            buffers.lend(|own| {
                let rows = sums.chunks_exact_mut(n).collect();
                let work = own.transforms.take(transforms);
                let lifted = std::mem::take(&mut lifted[kept + i]);
                modulo(kept + i).run(Corrections::None, (work, lifted), rows, threads);
            });
        }
        let limbs = sums.chunks_exact_mut(n).enumerate();
        threads.for_each(limbs, |(i, limb)| {
            self.qp().plan(kept + i / halves).inverse(limb);
        });
        let corrections = corrections.take(self.corrections_len(division, halves));
        let corrections = self.correct_outer(division, sums, corrections, threads, buffers);
        let mut out: Vec<AlignedVec<W>> = (0..halves)
            .map(|_| AlignedVec::for_overwrite(kept * n))
            .collect();
        let mut limbs: Vec<_> = out
            .iter_mut()
            .map(|part| part.chunks_exact_mut(n))
            .collect();
        let rows = lifted
            .into_iter()
            .zip(corrections)
            .take(kept)
            .enumerate()
            .map(|(j, lifted)| {
                (
                    j,
                    lifted,
                    limbs.iter_mut().filter_map(Iterator::next).collect(),
                )
            });
        let rows: Vec<_> = rows.collect();
        for_each(
            threads,
            buffers,
            rows.into_iter(),
            |(j, (lifted, fixes), rows), own| {
                let fix = match dropped {
                    0 => Corrections::None,
                    1 => Corrections::Dropped(
                        sums,
                        CentredLift::new(self.qp().modulus(kept), self.q().modulus(j)),
                    ),
                    _ => Corrections::Outer(fixes),
                };
                let work = own.transforms.take(transforms);
                modulo(j).run(fix, (work, lifted), rows, &Threads::ONE);
            },
        );
        out
    }

    fn check(&self, sources: &[Source<'_, W>], jobs: &[Job<'_, W>]) -> Result<(), Error> {
        let expected = self.q().len() * self.q().n();
        let shape = |what, got| {
            if got == expected {
                Ok(())
            } else {
                Err(Error::Shape {
                    what,
                    got,
                    expected,
                })
            }
        };
        for source in sources {
            shape("words of a source", source.coefficients.len())?;
            source
                .values
                .map_or(Ok(()), |v| shape("words of a source's values", v.len()))?;
        }
        for job in jobs {
            if job.source >= sources.len() {
                let (got, expected) = (job.source, sources.len());
                return Err(Error::Shape {
                    what: "source of a job",
                    got,
                    expected,
                });
            }
            job.key.check_covers(self.q().len(), self.digit_count())?;
            job.add
                .iter()
                .flatten()
                .try_for_each(|add| shape("words to add", add.len()))?;
        }
        Ok(())
    }

    /// Words that the digits of more than one prime of so many sources take.
    fn lifted_len(&self, sources: usize) -> usize {
        let wide = self.digits.iter().filter(|d| d.own.len() > 1);
        let rows: usize = wide.map(|d| self.qp().len() - d.own.len()).sum();
        sources * rows * outer_len(self.qp())
    }

    /// Lifts every digit of more than one prime to the primes it lacks and does the outer stages of their transforms, a block of
    /// coefficients after another, so that lifts never leave the nearest cache. The rows for each prime, in order.
    fn lift_wide_digits<'a>(
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
        for_each(
            threads,
            buffers,
            tasks.iter_mut(),
            |(words, converter, rows), own| {
                self.lift_outer(words, converter, rows, own);
            },
        );
        let mut by_prime: Vec<Lifted<'a, W>> = Vec::new();
        by_prime.resize_with(self.qp().len(), Vec::new);
        for (j, row) in tasks.into_iter().flat_map(|(.., rows)| rows) {
            by_prime[j].push(row);
        }
        by_prime
    }

    /// One digit's lifts, and the outer stages of their transforms to `rows`, which are modulo the primes of these numbers.
    fn lift_outer(
        &self,
        words: &[W],
        converter: &BaseConverter<W>,
        rows: &mut [(usize, &mut [W])],
        own: &mut Buffers<W>,
    ) {
        let n = self.q().n();
        let parts = |j: usize| self.qp().plan(j).parts();
        // Most often all transforms have as many parts.
        let mut counts: Vec<usize> = rows.iter().map(|(j, _)| parts(*j)).collect();
        counts.sort_unstable();
        counts.dedup();
        for count in counts {
            let columns = (BaseConverter::<W>::BLOCK / count).min(n / count);
            let lift = own.transforms.take(count * columns);
            for start in (0..n / count).step_by(columns) {
                let block = converter.block(words, (count, columns), start, &mut own.convert);
                for (i, (j, row)) in rows.iter_mut().enumerate() {
                    let plan = self.qp().plan(*j);
                    if plan.parts() == count {
                        block.output(i, lift);
                        plan.forward_outer_columns(lift, start, &mut row[..plan.outer_len()]);
                    }
                }
            }
        }
    }

    /// Words of [`KeySwitchLevel::correct_outer`].
    fn corrections_len(&self, division: &Division<W>, halves: usize) -> usize {
        division.corrections() * halves * outer_len(self.qp())
    }

    /// The centred representatives of the sums modulo the dropped primes, if there are several, modulo each kept prime, after the
    /// outer stages of their transforms: for each prime a row for each half.
    fn correct_outer<'a>(
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
        let halves = sums.len() / (n * count);
        let mut free = corrections.chunks_exact_mut(outer_len(self.qp()));
        let rows = (0..halves).map(|_| (0..kept).zip(free.by_ref()).collect());
        let mut rows: Vec<Vec<(usize, &'a mut [W])>> = rows.collect();
        for_each(
            threads,
            buffers,
            rows.iter_mut().enumerate(),
            |(k, rows), own| {
                let mut together = std::mem::take(&mut own.together);
                let words = together.take(count * n);
                for (i, out) in words.chunks_exact_mut(n).enumerate() {
                    out.copy_from_slice(&sums[(i * halves + k) * n..][..n]);
                }
                self.lift_outer(words, converter, rows, own);
                own.together = together;
            },
        );
        for (j, row) in rows.into_iter().flatten() {
            by_prime[j].push(row);
        }
        by_prime
    }

    /// The centred representatives of the sums modulo the dropped primes, coefficient form, modulo each kept prime, if there
    /// are several.
    fn correct(
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
        let halves = sums.len() / (n * count);
        let rows = corrections.chunks_exact_mut(division.kept * n).enumerate();
        for_each(threads, buffers, rows, |(k, fix), buffers| {
            let Buffers {
                together, convert, ..
            } = buffers;
            let together = together.take(count * n);
            for (i, out) in together.chunks_exact_mut(n).enumerate() {
                out.copy_from_slice(&sums[(i * halves + k) * n..][..n]);
            }
            converter.convert_into(together, fix, convert);
        });
    }
}

/// `round(x / q)` for the last prime q of `x`, over the primes before it; `inverses` are those of q modulo each.
///
/// Equal to [`rns::ScaleRounder`] with numerator 1, with one pass over the kept limbs.
///
/// # Panics
/// If `kept` is not the basis of `x` without its last prime, or the inverses are not one for each prime.
pub fn divide_by_last<W: Word>(
    x: &RnsPoly<W, Eval>,
    kept: &RnsBasis<W>,
    inverses: &[Shoup<W>],
) -> RnsPoly<W, Eval> {
    let (n, l) = (kept.n(), kept.len());
    assert!(
        x.limb_count() == l + 1 && inverses.len() == l,
        "shapes of a division by the last prime"
    );
    let (mut dropped, mut buffer, mut out) = (
        AlignedVec::for_overwrite(n),
        AlignedVec::for_overwrite(outer_len(kept)),
        AlignedVec::for_overwrite(l * n),
    );
    x.basis().plan(l).inverse_from(x.limb(l), &mut dropped);
    for (j, (plan, out)) in kept.plans().iter().zip(out.chunks_exact_mut(n)).enumerate() {
        let lift = CentredLift::new(x.basis().modulus(l), plan.modulus());
        out.copy_from_slice(x.limb(j));
        subtract_and_divide(plan, (&dropped, &lift), inverses[j], &mut buffer, out);
    }
    RnsPoly::from_data(kept, out)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod transform_tests;
