// SPDX-License-Identifier: Apache-2.0
//! Key switching from and to evaluation form, for ciphertexts that are kept in that form.

use super::division::Division;
use super::level::KeySwitchLevel;
use super::per_prime::{Corrections, PerPrime};
use super::request::{Source, SwitchRequest};
use super::work_space::{SwitchScratch, for_each};
use crate::{Error, Threads};
use rns::{CentredLift, Eval, RnsBasis, RnsPoly};
use zq::{AlignedVec, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// Runs all requests; results are over this level's data basis, in the order of the requests. The primes are
    /// shared among the threads; the residues do not depend on their number.
    ///
    /// # Errors
    /// [`Error::Shape`] when a source has another length, a key is for a lower level, or a request names no source.
    pub fn switch_eval(
        &self,
        sources: &[Source<'_, W>],
        requests: &[SwitchRequest<'_, W>],
        threads: &Threads,
    ) -> Result<Vec<[RnsPoly<W, Eval>; 2]>, Error> {
        self.switch_and_divide(&self.special, self.q(), sources, requests, threads)
    }

    /// As [`KeySwitchLevel::switch_eval`] with one division by P and the last data prime together, P·add being added
    /// before it: results are over the data basis without that prime, and smaller by it.
    ///
    /// # Errors
    /// As [`KeySwitchLevel::switch_eval`], and [`Error::Shape`] when there is one data prime only.
    pub fn switch_eval_rescaled(
        &self,
        sources: &[Source<'_, W>],
        requests: &[SwitchRequest<'_, W>],
        threads: &Threads,
    ) -> Result<Vec<[RnsPoly<W, Eval>; 2]>, Error> {
        let division = self.rescale.as_ref().ok_or(Error::Shape {
            what: "data primes of a rescale",
            got: self.q().len(),
            expected: 2,
        })?;
        let kept = self.q().prefix(division.kept)?;
        self.switch_and_divide(division, &kept, sources, requests, threads)
    }

    fn switch_and_divide(
        &self,
        division: &Division<W>,
        kept: &RnsBasis<W>,
        sources: &[Source<'_, W>],
        requests: &[SwitchRequest<'_, W>],
        threads: &Threads,
    ) -> Result<Vec<[RnsPoly<W, Eval>; 2]>, Error> {
        self.check(sources, requests)?;
        let parts = self
            .scratch
            .lend(|scratch| self.switch_eval_with(division, sources, requests, threads, scratch));
        let mut parts = parts.into_iter().map(|data| RnsPoly::from_data(kept, data));
        let pairs = requests
            .iter()
            .filter_map(|_| Some([parts.next()?, parts.next()?]));
        Ok(pairs.collect())
    }

    /// The components of all requests, limbs of the primes that the division keeps.
    fn switch_eval_with(
        &self,
        division: &Division<W>,
        sources: &[Source<'_, W>],
        requests: &[SwitchRequest<'_, W>],
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) -> Vec<AlignedVec<W>> {
        let (n, kept, components) = (self.q().n(), division.kept, 2 * requests.len());
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
        let per_prime = |j| PerPrime {
            level: self,
            division,
            j,
            sources,
            requests,
        };
        let transforms = PerPrime::buffer_len(self, requests);
        let sums = sums.take(dropped * components * n);
        for (i, sums) in sums.chunks_exact_mut((components * n).max(1)).enumerate() {
            buffers.lend(|own| {
                let rows = sums.chunks_exact_mut(n).collect();
                let work = own.transforms.take(transforms);
                let lifted = std::mem::take(&mut lifted[kept + i]);
                per_prime(kept + i).run(Corrections::None, (work, lifted), rows, threads);
            });
        }
        let limbs = sums.chunks_exact_mut(n).enumerate();
        threads.for_each(limbs, |(i, limb)| {
            self.qp().plan(kept + i / components).inverse(limb);
        });
        let corrections = corrections.take(self.corrections_len(division, components));
        let corrections = self.correct_outer(division, sums, corrections, threads, buffers);
        let mut out: Vec<AlignedVec<W>> = (0..components)
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
                per_prime(j).run(fix, (work, lifted), rows, &Threads::ONE);
            },
        );
        out
    }
}
