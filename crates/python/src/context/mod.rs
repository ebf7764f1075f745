// SPDX-License-Identifier: Apache-2.0
//! Either scheme's context, for what both share.

mod bfv;
mod ckks;

use crate::word_width::{WordWidth, each};
pub use bfv::BfvContext;
pub use ckks::CkksContext;
use pyo3::prelude::*;
use rlwe::{KeyGenerator, Randomness, RlweParams};

/// A context of either scheme.
#[derive(FromPyObject, IntoPyObject)]
pub enum Context {
    /// BFV.
    Bfv(Py<BfvContext>),
    /// CKKS.
    Ckks(Py<CkksContext>),
}

impl Context {
    /// The ring-LWE parameters.
    pub fn rlwe(&self) -> WordWidth<RlweParams<u64>, RlweParams<u128>> {
        match self {
            Self::Bfv(context) => context.get().rlwe(),
            Self::Ckks(context) => WordWidth::W64(context.get().params.rlwe().params().clone()),
        }
    }

    /// A generator of keys for this scheme's set.
    pub fn key_generator(
        &self,
        randomness: Randomness,
    ) -> WordWidth<KeyGenerator<u64>, KeyGenerator<u128>> {
        match self {
            Self::Ckks(context) => {
                WordWidth::W64(KeyGenerator::new(&context.get().params, randomness))
            }
            Self::Bfv(context) => match &context.get().params {
                WordWidth::W64(params) => WordWidth::W64(KeyGenerator::new(params, randomness)),
                WordWidth::W128(params) => WordWidth::W128(KeyGenerator::new(params, randomness)),
            },
        }
    }

    /// The exponents g of x -> x^g behind rotations of this scheme's slots, and behind conjugation or the row swap.
    pub fn galois_elements(&self, steps: &[i64], conjugate: bool) -> Vec<u64> {
        match self {
            Self::Ckks(context) => context.get().params.galois_elements(steps, conjugate),
            Self::Bfv(context) => {
                let n = each!(context.get().rlwe(), params => params.n());
                let identity = 1; // a rotation by nothing needs no key
                let rotations = steps
                    .iter()
                    .map(|step| rlwe::rotation_element(n, *step))
                    .filter(|g| *g != identity);
                rotations
                    .chain(conjugate.then(|| rlwe::conjugation_element(n)))
                    .collect()
            }
        }
    }

    /// Another reference to the same context.
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        match self {
            Self::Bfv(context) => Self::Bfv(context.clone_ref(py)),
            Self::Ckks(context) => Self::Ckks(context.clone_ref(py)),
        }
    }
}
