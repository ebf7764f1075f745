// SPDX-License-Identifier: Apache-2.0
//! The instruction table: fields, opcodes, operands, units.

mod field;
#[rustfmt::skip]
pub(crate) mod opcodes;
mod row;
#[rustfmt::skip]
mod table;

pub use field::Field;
pub use opcodes::{ISA_VERSION, Op, PROGRAM_WORDS, STREAM_SLOT, TWIDDLE_SLOT, ZERO_SLOT};
pub use row::{Modifier, Slot, Spec, Unit};
pub use table::TABLE;

/// Each operation's row of the table, by its opcode.
static ROWS: [Option<Spec>; 1 << u8::BITS] = {
    let mut rows = [None; 1 << u8::BITS];
    let mut i = 0;
    while i < TABLE.len() {
        rows[TABLE[i].op as usize] = Some(TABLE[i]);
        i += 1;
    }
    rows
};

impl Op {
    /// The operation's row of the table.
    pub fn spec(self) -> &'static Spec {
        let row = ROWS[self as usize].as_ref();
        row.expect("the generator writes one row per operation")
    }

    /// The operation with this opcode, if there is one.
    pub fn from_code(code: u8) -> Option<Op> {
        ROWS[usize::from(code)].as_ref().map(|spec| spec.op)
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
