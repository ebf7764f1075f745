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
#[cfg(target_arch = "x86_64")]
mod ifma;
mod kernels;
mod lift;
mod modulo;
mod transform;

use crate::division::Division;
use crate::keys::KeySwitchKey;
use crate::keyswitch::KeySwitchLevel;
use crate::{Error, Pool, Threads};
use lift::CentredLift;
use modulo::{Corrections, Modulo, outer_len, subtract_and_divide};
use rns::{Automorphism, Eval, RnsBasis, RnsPoly, Scratch};
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
    /// Digits of several primes, lifted to all limbs but their own, for every source.
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
        let lifted = lifted.take(sources.len() * self.lifted_len() * n);
        self.lift_wide_digits(sources, lifted, threads, buffers);
        let modulo = |j| Modulo {
            level: self,
            division,
            j,
            sources,
            jobs,
            lifted,
        };
        let transforms = Modulo::buffer_len(self, jobs);
        let sums = sums.take(dropped * halves * n);
        for (i, sums) in sums.chunks_exact_mut((halves * n).max(1)).enumerate() {
            buffers.lend(|own| {
                let rows = sums.chunks_exact_mut(n).collect();
                let work = own.transforms.take(transforms);
                modulo(kept + i).run(Corrections::None, work, rows, threads);
            });
        }
        let corrections = corrections.take(division.corrections() * halves * n);
        let limbs = sums.chunks_exact_mut(n).enumerate();
        threads.for_each(limbs, |(i, limb)| {
            self.qp().plan(kept + i / halves).inverse(limb);
        });
        self.correct(division, sums, corrections, threads, buffers);
        let mut out: Vec<AlignedVec<W>> = (0..halves)
            .map(|_| AlignedVec::for_overwrite(kept * n))
            .collect();
        let mut limbs: Vec<_> = out
            .iter_mut()
            .map(|part| part.chunks_exact_mut(n))
            .collect();
        let rows = (0..kept).map(|j| (j, limbs.iter_mut().filter_map(Iterator::next).collect()));
        for_each(threads, buffers, rows, |(j, rows), own| {
            let fix = match dropped {
                0 => Corrections::None,
                1 => Corrections::Dropped(
                    sums,
                    CentredLift::new(self.qp().modulus(kept), self.q().modulus(j)),
                ),
                _ => Corrections::Own(&corrections[(j * n).min(corrections.len())..], kept * n),
            };
            let work = own.transforms.take(transforms);
            modulo(j).run(fix, work, rows, &Threads::ONE);
        });
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

    /// Limbs that the lifts of all digits of more than one prime take.
    fn lifted_len(&self) -> usize {
        self.digits
            .iter()
            .filter(|d| d.own.len() > 1)
            .map(|d| self.qp().len() - d.own.len())
            .sum()
    }

    /// Lifts every digit of more than one prime to the primes it lacks, evaluation form.
    fn lift_wide_digits(
        &self,
        sources: &[Source<'_, W>],
        mut lifted: &mut [W],
        threads: &Threads,
        buffers: &Pool<Buffers<W>>,
    ) {
        let n = self.q().n();
        let mut tasks = Vec::new();
        for source in sources {
            for digit in self.digits.iter().filter(|d| d.own.len() > 1) {
                let Some(converter) = &digit.converter else {
                    continue;
                };
                let (out, rest) = std::mem::take(&mut lifted).split_at_mut(converter.outputs() * n);
                lifted = rest;
                tasks.push((
                    &source.coefficients[digit.own.start * n..digit.own.end * n],
                    converter,
                    out,
                ));
            }
        }
        for_each(
            threads,
            buffers,
            tasks.into_iter(),
            |(digit, converter, out), buffers| {
                converter.convert_into(digit, out, &mut buffers.convert);
            },
        );
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
                transforms,
                convert,
                ..
            } = buffers;
            let together = transforms.take(count * n);
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
        subtract_and_divide(plan, (&dropped, Some(&lift)), inverses[j], &mut buffer, out);
    }
    RnsPoly::from_data(kept, out)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod transform_tests;
