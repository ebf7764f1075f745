// SPDX-License-Identifier: Apache-2.0
//! Key switching from coefficients to coefficients, for ciphertexts that are kept in that form.

use super::kernels::Divide;
use super::lift::CentredLift;
use super::modulo::{Corrections, Modulo};
use super::{Job, Source, SwitchScratch, for_each};
use crate::keys::KeySwitchKey;
use crate::keyswitch::KeySwitchLevel;
use crate::{Error, Threads};
use rns::{Coeff, RnsPoly};
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
        assert!(c.basis() == self.q(), "switch_coeff: wrong basis");
        self.scratch
            .lend(|scratch| self.switch_coeff_with(c, key, threads, scratch))
    }

    fn switch_coeff_with(
        &self,
        c: &RnsPoly<W, Coeff>,
        key: &KeySwitchKey<W>,
        threads: &Threads,
        scratch: &mut SwitchScratch<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        let sources = [Source {
            coefficients: c.data(),
            values: None,
        }];
        let jobs = [Job {
            source: 0,
            key,
            automorphism: None,
            add: [None, None],
        }];
        self.check(&sources, &jobs)?;
        let (n, l) = (self.q().n(), self.q().len());
        let SwitchScratch {
            lifted,
            dropped: special,
            corrections,
            buffers,
        } = scratch;
        let lifted = lifted.take(self.lifted_len() * n);
        self.lift_wide_digits(&sources, lifted, threads, buffers);
        let mut out = [0, 1].map(|_| AlignedVec::for_overwrite(l * n));
        let special = special.take((self.qp().len() - l) * 2 * n);
        {
            let [first, second] = &mut out;
            let kept = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n));
            let rest = special
                .chunks_exact_mut(2 * n)
                .map(|pair| pair.split_at_mut(n));
            for_each(
                threads,
                buffers,
                kept.chain(rest).enumerate(),
                |(j, (a, b)), own| {
                    let modulo = Modulo {
                        level: self,
                        division: &self.special,
                        j,
                        sources: &sources,
                        jobs: &jobs,
                        lifted,
                    };
                    let work = own.transforms.take(Modulo::buffer_len(self, &jobs));
                    modulo.run(
                        Corrections::None,
                        work,
                        vec![&mut *a, &mut *b],
                        &Threads::ONE,
                    );
                    self.qp().plan(j).inverse(a);
                    self.qp().plan(j).inverse(b);
                },
            );
        }
        let corrections = corrections.take(self.special.corrections() * 2 * n);
        self.correct(&self.special, special, corrections, threads, buffers);
        if self.qp().len() > l {
            let limbs = out.iter_mut().enumerate().flat_map(|(half, part)| {
                part.chunks_exact_mut(n).enumerate().map(move |x| (half, x))
            });
            for_each(threads, buffers, limbs, |(half, (j, out)), own| {
                let lifted = own.transforms.take(n);
                let correction = if corrections.is_empty() {
                    CentredLift::new(self.qp().modulus(l), self.q().modulus(j))
                        .apply(&special[half * n..][..n], lifted);
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
        Ok(out.map(|data| RnsPoly::from_data(self.q(), data)))
    }
}
