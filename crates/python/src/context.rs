// SPDX-License-Identifier: Apache-2.0
//! Either scheme's context, for what both share.

use crate::bfv::BfvContext;
use crate::ckks::CkksContext;
use crate::words::Words;
use pyo3::prelude::*;
use rlwe::RlweParams;

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
    pub fn rlwe(&self) -> Words<RlweParams<u64>, RlweParams<u128>> {
        match self {
            Self::Bfv(context) => context.get().rlwe(),
            Self::Ckks(context) => Words::W64(context.get().params.rlwe().clone()),
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
