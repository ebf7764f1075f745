// SPDX-License-Identifier: Apache-2.0
//! Key switching from coefficients to coefficients, for ciphertexts that are kept in that form.

use super::inner_product::Divide;
use super::level::KeySwitchLevel;
use super::per_prime::{Corrections, PerPrime};
use super::request::{Source, SwitchRequest};
use super::work_space::{SwitchScratch, for_each};
use crate::keys::KeySwitchKey;
use crate::{Error, Threads};
use rns::{Automorphism, CentredLift, Coeff, RnsPoly};
use zq::{AlignedVec, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// Switches `c` to the key's target: (k0, k1) with k0 + k1·s ≈ c·s'. Modulo each prime of Q·P the digits are
    /// lifted, transformed, multiplied with the key and transformed back; then both components are divided by P.
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

    /// Several switches of one polynomial, each after an automorphism σ: (k0, k1) with k0 + k1·s ≈ σ(c)·s'. The digits
    /// are made once.
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
        let request = |&(automorphism, key)| SwitchRequest {
            source: 0,
            key,
            automorphism,
            add: [None, None],
        };
        let requests: Vec<_> = uses.iter().map(request).collect();
        self.check(&[source], &requests)?;
        let components = self
            .scratch
            .lend(|scratch| self.switch_coeff_with(source, &requests, threads, scratch));
        let mut components = components
            .into_iter()
            .map(|data| RnsPoly::from_data(self.q(), data));
        let pairs = uses
            .iter()
            .filter_map(|_| Some([components.next()?, components.next()?]));
        Ok(pairs.collect())
    }

    /// Both components of every request.
    fn switch_coeff_with(
        &self,
        source: Source<'_, W>,
        requests: &[SwitchRequest<'_, W>],
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) -> Vec<AlignedVec<W>> {
        let (n, l, components) = (self.q().n(), self.q().len(), 2 * requests.len());
        let SwitchScratch {
            lifted,
            dropped,
            corrections,
            buffers,
            ..
        } = scratch;
        let lifted = lifted.take(self.lifted_len(1));
        let lifted = self.lift_wide_digits(&[source], lifted, threads, buffers);
        let mut out: Vec<AlignedVec<W>> = (0..components)
            .map(|_| AlignedVec::for_overwrite(l * n))
            .collect();
        let dropped = dropped.take((self.qp().len() - l) * components * n);
        {
            let mut limbs: Vec<_> = out
                .iter_mut()
                .map(|component| component.chunks_exact_mut(n))
                .collect();
            let kept = (0..l).map(|_| limbs.iter_mut().filter_map(Iterator::next).collect());
            let kept: Vec<Vec<_>> = kept.collect();
            let rest = dropped.chunks_exact_mut((components * n).max(1));
            let rest = rest.map(|rows| rows.chunks_exact_mut(n).collect());
            let rows = kept.into_iter().chain(rest).zip(lifted).enumerate();
            for_each(threads, buffers, rows, |(j, (mut rows, lifted)), own| {
                let per_prime = PerPrime {
                    level: self,
                    division: &self.special,
                    j,
                    sources: &[source],
                    requests,
                };
                let work = own.transforms.take(PerPrime::buffer_len(self, &[]));
                let borrowed = rows.iter_mut().map(|row| &mut **row).collect();
                per_prime.run(Corrections::None, (work, lifted), borrowed, &Threads::ONE);
                rows.iter_mut()
                    .for_each(|row| self.qp().plan(j).inverse(row));
            });
        }
        let corrections = corrections.take(self.special.corrections() * components * n);
        self.correct(&self.special, dropped, corrections, threads, buffers);
        if self.qp().len() > l {
            let limbs = out.iter_mut().enumerate().flat_map(|(component, part)| {
                part.chunks_exact_mut(n)
                    .enumerate()
                    .map(move |x| (component, x))
            });
            for_each(threads, buffers, limbs, |(component, (j, out)), own| {
                let lifted = own.transforms.take(n);
                let correction = if corrections.is_empty() {
                    CentredLift::new(self.qp().modulus(l), self.q().modulus(j))
                        .apply(&dropped[component * n..][..n], lifted);
                    lifted
                } else {
                    &corrections[(component * l + j) * n..][..n]
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
