// SPDX-License-Identifier: Apache-2.0
//! Products of ciphertexts and their relinearisation.

use super::{Evaluator, need_two_parts};
use crate::{Ciphertext, Error};
use rlwe::{HoistedDigits, RelinKey};
use rns::RnsPoly;

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
        let mut parts = vec![RnsPoly::zeros(&basis); 3];
        for (i, q) in basis.moduli().iter().enumerate() {
            let (a0, a1, b0, b1) = (
                a.parts[0].limb(i),
                a.parts[1].limb(i),
                b.parts[0].limb(i),
                b.parts[1].limb(i),
            );
            q.mul_into(parts[0].limb_mut(i), a0, b0);
            q.mul_into(parts[1].limb_mut(i), a0, b1);
            q.mul_add_assign(parts[1].limb_mut(i), a1, b0);
            q.mul_into(parts[2].limb_mut(i), a1, b1);
        }
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
        let mut parts = vec![RnsPoly::zeros(&basis); 3];
        for (i, q) in basis.moduli().iter().enumerate() {
            let (a0, a1) = (a.parts[0].limb(i), a.parts[1].limb(i));
            q.mul_into(parts[0].limb_mut(i), a0, a0);
            q.mul_into(parts[2].limb_mut(i), a1, a1);
            let cross = parts[1].limb_mut(i);
            q.mul_into(cross, a0, a1);
            // 2x = x + x: the product's limb is its own second operand.
            let copy = cross.to_vec();
            q.add_assign(cross, &copy);
        }
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
        self.check(&[a])?;
        self.check_key(
            "relinearisation key",
            a,
            key.key().fingerprint(),
            key.key().id(),
        )?;
        let [c0, c1, c2] = &a.parts[..] else {
            return Ok(a.clone());
        };
        let rlwe = self.params.rlwe();
        let digits = HoistedDigits::new(rlwe, &c2.clone().to_coeff())?;
        let [mut k0, mut k1] = self.switch_digits(&digits, key.key())?;
        k0.add_assign(c0);
        k1.add_assign(c1);
        Ok(a.with_parts(vec![k0, k1]))
    }
}
