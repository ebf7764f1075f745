// SPDX-License-Identifier: Apache-2.0
//! The shape of the instruction table: fields, operands, units.

#[rustfmt::skip]
pub(crate) mod generated;

pub use generated::{ISA_VERSION, Op, PROGRAM_WORDS, STREAM_SLOT, TABLE, TWIDDLE_SLOT, ZERO_SLOT};

/// A bit field of the instruction word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Lowest bit.
    pub lsb: u32,
    /// Width in bits.
    pub bits: u32,
}

impl Field {
    /// Largest value that fits.
    pub const fn max(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// The field's value in `word`.
    pub const fn get(self, word: u64) -> u64 {
        (word >> self.lsb) & self.max()
    }

    /// `value` at the field's place; bits that do not fit are dropped.
    pub const fn put(self, value: u64) -> u64 {
        (value & self.max()) << self.lsb
    }
}

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
#[derive(Debug)]
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

impl Op {
    /// The operation's row of the table.
    pub fn spec(self) -> &'static Spec {
        TABLE
            .iter()
            .find(|spec| spec.op == self)
            .expect("the generator writes one row per operation")
    }

    /// The operation with this opcode, if there is one.
    pub fn from_code(code: u8) -> Option<Op> {
        TABLE
            .iter()
            .find(|spec| spec.op as u8 == code)
            .map(|spec| spec.op)
    }

    /// The operation with this mnemonic, if there is one.
    pub fn from_mnemonic(text: &str) -> Option<Op> {
        TABLE
            .iter()
            .find(|spec| spec.mnemonic == text)
            .map(|spec| spec.op)
    }

    /// Whether it is NTT or INTT, which use both work slots as scratch and read a twiddle table.
    pub fn is_transform(self) -> bool {
        matches!(self, Op::Ntt | Op::Intt)
    }

    /// The unit that executes it, in a build with or without a unit for pointwise instructions.
    pub fn unit(self, pointwise_unit: bool) -> Unit {
        match self.spec().unit {
            Unit::Compute if pointwise_unit && !self.is_transform() && self != Op::Pmul => {
                Unit::Pointwise
            }
            unit => unit,
        }
    }
}

/// Bit i set: the instruction with opcode i can be in a build.
pub fn implemented_mask() -> u64 {
    TABLE
        .iter()
        .filter(|spec| spec.implemented)
        .fold(0, |mask, spec| mask | 1 << spec.op as u8)
}
