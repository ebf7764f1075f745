// SPDX-License-Identifier: Apache-2.0
//! A row of the instruction table.

use super::opcodes::Op;

/// A field that names a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Destination.
    Dst,
    /// First source.
    SrcA,
    /// Second source.
    SrcB,
    /// Third source, or second result of PMUL.
    SrcC,
}

/// A field that is written `name=value` in assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifier {
    /// log2 of the ring degree.
    Log2N,
    /// Modulus index.
    ModIdx,
    /// Cyclic instead of negacyclic ring.
    Cyclic,
    /// Constant index, or the number of a base conversion.
    ConstIdx,
    /// Host buffer number.
    BufIdx,
}

/// The unit that executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Butterflies and pointwise path.
    Compute,
    /// Copy engine and DMA.
    Memory,
    /// The sequencer itself.
    Control,
    /// Base conversion.
    Rns,
    /// Multipliers of their own for pointwise instructions, in builds that have them.
    Pointwise,
}

/// One row of the instruction table.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The operation; its discriminant is the opcode.
    pub op: Op,
    /// Name in assembly.
    pub mnemonic: &'static str,
    /// Unit that executes it.
    pub unit: Unit,
    /// False for reserved encodings, which no build has.
    pub implemented: bool,
    /// Slots in assembly order.
    pub operands: &'static [Slot],
    /// Operands that may be left out; they are then the zero slot.
    pub optional: &'static [Slot],
    /// Slots read.
    pub reads: &'static [Slot],
    /// Slots written.
    pub writes: &'static [Slot],
    /// Other fields it uses.
    pub modifiers: &'static [Modifier],
}
