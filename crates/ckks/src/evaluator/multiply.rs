// SPDX-License-Identifier: Apache-2.0
//! Products of ciphertexts and their relinearisation.

use super::switch::Switch;
use super::{Evaluator, need_two_parts};
use crate::{Ciphertext, Error};
use rlwe::{RelinKey, Source, SwitchRequest, coefficients};
use rns::{Eval, RnsBasis, RnsPoly};
use zq::{AlignedVec, Modulus};

impl Evaluator {
    /// Product of two ciphertexts: three parts, scales multiply. Relinearise and rescale when it pays.
    ///
    /// # Errors
    /// [`Error::Size`] for operands of three parts, [`Error::Overflow`] when the product's scale does not fit the
    /// modulus, [`Error::Rlwe`].
    pub fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check(&[a, b])?;
        need_two_parts("multiply", a)?;
        need_two_parts("multiply", b)?;
        let key = a.key.join(b.key, "right operand of multiply")?;
        let level = a.level().min(b.level());
        let scale = self.product_scale("multiply", a.scale * b.scale, level)?;
        let basis = self.params.basis(level)?;
        let parts = self.three_parts(&basis, |i, q, [d0, d1, d2]| {
            let ([a0, a1], [b0, b1]) = (
                [0, 1].map(|k| a.parts[k].limb(i)),
                [0, 1].map(|k| b.parts[k].limb(i)),
            );
            q.mul_into(d0, a0, b0);
            q.dot_into(d1, &[a0, a1], &[b1, b0]);
            q.mul_into(d2, a1, b1);
        });
        Ok(Ciphertext {
            scale,
            key,
            slots: a.slots.max(b.slots),
            ..a.with_parts(parts)
        })
    }

    /// Product with itself: three parts.
    ///
    /// # Errors
    /// As [`Evaluator::multiply`].
    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        need_two_parts("square", a)?;
        let scale = self.product_scale("square", a.scale * a.scale, a.level())?;
        let basis = a.parts[0].basis().clone();
        let parts = self.three_parts(&basis, |i, q, [d0, d1, d2]| {
            let [a0, a1] = [0, 1].map(|k| a.parts[k].limb(i));
            q.mul_into(d0, a0, a0);
            q.mul_into(d1, a0, a1);
            q.scalar_mul_assign(d1, 2);
            q.mul_into(d2, a1, a1);
        });
        Ok(Ciphertext {
            scale,
            ..a.with_parts(parts)
        })
    }

    /// Three parts to two; a ciphertext of two parts is copied.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a key of other parameters or for lower levels than this one.
    pub fn relinearize(&self, a: &Ciphertext, key: &RelinKey<u64>) -> Result<Ciphertext, Error> {
        self.check_relin(a, key)?;
        if a.size() < 3 {
            return Ok(a.clone());
        }
        let switch = Switch {
            ct: a,
            part: 2,
            uses: vec![(None, key.key())],
        };
        Ok(self.switch(&[switch])?.swap_remove(0))
    }

    /// Three parts to two, one level down, with one division by the special primes and the level's prime together: what
    /// [`Evaluator::relinearize`] and [`Evaluator::rescale`] do with two, rounded once.
    ///
    /// # Errors
    /// [`Error::Size`] unless `a` has three parts; as [`Evaluator::relinearize`] and [`Evaluator::rescale`].
    pub fn relinearize_rescale(
        &self,
        a: &Ciphertext,
        key: &RelinKey<u64>,
    ) -> Result<Ciphertext, Error> {
        self.check_relin(a, key)?;
        if a.size() != 3 {
            return Err(Error::Size {
                operation: "relinearize_rescale",
                given: a.size(),
                needed: "3",
                remedy: "rescale it, there is nothing to relinearize",
            });
        }
        let scale = self.rescaled("relinearize_rescale", a)?;
        let coefficients = coefficients(&a.parts[2], &self.threads);
        let source = Source {
            coefficients: coefficients.data(),
            values: Some(a.parts[2].data()),
        };
        let request = SwitchRequest {
            source: 0,
            key: key.key(),
            automorphism: None,
            add: [0, 1].map(|k| Some(a.parts[k].data())),
        };
        let level = self.params.rlwe().level(a.level() + 1)?;
        let parts = level.switch_eval_rescaled(&[source], &[request], &self.threads)?;
        Ok(Ciphertext {
            scale,
            ..a.with_parts(parts.into_iter().flatten().collect())
        })
    }

    /// Three polynomials over `basis`; `f` writes limb i of each.
    fn three_parts(
        &self,
        basis: &RnsBasis<u64>,
        f: impl Fn(usize, &Modulus<u64>, [&mut [u64]; 3]) + Send + Sync,
    ) -> Vec<RnsPoly<u64, Eval>> {
        let (n, words) = (basis.n(), basis.len() * basis.n());
        let mut out = [(); 3].map(|()| AlignedVec::for_overwrite(words));
        let [d0, d1, d2] = out.each_mut().map(|part| part.chunks_exact_mut(n));
        let rows = d0.zip(d1).zip(d2).enumerate();
        let threads = self.threads.worth(3 * words);
        threads.for_each(rows, |(i, ((d0, d1), d2))| {
            f(i, basis.modulus(i), [d0, d1, d2]);
        });
        out.map(|data| RnsPoly::from_data(basis, data)).into()
    }
}
