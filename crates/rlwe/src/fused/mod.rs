// SPDX-License-Identifier: Apache-2.0
//! Key switching in evaluation form for several ciphertexts and keys at once.
//!
//! The loop runs over the target primes, not over the digits: for one prime all digits are lifted and transformed, every
//! key's limbs of that prime are read once and used for every ciphertext, and the products are summed in double words with
//! one reduction at the end. Only the inputs in coefficient form, one prime's digits and the sums stay in the caches.
//! Rotations share the digits of their source (hoisting, ePrint 2018/244): the digits commute with `x -> x^g`, which
//! permutes evaluation points, so the permutation is folded into the loads of the inner product.
//!
//! Residues equal those of [`HoistedDigits`](crate::HoistedDigits) and [`key_switch`](crate::key_switch).

#[cfg(target_arch = "x86_64")]
mod ifma;
mod kernels;
mod lift;

use crate::keys::KeySwitchKey;
use crate::keyswitch::KeySwitchLevel;
use crate::{Error, Threads};
use kernels::{Finish, dot_pair, finish};
use lift::CentredLift;
use rns::{Automorphism, Eval, RnsBasis, RnsPoly, Scratch};
use std::sync::Mutex;
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

/// Work space of [`KeySwitchLevel::switch_eval`]; reused, it allocates nothing but the results after the first call of
/// a size.
#[derive(Debug, Default)]
pub struct SwitchScratch<W: Word> {
    /// Digits of several primes, lifted to all limbs but their own, for every source.
    lifted: Scratch<W>,
    /// The sums: for each prime of Q·P both halves of every job.
    sums: Scratch<W>,
    /// What is subtracted before the division by P, for both halves of every job.
    corrections: Scratch<W>,
    /// One for each thread at work.
    buffers: Mutex<Vec<Buffers<W>>>,
}

/// What one thread needs.
#[derive(Debug, Default)]
struct Buffers<W: Word> {
    digits: Scratch<W>,
    convert: Scratch<W>,
}

impl<W: Word> SwitchScratch<W> {
    /// Empty work space.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Runs `f` on every item with buffers of its own.
fn for_each<W: Word, T: Send>(
    threads: &Threads,
    pool: &Mutex<Vec<Buffers<W>>>,
    items: impl Iterator<Item = T>,
    f: impl Fn(T, &mut Buffers<W>) + Send + Sync,
) {
    threads.for_each(items, |item| {
        let lent = pool.lock().map_or(None, |mut pool| pool.pop());
        let mut buffers = lent.unwrap_or_default();
        f(item, &mut buffers);
        if let Ok(mut pool) = pool.lock() {
            pool.push(buffers);
        }
    });
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
        scratch: &mut SwitchScratch<W>,
    ) -> Result<Vec<[RnsPoly<W, Eval>; 2]>, Error> {
        self.check(sources, jobs)?;
        let (n, l, total) = (self.q().n(), self.q().len(), self.qp().len());
        let SwitchScratch {
            lifted,
            sums,
            corrections,
            buffers,
        } = scratch;
        let lifted = lifted.take(sources.len() * self.lifted_len() * n);
        self.lift_wide_digits(sources, lifted, threads, buffers);
        let sums = sums.take(total * jobs.len() * 2 * n);
        let rows = sums
            .chunks_exact_mut((jobs.len() * 2 * n).max(1))
            .enumerate();
        for_each(threads, buffers, rows, |(j, sums), buffers| {
            self.sum_at(
                j,
                sources,
                lifted,
                jobs,
                sums,
                buffers.digits.take(self.digit_count() * n),
            );
        });
        let (kept, special) = sums.split_at_mut(l * jobs.len() * 2 * n);
        let corrections = corrections.take(jobs.len() * 2 * l * n);
        self.correct(special, corrections, threads, buffers);
        let mut out: Vec<AlignedVec<W>> = (0..2 * jobs.len())
            .map(|_| AlignedVec::for_overwrite(l * n))
            .collect();
        let limbs = out
            .iter_mut()
            .zip(corrections.chunks_exact_mut(l * n))
            .enumerate()
            .flat_map(|(k, (out, fix))| {
                out.chunks_exact_mut(n)
                    .zip(fix.chunks_exact_mut(n))
                    .enumerate()
                    .map(move |(j, (out, fix))| (k, j, out, fix))
            });
        for_each(threads, buffers, limbs, |(k, j, out, fix), _| {
            let sum = &kept[(j * 2 * jobs.len() + k) * n..][..n];
            self.divide(j, &jobs[k / 2], k % 2, sum, fix, out);
        });
        let mut out = out
            .into_iter()
            .map(|data| RnsPoly::from_data(self.q(), data));
        Ok(jobs
            .iter()
            .filter_map(|_| Some([out.next()?, out.next()?]))
            .collect())
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
        buffers: &Mutex<Vec<Buffers<W>>>,
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

    /// The sums of all jobs modulo prime `j` of Q·P.
    fn sum_at(
        &self,
        j: usize,
        sources: &[Source<'_, W>],
        lifted: &[W],
        jobs: &[Job<'_, W>],
        sums: &mut [W],
        buffers: &mut [W],
    ) {
        let n = self.q().n();
        for (s, source) in sources.iter().enumerate() {
            let lifted = &lifted[s * self.lifted_len() * n..][..self.lifted_len() * n];
            let digits = self.digits_at(j, source, lifted, buffers);
            for (job, sums) in jobs
                .iter()
                .zip(sums.chunks_exact_mut(2 * n))
                .filter(|(job, _)| job.source == s)
            {
                self.accumulate(j, &digits, job, sums.split_at_mut(n).into());
            }
        }
    }

    /// All digits modulo prime `j` of Q·P, in evaluation form.
    fn digits_at<'a>(
        &self,
        j: usize,
        source: &Source<'a, W>,
        lifted: &[W],
        buffers: &'a mut [W],
    ) -> Vec<&'a [W]> {
        let n = self.q().n();
        let plan = self.qp().plan(j);
        let mut lifted = lifted.chunks_exact(n);
        let mut out: Vec<&'a [W]> = Vec::with_capacity(self.digits.len());
        for (digit, buffer) in self.digits.iter().zip(buffers.chunks_exact_mut(n)) {
            let (own, start) = (digit.own.contains(&j), digit.own.start);
            let wide = if digit.own.len() > 1 {
                self.qp().len() - digit.own.len()
            } else {
                0
            };
            let rows = lifted.by_ref().take(wide);
            let row = if j < start {
                j
            } else {
                j - digit.own.len().min(j)
            };
            let lift = rows.enumerate().fold(
                None,
                |found, (i, limb)| if i == row { Some(limb) } else { found },
            );
            match (own, source.values, lift) {
                (true, Some(values), _) => {
                    out.push(&values[j * n..][..n]);
                    continue;
                }
                (true, None, _) => buffer.copy_from_slice(&source.coefficients[j * n..][..n]),
                (false, _, Some(limb)) => buffer.copy_from_slice(limb),
                (false, _, None) => CentredLift::new(self.q().modulus(start), plan.modulus())
                    .apply(&source.coefficients[start * n..][..n], buffer),
            }
            plan.forward(buffer);
            out.push(buffer);
        }
        out
    }

    /// `halves = Σ_d σ(digit_d)·key_d` modulo prime `j`.
    fn accumulate(&self, j: usize, digits: &[&[W]], job: &Job<'_, W>, halves: [&mut [W]; 2]) {
        let l = self.q().len();
        let index = if j < l { j } else { job.key.limbs() + j - l };
        let limbs = |half: usize| {
            job.key.parts()[..digits.len()]
                .iter()
                .map(|p| p[half].limb(index))
                .collect::<Vec<_>>()
        };
        let (b, a) = (limbs(0), limbs(1));
        let sources = job.automorphism.map(Automorphism::eval_sources);
        dot_pair(self.qp().modulus(j), digits, [&b, &a], sources, halves);
    }

    /// The centred representatives of the special limbs modulo each data prime, coefficient form.
    fn correct(
        &self,
        special: &mut [W],
        corrections: &mut [W],
        threads: &Threads,
        buffers: &Mutex<Vec<Buffers<W>>>,
    ) {
        let (n, l) = (self.q().n(), self.q().len());
        let Some(down) = &self.down_converter else {
            return;
        };
        let halves = corrections.len() / (l * n);
        let plans = &self.qp().plans()[l..];
        let limbs = special.chunks_exact_mut(n).enumerate();
        for_each(threads, buffers, limbs, |(i, limb), _| {
            plans[i / halves].inverse(limb)
        });
        let special = &*special;
        for_each(
            threads,
            buffers,
            corrections.chunks_exact_mut(l * n).enumerate(),
            |(k, fix), buffers| {
                let limb = |i: usize| &special[(i * halves + k) * n..][..n];
                if plans.len() == 1 {
                    let p = self.qp().modulus(l);
                    for (fix, q) in fix.chunks_exact_mut(n).zip(self.q().moduli()) {
                        CentredLift::new(p, q).apply(limb(0), fix);
                    }
                    return;
                }
                let Buffers { digits, convert } = buffers;
                let together = digits.take(plans.len() * n);
                together
                    .chunks_exact_mut(n)
                    .enumerate()
                    .for_each(|(i, out)| out.copy_from_slice(limb(i)));
                down.convert_into(together, fix, convert);
            },
        );
    }

    /// `(sum - correction)/P + σ(add)` for limb `j` of one half.
    fn divide(
        &self,
        j: usize,
        job: &Job<'_, W>,
        half: usize,
        sum: &[W],
        fix: &mut [W],
        out: &mut [W],
    ) {
        let (n, plan) = (self.q().n(), self.q().plan(j));
        let correction = self.down_converter.as_ref().map(|_| {
            plan.forward(fix);
            (&*fix, self.p_inverse[j])
        });
        let add = job.add[half].map(|a| &a[j * n..][..n]);
        let sources = job.automorphism.map(Automorphism::eval_sources);
        finish(
            plan.modulus(),
            Finish {
                sum,
                correction,
                add,
                sources,
            },
            out,
        );
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
    let mut dropped = AlignedVec::from_slice(x.limb(l));
    x.basis().plan(l).inverse(&mut dropped);
    let (mut fix, mut out) = (
        AlignedVec::for_overwrite(n),
        AlignedVec::for_overwrite(l * n),
    );
    for (j, (plan, out)) in kept.plans().iter().zip(out.chunks_exact_mut(n)).enumerate() {
        CentredLift::new(x.basis().modulus(l), plan.modulus()).apply(&dropped, &mut fix);
        plan.forward(&mut fix);
        let operands = Finish {
            sum: x.limb(j),
            correction: Some((&fix, inverses[j])),
            add: None,
            sources: None,
        };
        finish(plan.modulus(), operands, out);
    }
    RnsPoly::from_data(kept, out)
}

#[cfg(test)]
mod tests;
