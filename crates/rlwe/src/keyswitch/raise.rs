// SPDX-License-Identifier: Apache-2.0
//! The modulus raised: from the lowest prime to all of them, with the way back from a sparse secret.

use super::level::KeySwitchLevel;
use crate::keys::KeySwitchKey;
use crate::{Error, Threads};
use rns::{CentredLift, Coeff, Eval, RnsBasis, RnsPoly};
use zq::{AlignedVec, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// A ciphertext (c0, c1) over the first prime q, under the source of `key`, raised to this level under the key's
    /// target: of the same value modulo q, hence m + q·I with I as in [`log2_overflow`](crate::noise::log2_overflow).
    ///
    /// c0 and c1 are lifted to their centred representatives. c1, smaller than q, is one digit of the key whatever the
    /// level: `(c1·key)/P` adds noise of the size of q·e/P and the rounding.
    ///
    /// # Errors
    /// [`Error::Shape`] unless the parts are over one prime and the key has one digit and serves this level.
    #[inline(never)]
    pub fn raise(
        &self,
        parts: [&RnsPoly<W, Coeff>; 2],
        key: &KeySwitchKey<W>,
        threads: &Threads,
    ) -> Result<[RnsPoly<W, Eval>; 2], Error> {
        let limbs = self.q().len();
        for part in parts {
            if part.limb_count() != 1 || part.basis().moduli()[0] != self.q().moduli()[0] {
                return Err(Error::Shape {
                    what: "primes of a ciphertext to raise",
                    got: part.limb_count(),
                    expected: 1,
                });
            }
        }
        key.check_covers(limbs, 1)?;
        if key.digits() != 1 {
            return Err(Error::Shape {
                what: "digits of the key to raise with",
                got: key.digits(),
                expected: 1,
            });
        }
        let n = self.q().n();
        let digit = lift(parts[1], self.qp(), threads);
        let mut raised = lift(parts[0], self.q(), threads);
        // Limb by limb both components.
        let mut products = AlignedVec::for_overwrite(2 * self.qp().len() * n);
        let keys = key.limbs_at(0, 0, limbs).zip(key.limbs_at(0, 1, limbs));
        let rows = products.chunks_exact_mut(2 * n).zip(keys).enumerate();
        threads.for_each(rows, |(j, (rows, (k0, k1)))| {
            let (first, second) = rows.split_at_mut(n);
            self.qp().modulus(j).mul_into(first, digit.limb(j), k0);
            self.qp().modulus(j).mul_into(second, digit.limb(j), k1);
        });
        let divided = self
            .scratch
            .lend(|scratch| self.divide_eval(&mut products, threads, scratch));
        let [k0, k1] = divided.map(|data| RnsPoly::from_data(self.q(), data));
        let rows = raised.limbs_mut().zip(k0.limbs()).zip(self.q().moduli());
        threads.for_each(rows, |((x, k), m)| m.add_assign(x, k));
        Ok([raised, k1])
    }
}

/// The centred representatives of a polynomial over one prime, over `basis` in evaluation form.
fn lift<W: Word>(
    x: &RnsPoly<W, Coeff>,
    basis: &RnsBasis<W>,
    threads: &Threads,
) -> RnsPoly<W, Eval> {
    let from = x.basis().modulus(0);
    let mut data = AlignedVec::for_overwrite(basis.len() * basis.n());
    let rows = data.chunks_exact_mut(basis.n()).zip(basis.plans());
    threads.for_each(rows, |(out, plan)| {
        match plan.modulus() == from {
            true => out.copy_from_slice(x.limb(0)),
            false => CentredLift::new(from, plan.modulus()).apply(x.limb(0), out),
        }
        plan.forward(out);
    });
    RnsPoly::from_data(basis, data)
}
