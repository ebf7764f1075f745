// SPDX-License-Identifier: Apache-2.0
//! The arithmetic of one lane: a modulus, and the factor that the build's reduction leaves in products.

use isa::{BuildInfo, Reduction};
use zq::Modulus;

/// One lane's arithmetic. Montgomery builds give a * b / R, so tables and one factor of each product carry R.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// The modulus.
    pub modulus: Modulus<u128>,
    /// 1 / R modulo the modulus; None for Barrett, where R = 1.
    r_inv: Option<u128>,
}

impl Lane {
    /// The arithmetic of a build for a modulus.
    pub fn new(info: &BuildInfo, modulus: Modulus<u128>) -> Self {
        let r_inv = match info.reduction {
            Reduction::Barrett => None,
            Reduction::Montgomery => {
                let steps = info.word_bits.div_ceil(info.montgomery_bits);
                // (m + 1) / 2 is the inverse of 2, for m is odd.
                let half = (modulus.value() >> 1) + 1;
                Some(modulus.pow(half, u128::from(steps * info.montgomery_bits)))
            }
        };
        Self { modulus, r_inv }
    }

    /// R modulo the modulus: the Montgomery factor of one operand of a product.
    pub fn factor(&self) -> u128 {
        self.r_inv.map_or(1 % self.modulus.value(), |r_inv| {
            self.modulus.inv_vt(r_inv).expect("R is a unit")
        })
    }

    /// -1 as a factor: replaces the one twiddle of the cyclic inverse whose negative the table lacks.
    pub fn minus_one(&self) -> u128 {
        self.modulus.neg(self.factor())
    }

    /// The product as the hardware gives it.
    pub fn mul(&self, a: u128, b: u128) -> u128 {
        let product = self.modulus.mul(a, b);
        self.r_inv
            .map_or(product, |r_inv| self.modulus.mul(product, r_inv))
    }
}
