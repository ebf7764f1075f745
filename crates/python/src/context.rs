// SPDX-License-Identifier: Apache-2.0
//! Either scheme's context, for what both share.

use crate::ckks::CkksContext;
use crate::words::{Words, each};
use pyo3::prelude::*;
use rlwe::RlweParams;

/// A context of either scheme.
#[derive(FromPyObject, IntoPyObject)]
pub enum Context {
    /// CKKS.
    Ckks(Py<CkksContext>),
}

impl Context {
    /// The ring-LWE parameters.
    pub fn rlwe(&self) -> Words<RlweParams<u64>, RlweParams<u128>> {
        match self {
            Self::Ckks(context) => Words::W64(context.get().params.rlwe().clone()),
        }
    }

    /// Another reference to the same context.
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        match self {
            Self::Ckks(context) => Self::Ckks(context.clone_ref(py)),
        }
    }
}

/// The identity of a set, as hexadecimal digits.
pub fn fingerprint(params: &Words<RlweParams<u64>, RlweParams<u128>>) -> String {
    each!(params, p => p.fingerprint().to_string())
}
