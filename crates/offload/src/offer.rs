// SPDX-License-Identifier: Apache-2.0
//! What a device is given of a program.

use std::collections::BTreeSet;

/// Operations that a device takes, and what becomes of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// By name: `tensor`, `key-switch`, …
    pub operations: BTreeSet<String>,
    /// Whether the device is to do all there is to do with ciphertexts: a program of which the host would do something
    /// is refused, with what is lacking.
    pub alone: bool,
}

impl Offer {
    /// These operations; the host does the rest.
    pub fn new(operations: impl IntoIterator<Item = String>) -> Self {
        Self {
            operations: operations.into_iter().collect(),
            alone: false,
        }
    }

    /// Whether an operation is the device's.
    pub fn takes(&self, name: &str) -> bool {
        self.operations.contains(name)
    }
}
