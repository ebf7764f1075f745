// SPDX-License-Identifier: Apache-2.0
//! The co-processor's instruction set: encode and decode, assemble and disassemble, check against a build,
//! draw random programs.
//!
//! The tables come from `spec/isa.yaml`; `docs/isa.md` is the manual.

pub mod check;
mod error;
#[rustfmt::skip]
mod facts;
#[rustfmt::skip]
mod info;
mod instruction;
mod random;
mod spec;
#[cfg(test)]
mod tests;
mod text;

pub use check::{Shape, State, check};
pub use error::IsaError;
pub use info::{BuildInfo, Host, InfoError, PortMemory, Reduction, RnsUnit};
pub use instruction::{Instruction, decode, encode};
pub use random::{Draw, Mix, Route, random_program};
pub use spec::{
    Field, ISA_VERSION, Modifier, Op, PROGRAM_WORDS, STREAM_SLOT, Slot, Spec, TABLE, TWIDDLE_SLOT,
    Unit, ZERO_SLOT, implemented_mask,
};
pub use text::{assemble, disassemble, slot_name};
