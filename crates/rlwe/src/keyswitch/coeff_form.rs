// SPDX-License-Identifier: Apache-2.0
//! Key switching from coefficients to coefficients, for ciphertexts that are kept in that form.

use super::level::KeySwitchLevel;
use super::per_prime::{Corrections, Lifted, PerPrime, by_prime};
use super::request::{Source, SwitchRequest};
use super::work_space::{Buffers, SwitchScratch, for_each};
use crate::keys::KeySwitchKey;
use crate::{Error, Threads};
use rns::{Automorphism, Coeff, RnsPoly};
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
    #[inline(never)]
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
    #[inline(never)]
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
        let component = |_| AlignedVec::for_overwrite(l * n);
        let mut out: Vec<AlignedVec<W>> = (0..components).map(component).collect();
        let dropped = dropped.take((self.qp().len() - l) * components * n);
        let mut rows = by_prime(&mut out, (l, n));
        let rest = dropped.chunks_exact_mut((components * n).max(1));
        rows.extend(rest.map(|rows| rows.chunks_exact_mut(n).collect()));
        let primes = rows.into_iter().zip(lifted).enumerate();
        for_each(threads, buffers, primes, |(j, (rows, lifted)), own| {
            self.inner_products(j, (source, requests), lifted, rows, own);
        });
        let corrections = corrections.take(self.special.corrections() * components * n);
        self.correct(&self.special, dropped, corrections, threads, buffers);
        if self.qp().len() > l {
            self.divide(&mut out, (dropped, corrections), threads, buffers);
        }
        out
    }

    /// The inner products modulo one prime of Q·P, as coefficients.
    fn inner_products(
        &self,
        j: usize,
        (source, requests): (Source<'_, W>, &[SwitchRequest<'_, W>]),
        lifted: Lifted<'_, W>,
        mut rows: Vec<&mut [W]>,
        own: &mut Buffers<W>,
    ) {
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
    }
}
