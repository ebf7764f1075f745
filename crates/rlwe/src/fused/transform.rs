// SPDX-License-Identifier: Apache-2.0
//! Linear transforms: see [`crate::linear_transform`].

use crate::keys::KeySwitchKey;
use crate::keyswitch::KeySwitchLevel;
use crate::keyswitch::inner_product;
use crate::linear_transform::{GiantStep, TransformSource};
use crate::{Error, Threads};
use rns::{Automorphism, Coeff, Eval, RnsPoly};
use zq::{AlignedVec, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// The transform of a ciphertext, both parts over Q·P and P times too large: see [`KeySwitchLevel::mod_down`] and
    /// [`KeySwitchLevel::mod_down_eval`].
    ///
    /// # Errors
    /// [`Error::Shape`] when a part, a factor or a key is not of this level.
    pub fn linear_transform(
        &self,
        source: TransformSource<'_, W>,
        giants: &[GiantStep<'_, W>],
        _threads: &Threads,
    ) -> Result<[RnsPoly<W, Eval>; 2], Error> {
        let words = self.qp().len() * self.qp().n();
        for giant in giants {
            giant.check(self.q().len(), self.digit_count(), words)?;
        }
        let poly =
            |data: &[W]| RnsPoly::<W, Eval>::from_data(self.q(), AlignedVec::from_slice(data));
        let c1: RnsPoly<W, Coeff> =
            RnsPoly::from_data(self.q(), AlignedVec::from_slice(source.coefficients));
        let parts = source.values.map(|v| self.times_special(&poly(v)));
        let digits = self.digits_of(&c1);
        let mut total = [RnsPoly::zeros(self.qp()), RnsPoly::zeros(self.qp())];
        for giant in giants {
            let mut sum = [RnsPoly::zeros(self.qp()), RnsPoly::zeros(self.qp())];
            for term in &giant.terms {
                let mut x = parts.clone();
                if let Some((auto, key)) = term.rotation {
                    let [mut k0, k1] = self.rotated_products(&digits, auto, key)?;
                    k0.add_assign(&parts[0].automorphism(auto));
                    x = [k0, k1];
                }
                for (sum, x) in sum.iter_mut().zip(&x) {
                    match term.factor {
                        Some(factor) => sum.mul_add_assign(x, factor),
                        None => sum.add_assign(x),
                    }
                }
            }
            if let Some((auto, key)) = giant.rotation {
                let [s0, s1] = sum;
                let digits = self.digits_of(&self.mod_down(s1.to_coeff()));
                let [mut k0, k1] = self.rotated_products(&digits, auto, key)?;
                k0.add_assign(&s0.automorphism(auto));
                sum = [k0, k1];
            }
            total
                .iter_mut()
                .zip(&sum)
                .for_each(|(t, s)| t.add_assign(s));
        }
        Ok(total)
    }

    fn digits_of(&self, c: &RnsPoly<W, Coeff>) -> Vec<RnsPoly<W, Eval>> {
        self.decompose(c)
            .into_iter()
            .map(RnsPoly::to_eval)
            .collect()
    }

    fn rotated_products(
        &self,
        digits: &[RnsPoly<W, Eval>],
        auto: &Automorphism,
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Eval>; 2], Error> {
        let rotated: Vec<_> = digits.iter().map(|d| d.automorphism(auto)).collect();
        inner_product(&rotated, key, self.q().len())
    }

    /// P·x over Q·P.
    fn times_special(&self, x: &RnsPoly<W, Eval>) -> RnsPoly<W, Eval> {
        let mut out = RnsPoly::zeros(self.qp());
        for (j, factor) in self.special_residues.iter().enumerate() {
            let m = self.q().modulus(j);
            m.shoup_mul_into(out.limb_mut(j), x.limb(j), *factor);
        }
        out
    }
}
