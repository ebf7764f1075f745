// SPDX-License-Identifier: Apache-2.0
//! How a program stops early: the causes of the error register.

use thiserror::Error;

/// Cause of a stop, with the number the error register shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[repr(u8)]
pub enum Cause {
    /// Illegal opcode, or not in this build.
    #[error("illegal opcode or not in this build")]
    Opcode = 1,
    /// Ring degree out of range.
    #[error("ring degree out of range")]
    Degree = 2,
    /// No such slot.
    #[error("bad slot number")]
    BadSlot = 3,
    /// Bad modulus or constant index, a modulus or conversion never written, or a conversion of the other kind.
    #[error("bad modulus, constant or conversion index, or never set")]
    BadIndex = 4,
    /// Slots that do not go together.
    #[error("illegal combination of slots")]
    Combination = 5,
    /// A slot is read that was never written.
    #[error("slot never written")]
    NeverWritten = 6,
    /// The host memory answered with an error.
    #[error("bus error")]
    Bus = 7,
    /// More commands than the queue holds.
    #[error("command queue overflow")]
    Overflow = 8,
}

impl Cause {
    /// The cause with a number of the error register.
    pub fn from_code(code: u8) -> Option<Self> {
        use Cause::*;
        [
            Opcode,
            Degree,
            BadSlot,
            BadIndex,
            Combination,
            NeverWritten,
            Bus,
            Overflow,
        ]
        .into_iter()
        .find(|cause| *cause as u8 == code)
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
