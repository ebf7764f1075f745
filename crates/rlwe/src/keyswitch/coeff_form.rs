// SPDX-License-Identifier: Apache-2.0
//! Key switching from coefficients to coefficients, for ciphertexts that are kept in that form.

use super::centred_lift::CentredLift;
use super::inner_product::Divide;
use super::level::KeySwitchLevel;
use super::per_prime::{Corrections, Modulo};
use super::request::{Job, Source};
use super::work_space::{SwitchScratch, for_each};
use crate::keys::KeySwitchKey;
use crate::{Error, Threads};
use rns::{Automorphism, Coeff, RnsPoly};
use zq::{AlignedVec, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// Switches `c` to the key's target: (k0, k1) with k0 + k1·s ≈ c·s'. Modulo each prime of Q·P the digits are lifted,
    /// transformed, multiplied with the key and transformed back; then both halves are divided by P.
    ///
    /// # Errors
    /// [`Error::Shape`] when the key is for a lower level.
    ///
    /// # Panics
    /// If `c` is not over this level's data basis.
    pub fn switch_coeff(
        &self,
        c: &RnsPoly<W, Coeff>,
        key: &KeySwitchKey<W>,
        threads: &Threads,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        Ok(self
            .switch_coeff_many(c, &[(None, key)], threads)?
            .swap_remove(0))
    }

    /// Several switches of one polynomial, each after an automorphism σ: (k0, k1) with k0 + k1·s ≈ σ(c)·s'. The digits are made
    /// once.
    ///
    /// # Errors
    /// [`Error::Shape`] when a key is for a lower level.
    ///
    /// # Panics
    /// If `c` is not over this level's data basis.
    pub fn switch_coeff_many(
        &self,
        c: &RnsPoly<W, Coeff>,
        uses: &[(Option<&Automorphism>, &KeySwitchKey<W>)],
        threads: &Threads,
    ) -> Result<Vec<[RnsPoly<W, Coeff>; 2]>, Error> {
        assert!(c.basis() == self.q(), "switch_coeff: wrong basis");
        let source = Source {
            coefficients: c.data(),
            values: None,
        };
        let job = |&(automorphism, key)| Job {
            source: 0,
            key,
            automorphism,
            add: [None, None],
        };
        let jobs: Vec<_> = uses.iter().map(job).collect();
        self.check(&[source], &jobs)?;
        let halves = self
            .scratch
            .lend(|scratch| self.switch_coeff_with(source, &jobs, threads, scratch));
        let mut halves = halves
            .into_iter()
            .map(|data| RnsPoly::from_data(self.q(), data));
        let pairs = uses
            .iter()
            .filter_map(|_| Some([halves.next()?, halves.next()?]));
        Ok(pairs.collect())
    }

    /// Both halves of every job.
    fn switch_coeff_with(
        &self,
        source: Source<'_, W>,
        jobs: &[Job<'_, W>],
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) -> Vec<AlignedVec<W>> {
        let (n, l, halves) = (self.q().n(), self.q().len(), 2 * jobs.len());
        let SwitchScratch {
            lifted,
            dropped,
            corrections,
            buffers,
            ..
        } = scratch;
        let lifted = lifted.take(self.lifted_len(1));
        let lifted = self.lift_wide_digits(&[source], lifted, threads, buffers);
        let mut out: Vec<AlignedVec<W>> = (0..halves)
            .map(|_| AlignedVec::for_overwrite(l * n))
            .collect();
        let dropped = dropped.take((self.qp().len() - l) * halves * n);
        {
            let mut limbs: Vec<_> = out
                .iter_mut()
                .map(|half| half.chunks_exact_mut(n))
                .collect();
            let kept = (0..l).map(|_| limbs.iter_mut().filter_map(Iterator::next).collect());
            let kept: Vec<Vec<_>> = kept.collect();
            let rest = dropped.chunks_exact_mut((halves * n).max(1));
            let rest = rest.map(|rows| rows.chunks_exact_mut(n).collect());
            let rows = kept.into_iter().chain(rest).zip(lifted).enumerate();
            for_each(threads, buffers, rows, |(j, (mut rows, lifted)), own| {
                let modulo = Modulo {
                    level: self,
                    division: &self.special,
                    j,
                    sources: &[source],
                    jobs,
                };
                let work = own.transforms.take(Modulo::buffer_len(self, &[]));
                let borrowed = rows.iter_mut().map(|row| &mut **row).collect();
                modulo.run(Corrections::None, (work, lifted), borrowed, &Threads::ONE);
                rows.iter_mut()
                    .for_each(|row| self.qp().plan(j).inverse(row));
            });
        }
        let corrections = corrections.take(self.special.corrections() * halves * n);
        self.correct(&self.special, dropped, corrections, threads, buffers);
        if self.qp().len() > l {
            let limbs = out.iter_mut().enumerate().flat_map(|(half, part)| {
                part.chunks_exact_mut(n).enumerate().map(move |x| (half, x))
            });
            for_each(threads, buffers, limbs, |(half, (j, out)), own| {
                let lifted = own.transforms.take(n);
                let correction = if corrections.is_empty() {
                    CentredLift::new(self.qp().modulus(l), self.q().modulus(j))
                        .apply(&dropped[half * n..][..n], lifted);
                    lifted
                } else {
                    &corrections[(half * l + j) * n..][..n]
                };
                Divide {
                    correction,
                    bound: 1,
                    factor: self.special.inverses[j],
                }
                .run(self.q().modulus(j), out);
            });
        }
        out
    }
}
