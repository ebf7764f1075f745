// SPDX-License-Identifier: Apache-2.0
//! Homomorphic operations. Names, codes, operands and the rules for results come from `spec/operations.yaml`; what
//! engines, noise, costs and values in the clear make of an operation is one exhaustive `match` in a file of theirs.

mod attributes;
mod facts;
#[rustfmt::skip]
mod table;

pub use attributes::{Attribute, Attributes, Misfit, Plaintext, Promise};
pub use facts::{Facts, Key, Level, Parts, Scale};
pub use table::{Kind, Operation};

impl Operation {
    /// Its name in reports and listings.
    pub fn name(&self) -> &'static str {
        self.facts().name
    }

    /// What is known of its kind.
    pub fn facts(&self) -> &'static Facts {
        self.kind().facts()
    }

    /// Whether it is a ciphertext that the client sends.
    pub fn is_input(&self) -> bool {
        self.facts().level == Level::Top
    }

    /// Whether the evaluator encrypts, which draws randomness.
    pub fn encrypts(&self) -> bool {
        self.facts().key == Key::Public
    }

    /// Whether it is a refresh by the program's bootstrapping.
    pub fn refreshes(&self) -> bool {
        self.facts().key == Key::Bootstrapping
    }

    /// Its plaintext operand.
    pub fn plaintext(&self) -> Option<Plaintext> {
        self.attributes().plaintext
    }

    /// The number of its linear transform.
    pub fn transform(&self) -> Option<u32> {
        self.attributes().transform
    }
}

impl Kind {
    /// What is known of the kind.
    pub fn facts(self) -> &'static Facts {
        &table::TABLE[self as usize]
    }

    /// The kind with that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.facts().name == name)
    }
}
