// SPDX-License-Identifier: Apache-2.0
//! What a device is given of a program.

use std::collections::BTreeSet;

use polynomial::Graph;
use zq::Word;

/// Operations that a device takes, and what becomes of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// By name: `tensor`, `key-switch`, …
    pub operations: BTreeSet<String>,
    /// Whether the device is to do all there is to do with ciphertexts: a program of which the host would do something
    /// is refused, with what is lacking.
    pub alone: bool,
    /// Whether operands are loaded before the work and results stored after it, as far as slots allow: then cycles of
    /// the work are those between operands on the chip and results on the chip.
    pub resident: bool,
}

impl Offer {
    /// These operations; the host does the rest.
    pub fn new(operations: impl IntoIterator<Item = String>) -> Self {
        Self {
            operations: operations.into_iter().collect(),
            alone: false,
            resident: false,
        }
    }

    /// All of a program, by itself on the device with resident operands.
    pub fn resident<W: Word>(graph: &Graph<W>) -> Self {
        Self {
            alone: true,
            resident: true,
            ..Self::new(graph.tasks().iter().map(|task| task.name.to_owned()))
        }
    }

    /// Whether an operation is the device's.
    pub fn takes(&self, name: &str) -> bool {
        self.operations.contains(name)
    }
}
