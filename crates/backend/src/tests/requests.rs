// SPDX-License-Identifier: Apache-2.0
//! What the tests ask of backends.

use super::reference::Client;
use crate::{Inputs, Keys, Request};
use program::Program;
use program::expression::Numbers;
use rlwe::Seed;

/// A run on ciphertexts as they travel. Its encryptions of zero are those of the walk.
pub fn request<'a>(
    program: &'a Program,
    keys: &'a Keys,
    inputs: &'a [&'a [u8]],
    plain: &'a [Numbers],
) -> Request<'a> {
    Request {
        program,
        keys,
        inputs: Inputs::Bytes(inputs),
        plain,
        seed: Seed::from_text("zeros"),
    }
}

/// One plain argument, 1 in all slots.
pub fn ones(program: &Program) -> [Numbers; 1] {
    let slots = program.parameters.slots();
    [match program.parameters.plain_modulus() {
        Some(_) => Numbers::Integers(vec![1; slots]),
        None => Numbers::Reals(vec![1.0; slots]),
    }]
}

impl Client {
    /// Its ciphertexts, lent.
    pub fn lent(&self) -> Vec<&[u8]> {
        self.inputs.iter().map(Vec::as_slice).collect()
    }
}
