// SPDX-License-Identifier: Apache-2.0
// Generated from spec/isa.yaml by `python -m ringsmith.gen`; do not edit.
//! The table of instructions, and the fields of its operands.

use super::field::Field;
use super::opcodes::*;
use super::row::{Modifier, Slot, Spec, Unit};

impl Slot {
    /// The field of the word that holds this slot number.
    pub const fn field(self) -> Field {
        match self {
            Slot::Dst => DST,
            Slot::SrcA => SRC_A,
            Slot::SrcB => SRC_B,
            Slot::SrcC => SRC_C,
        }
    }
}

impl Modifier {
    /// The field of the word that holds it.
    pub const fn field(self) -> Field {
        match self {
            Modifier::Log2N => LOG2_N,
            Modifier::ModIdx => MOD_IDX,
            Modifier::Cyclic => CYCLIC,
            Modifier::ConstIdx => CONST_IDX,
            Modifier::BufIdx => BUF_IDX,
        }
    }
    /// Its name in assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Modifier::Log2N => "n",
            Modifier::ModIdx => "mod",
            Modifier::Cyclic => "cyclic",
            Modifier::ConstIdx => "const",
            Modifier::BufIdx => "buf",
        }
    }
}

/// Every instruction, in order of opcode.
pub const TABLE: [Spec; 19] = [
    Spec { op: Op::Ntt, mnemonic: "ntt", unit: Unit::Compute, implemented: true, operands: &[Slot::Dst, Slot::SrcA], optional: &[], reads: &[Slot::SrcA], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ModIdx, Modifier::Cyclic] },
    Spec { op: Op::Intt, mnemonic: "intt", unit: Unit::Compute, implemented: true, operands: &[Slot::Dst, Slot::SrcA, Slot::SrcC], optional: &[Slot::SrcC], reads: &[Slot::SrcA, Slot::SrcC], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ModIdx, Modifier::Cyclic] },
    Spec { op: Op::Pmodadd, mnemonic: "pmodadd", unit: Unit::Compute, implemented: true, operands: &[Slot::Dst, Slot::SrcA, Slot::SrcB], optional: &[], reads: &[Slot::SrcA, Slot::SrcB], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ModIdx] },
    Spec { op: Op::Pmodsub, mnemonic: "pmodsub", unit: Unit::Compute, implemented: true, operands: &[Slot::Dst, Slot::SrcA, Slot::SrcB], optional: &[], reads: &[Slot::SrcA, Slot::SrcB], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ModIdx] },
    Spec { op: Op::Pmodmul, mnemonic: "pmodmul", unit: Unit::Compute, implemented: true, operands: &[Slot::Dst, Slot::SrcA, Slot::SrcB], optional: &[], reads: &[Slot::SrcA, Slot::SrcB], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ModIdx] },
    Spec { op: Op::Pmodsqr, mnemonic: "pmodsqr", unit: Unit::Compute, implemented: true, operands: &[Slot::Dst, Slot::SrcA], optional: &[], reads: &[Slot::SrcA], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ModIdx] },
    Spec { op: Op::Cmodmul, mnemonic: "cmodmul", unit: Unit::Compute, implemented: true, operands: &[Slot::Dst, Slot::SrcA, Slot::SrcC], optional: &[Slot::SrcC], reads: &[Slot::SrcA, Slot::SrcC], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ModIdx, Modifier::ConstIdx] },
    Spec { op: Op::Pmul, mnemonic: "pmul", unit: Unit::Compute, implemented: true, operands: &[Slot::Dst, Slot::SrcC, Slot::SrcA, Slot::SrcB], optional: &[], reads: &[Slot::SrcA, Slot::SrcB], writes: &[Slot::Dst, Slot::SrcC], modifiers: &[Modifier::Log2N] },
    Spec { op: Op::Pmac, mnemonic: "pmac", unit: Unit::Compute, implemented: true, operands: &[Slot::Dst, Slot::SrcA, Slot::SrcB, Slot::SrcC], optional: &[], reads: &[Slot::SrcA, Slot::SrcB, Slot::SrcC], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ModIdx] },
    Spec { op: Op::Memcpy, mnemonic: "memcpy", unit: Unit::Memory, implemented: true, operands: &[Slot::Dst, Slot::SrcA], optional: &[], reads: &[Slot::SrcA], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N] },
    Spec { op: Op::Memcpyr, mnemonic: "memcpyr", unit: Unit::Memory, implemented: true, operands: &[Slot::Dst, Slot::SrcA], optional: &[], reads: &[Slot::SrcA], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N] },
    Spec { op: Op::Load, mnemonic: "load", unit: Unit::Memory, implemented: true, operands: &[Slot::Dst], optional: &[], reads: &[], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ModIdx, Modifier::BufIdx] },
    Spec { op: Op::Store, mnemonic: "store", unit: Unit::Memory, implemented: true, operands: &[Slot::SrcA], optional: &[], reads: &[Slot::SrcA], writes: &[], modifiers: &[Modifier::Log2N, Modifier::BufIdx] },
    Spec { op: Op::Sync, mnemonic: "sync", unit: Unit::Control, implemented: true, operands: &[], optional: &[], reads: &[], writes: &[], modifiers: &[] },
    Spec { op: Op::Auto, mnemonic: "auto", unit: Unit::Rns, implemented: true, operands: &[Slot::Dst, Slot::SrcA], optional: &[], reads: &[Slot::SrcA], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ConstIdx] },
    Spec { op: Op::Lift, mnemonic: "lift", unit: Unit::Rns, implemented: true, operands: &[Slot::Dst, Slot::SrcA], optional: &[], reads: &[Slot::SrcA], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ConstIdx] },
    Spec { op: Op::Scale, mnemonic: "scale", unit: Unit::Rns, implemented: true, operands: &[Slot::Dst, Slot::SrcA, Slot::SrcB], optional: &[], reads: &[Slot::SrcA, Slot::SrcB], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ConstIdx] },
    Spec { op: Op::Decomp, mnemonic: "decomp", unit: Unit::Rns, implemented: true, operands: &[Slot::Dst, Slot::SrcA], optional: &[], reads: &[Slot::SrcA], writes: &[Slot::Dst], modifiers: &[Modifier::Log2N, Modifier::ConstIdx] },
    Spec { op: Op::Keyswitch, mnemonic: "keyswitch", unit: Unit::Compute, implemented: false, operands: &[Slot::Dst, Slot::SrcC, Slot::SrcA], optional: &[], reads: &[Slot::SrcA], writes: &[Slot::Dst, Slot::SrcC], modifiers: &[Modifier::Log2N, Modifier::BufIdx] },
];
