// SPDX-License-Identifier: Apache-2.0
//! Both halves of a key switch in the lanes of a device.

use super::chain::Chain;
use super::shape::Shape;
use crate::Error;
use ::polynomial::{Form, Graph};
use zq::Word;

/// How the two halves of a key switch share the lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Halves {
    /// One after the other.
    InTurn,
    /// Lanes hold all primes, special ones too: the halves are divided together.
    DividedTogether,
    /// The same, and the special primes of both, these numbers, stand together in a section of their own.
    SpecialTogether(Vec<u16>),
    /// Lanes hold all primes twice: the halves are computed at once.
    Mirrored,
}

impl Halves {
    /// For a shape of which moves convert the bases; the special primes stand beside the data primes, so that one
    /// instruction works on all.
    /// `form` is that of ciphertexts between steps.
    pub(super) fn of<W: Word>(
        graph: &mut Graph<W>,
        chain: &Chain<W>,
        shape: Shape,
        form: Form,
    ) -> Result<Self, Error> {
        let Some(p) = &chain.p else {
            return Ok(Self::InTurn);
        };
        let all = graph.basis(&chain.q.concat(p)?);
        let special = &all[chain.q.len()..];
        Ok(if shape.digit_major || all.len() > shape.lanes {
            Self::InTurn
        } else if 2 * all.len() <= shape.lanes {
            Self::Mirrored
        } else if is_special_together(shape, special.len(), form) {
            Self::SpecialTogether(graph.repeated(&special.repeat(2)))
        } else {
            Self::DividedTogether
        })
    }

    /// How often digits stand side by side.
    pub(super) fn sides(&self) -> usize {
        match self {
            Self::Mirrored => 2,
            _ => 1,
        }
    }

    /// The special primes of both halves where they stand together.
    pub(super) fn special(&self) -> Vec<u16> {
        match self {
            Self::SpecialTogether(special) => special.clone(),
            _ => Vec::new(),
        }
    }
}

/// Whether the special primes of both halves fit a section of their own. Only where ciphertexts are values: else all
/// limbs of each sum are transformed before the division.
fn is_special_together(shape: Shape, special: usize, form: Form) -> bool {
    form == Form::Values && 2 * special <= shape.lanes && shape.tables > 1
}
