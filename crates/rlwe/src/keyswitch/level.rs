// SPDX-License-Identifier: Apache-2.0
//! The constants of key switching at one level.

use super::digit::DigitLift;
use super::division::Division;
use super::work_space::SwitchScratch;
use crate::Error;
use crate::params::{RlweParams, log2_product};
use rns::{RnsBasis, ScaleRounder};
use std::sync::Arc;
use zq::{Pool, Word};

/// Constants for ciphertexts over the first `l` data primes.
pub struct KeySwitchLevel<W: Word> {
    q: RnsBasis<W>,
    qp: RnsBasis<W>,
    pub(super) digits: Vec<DigitLift<W>>,
    pub(super) down: Option<ScaleRounder<W>>,
    /// Division by P, the product of the special primes.
    pub(super) special: Division<W>,
    /// Division by P and the last data prime, where that is not the only one.
    pub(super) rescale: Option<Division<W>>,
    /// No division: factors of addends of sums over Q·P.
    pub(super) undivided: Division<W>,
    log2_special: f64,
    /// Data primes of the set.
    data_primes: usize,
    /// Work space, shared by all levels.
    pub(super) scratch: Arc<Pool<SwitchScratch<W>>>,
}

impl<W: Word> KeySwitchLevel<W> {
    /// The constants of a set for its first `limbs` data primes, with work space from `scratch`.
    #[inline(never)]
    pub(crate) fn new(
        params: &RlweParams<W>,
        limbs: usize,
        scratch: Arc<Pool<SwitchScratch<W>>>,
    ) -> Result<Self, Error> {
        let (q, qp) = (params.q_prefix(limbs)?, params.qp_prefix(limbs)?);
        let digits = (0..limbs)
            .step_by(params.digit_len())
            .map(|start| DigitLift::new(&q, &qp, start..limbs.min(start + params.digit_len())))
            .collect::<Result<_, _>>()?;
        let down = params
            .p()
            .map(|p| ScaleRounder::mixed_radix(p, &q))
            .transpose()?;
        let log2_special = params.p().map_or(0.0, |p| log2_product(&p.values()));
        Ok(Self {
            special: Division::by_special(&qp, limbs)?,
            rescale: (limbs > 1)
                .then(|| Division::by_special_and_last(&qp, limbs))
                .transpose()?,
            undivided: Division::none(&qp, limbs),
            q,
            qp,
            digits,
            down,
            log2_special,
            data_primes: params.data_primes(),
            scratch,
        })
    }

    /// The data basis at this level.
    pub fn q(&self) -> &RnsBasis<W> {
        &self.q
    }

    /// The data basis, then the special basis.
    pub fn qp(&self) -> &RnsBasis<W> {
        &self.qp
    }

    /// Number of a prime of this level's Q·P in the set's.
    pub(super) fn index_in_set(&self, j: usize) -> usize {
        match j.checked_sub(self.q.len()) {
            None => j,
            Some(special) => self.data_primes + special,
        }
    }

    /// Number of digits.
    pub fn digit_count(&self) -> usize {
        self.digits.len()
    }

    /// Sizes of the digits in bits.
    pub fn log2_digits(&self) -> Vec<f64> {
        let bits = |i: usize| (self.q.modulus(i).value().to_u128() as f64).log2();
        self.digits
            .iter()
            .map(|d| d.own.clone().map(bits).sum())
            .collect()
    }

    /// Size of the special modulus in bits; 0 without one.
    pub fn log2_special(&self) -> f64 {
        self.log2_special
    }
}
