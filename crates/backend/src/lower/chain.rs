// SPDX-License-Identifier: Apache-2.0
//! The primes of a set, and limbs over them.

use crate::Error;
use rlwe::RlweParams;
use rns::{Domain, RnsBasis, RnsPoly};
use zq::{AlignedVec, Word};

/// Limbs of the parts of a ciphertext.
pub type Parts<W> = Vec<Vec<Vec<W>>>;

/// The primes of a set.
#[derive(Clone)]
pub struct Chain<W: Word> {
    /// Data primes.
    pub q: RnsBasis<W>,
    /// Special primes.
    pub p: Option<RnsBasis<W>>,
    /// Data primes of a digit.
    pub digit_len: usize,
}

impl<W: Word> Chain<W> {
    /// Those of ring-LWE parameters.
    pub fn of(params: &RlweParams<W>) -> Self {
        Self {
            q: params.q().clone(),
            p: params.p().cloned(),
            digit_len: params.digit_len(),
        }
    }
}

/// The polynomials of limbs, each over the first data primes.
pub fn polynomials<W: Word, D: Domain>(
    params: &RlweParams<W>,
    parts: &Parts<W>,
) -> Result<Vec<RnsPoly<W, D>>, Error> {
    let polynomial = |limbs: &Vec<Vec<W>>| {
        let basis = params.q_prefix(limbs.len())?;
        let data = AlignedVec::from_slice(&limbs.concat());
        Ok(RnsPoly::from_data(&basis, data))
    };
    parts.iter().map(polynomial).collect()
}
