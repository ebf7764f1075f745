// SPDX-License-Identifier: Apache-2.0
//! Faults that stop a program early: the causes of the error register.

use thiserror::Error;

use crate::cause::Cause;

impl Cause {
    /// The cause with a number of the error register.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| *cause as u8 == code)
    }
}

/// A stop: its cause, and the instruction's place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("instruction {index}: {cause}")]
pub struct Fault {
    /// Why.
    pub cause: Cause,
    /// Which instruction, from 0.
    pub index: usize,
}

impl Fault {
    /// A fault whose place the caller fills in.
    pub(crate) fn new(cause: Cause) -> Self {
        Self { cause, index: 0 }
    }

    /// The same fault at a place.
    pub fn at(self, index: usize) -> Self {
        Self { index, ..self }
    }
}
