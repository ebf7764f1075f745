// SPDX-License-Identifier: Apache-2.0
//! Key switching from and to evaluation form, for ciphertexts that are kept in that form.

use super::division::Division;
use super::level::KeySwitchLevel;
use super::per_prime::{Corrections, Lifted, PerPrime, by_prime};
use super::request::{Source, SwitchRequest};
use super::work_space::{Buffers, SwitchScratch, for_each};
use crate::{Error, Threads};
use rns::{CentredLift, Eval, RnsBasis, RnsPoly};
use zq::{AlignedVec, Pool, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// Runs all requests; results are over this level's data basis, in the order of the requests. The primes are
    /// shared among the threads; the residues do not depend on their number.
    ///
    /// # Errors
    /// [`Error::Shape`] when a source has another length, a key is for a lower level, or a request names no source.
    #[inline(never)]
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
    #[inline(never)]
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
        let components = 2 * requests.len();
        let SwitchScratch {
            lifted,
            dropped,
            corrections,
            buffers,
            ..
        } = scratch;
        let lifted = lifted.take(self.lifted_len(sources.len()));
        let mut lifted = self.lift_wide_digits(sources, lifted, threads, buffers);
        let dropped_primes = self.qp().len() - division.kept;
        let dropped = dropped.take(dropped_primes * components * self.q().n());
        let switch = Switch {
            level: self,
            division,
            sources,
            requests,
            threads,
            buffers,
        };
        switch.inner_products_dropped(lifted.split_off(division.kept), dropped);
        let corrections = corrections.take(self.corrections_len(division, components));
        let corrections = self.correct_outer(division, dropped, corrections, threads, buffers);
        switch.inner_products_divided(lifted, dropped, corrections)
    }
}

/// A switch whose digits are lifted: inner products and mod-down are left.
struct Switch<'a, W: Word> {
    level: &'a KeySwitchLevel<W>,
    division: &'a Division<W>,
    sources: &'a [Source<'a, W>],
    requests: &'a [SwitchRequest<'a, W>],
    threads: &'a Threads,
    buffers: &'a Pool<Buffers<W>>,
}

impl<W: Word> Switch<'_, W> {
    fn per_prime(&self, j: usize) -> PerPrime<'_, W> {
        PerPrime {
            level: self.level,
            division: self.division,
            j,
            sources: self.sources,
            requests: self.requests,
        }
    }

    fn buffer_len(&self) -> usize {
        PerPrime::buffer_len(self.level, self.requests)
    }

    /// The inner products modulo the primes that are divided away, as coefficients: for each prime a row for each
    /// component.
    fn inner_products_dropped(&self, lifted: Vec<Lifted<'_, W>>, sums: &mut [W]) {
        let (qp, kept) = (self.level.qp(), self.division.kept);
        let (n, components) = (qp.n(), 2 * self.requests.len());
        let primes = sums.chunks_exact_mut((components * n).max(1)).zip(lifted);
        for (j, (sums, lifted)) in (kept..).zip(primes) {
            self.buffers.lend(|own| {
                let rows = sums.chunks_exact_mut(n).collect();
                let work = own.transforms.take(self.buffer_len());
                let per_prime = self.per_prime(j);
                per_prime.run(Corrections::None, (work, lifted), rows, self.threads);
            });
        }
        let limbs = sums.chunks_exact_mut(n).enumerate();
        self.threads.for_each(limbs, |(i, limb)| {
            qp.plan(kept + i / components).inverse(limb);
        });
    }

    /// The inner products modulo the primes that are kept, each divided where it is made.
    fn inner_products_divided(
        &self,
        lifted: Vec<Lifted<'_, W>>,
        dropped: &[W],
        corrections: Vec<Lifted<'_, W>>,
    ) -> Vec<AlignedVec<W>> {
        let (n, kept) = (self.level.q().n(), self.division.kept);
        let component = |_| AlignedVec::for_overwrite(kept * n);
        let mut out: Vec<AlignedVec<W>> = (0..2 * self.requests.len()).map(component).collect();
        let rows = by_prime(&mut out, (kept, n)).into_iter();
        let primes = rows.zip(lifted.into_iter().zip(corrections)).enumerate();
        for_each(
            self.threads,
            self.buffers,
            primes,
            |(j, (rows, (lifted, fixes))), own| {
                let fixes = self.corrections(j, dropped, fixes);
                let work = own.transforms.take(self.buffer_len());
                let per_prime = self.per_prime(j);
                per_prime.run(fixes, (work, lifted), rows, &Threads::ONE);
            },
        );
        out
    }

    /// What is subtracted modulo a kept prime before the division; `outer` where several primes are divided away.
    fn corrections<'c>(
        &self,
        j: usize,
        dropped: &'c [W],
        outer: Lifted<'c, W>,
    ) -> Corrections<'c, W> {
        let (qp, kept) = (self.level.qp(), self.division.kept);
        match qp.len() - kept {
            0 => Corrections::None,
            1 => Corrections::Dropped(dropped, CentredLift::new(qp.modulus(kept), qp.modulus(j))),
            _ => Corrections::Outer(outer),
        }
    }
}
