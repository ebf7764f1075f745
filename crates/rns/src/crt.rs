// SPDX-License-Identifier: Apache-2.0
//! The exact Chinese remainder map, through big integers. Variable time: for keys that are public, tests and encoding.

use num_bigint::{BigInt, BigUint, Sign};
use zq::Word;

use crate::{Coeff, RnsBasis, RnsError, RnsPoly};

impl<W: Word> RnsBasis<W> {
    /// The integer in `0..Q` with these residues, one for each modulus: `Σ [x_i q̂_i^-1]_{q_i} q̂_i mod Q`.
    ///
    /// # Panics
    /// If there are not `L` residues.
    pub fn compose(&self, residues: &[W]) -> BigUint {
        assert_eq!(residues.len(), self.len(), "one residue for each modulus");
        let term = |(i, &x): (usize, &W)| {
            self.q_hat(i) * self.modulus(i).mul_shoup(x, self.q_hat_inv(i)).to_u128()
        };
        let sum: BigUint = residues.iter().enumerate().map(term).sum();
        sum % self.product()
    }

    /// The integer in `-Q/2 < x <= Q/2` with these residues.
    pub fn compose_centered(&self, residues: &[W]) -> BigInt {
        let x = self.compose(residues);
        if &x > self.half_product() {
            BigInt::from(x) - BigInt::from(self.product().clone())
        } else {
            BigInt::from(x)
        }
    }

    /// The residues of an integer of any size and sign.
    pub fn decompose(&self, x: &BigInt) -> Vec<W> {
        let digits = x.magnitude().to_u64_digits();
        let residue = |m: &zq::Modulus<W>| {
            let r = m.reduce_digits(&digits);
            if x.sign() == Sign::Minus { m.neg(r) } else { r }
        };
        self.moduli().iter().map(residue).collect()
    }
}

impl<W: Word> RnsPoly<W, Coeff> {
    /// The coefficients in `0..Q`.
    pub fn compose(&self) -> Vec<BigUint> {
        self.columns(|residues| self.basis().compose(residues))
    }

    /// The coefficients in `-Q/2 < x <= Q/2`.
    pub fn compose_centered(&self) -> Vec<BigInt> {
        self.columns(|residues| self.basis().compose_centered(residues))
    }

    /// The polynomial with these integer coefficients, of any size and sign.
    pub fn from_bigints(basis: &RnsBasis<W>, coefficients: &[BigInt]) -> Result<Self, RnsError> {
        if coefficients.len() != basis.n() {
            return Err(RnsError::BadLength {
                got: coefficients.len(),
                wanted: basis.n(),
            });
        }
        let mut out = Self::zeros(basis);
        for (c, x) in coefficients.iter().enumerate() {
            for (limb, r) in out.limbs_mut().zip(basis.decompose(x)) {
                limb[c] = r;
            }
        }
        Ok(out)
    }

    fn columns<T>(&self, f: impl Fn(&[W]) -> T) -> Vec<T> {
        let mut residues = vec![W::ZERO; self.limb_count()];
        let mut column = |c| {
            residues
                .iter_mut()
                .zip(self.limbs())
                .for_each(|(r, limb)| *r = limb[c]);
            f(&residues)
        };
        (0..self.n()).map(&mut column).collect()
    }
}
