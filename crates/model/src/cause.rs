// SPDX-License-Identifier: Apache-2.0
// Generated from spec/registers.rdl by `python -m ringsmith.hw.registers`; do not edit.
//! Why the core stops, as the error register shows it.

/// Cause of a stop, with the number the error register shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum Cause {
    /// Illegal opcode or not in this build.
    #[error("illegal opcode or not in this build")]
    Opcode = 1,
    /// Ring degree out of range.
    #[error("ring degree out of range")]
    Degree = 2,
    /// Bad slot number.
    #[error("bad slot number")]
    Slot = 3,
    /// Bad modulus, constant or conversion index, never set, or a conversion of the other kind.
    #[error("bad modulus, constant or conversion index, never set, or a conversion of the other kind")]
    Index = 4,
    /// Illegal combination of slots.
    #[error("illegal combination of slots")]
    Combination = 5,
    /// Slot or twiddle table never written.
    #[error("slot or twiddle table never written")]
    Unwritten = 6,
    /// Bus error.
    #[error("bus error")]
    Bus = 7,
    /// Command queue overflow.
    #[error("command queue overflow")]
    Overflow = 8,
    /// Host buffer ends beyond the addresses of the data port.
    #[error("host buffer ends beyond the addresses of the data port")]
    Address = 9,
}

impl Cause {
    /// Every cause, by number.
    pub const ALL: [Self; 9] = [
        Self::Opcode,
        Self::Degree,
        Self::Slot,
        Self::Index,
        Self::Combination,
        Self::Unwritten,
        Self::Bus,
        Self::Overflow,
        Self::Address,
    ];
}
