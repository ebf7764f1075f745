// SPDX-License-Identifier: Apache-2.0
// Generated from spec/isa.yaml by `python -m ringsmith.gen`; do not edit.
//! Opcodes, fields and the table of instructions.

use super::{Field, Modifier, Slot, Spec, Unit};

/// Version of the instruction set; the build's info block carries the same number.
pub const ISA_VERSION: u32 = 1;
/// The slot that reads as zero and is never written.
pub const ZERO_SLOT: u8 = 63;
/// The twiddle table of the instruction's modulus index, as a target of LOAD.
pub const TWIDDLE_SLOT: u8 = 62;
/// The stream, as a target of LOAD and the second operand of a product, in builds that have it.
pub const STREAM_SLOT: u8 = 61;
/// Longest program one submission takes.
pub const PROGRAM_WORDS: usize = 4096;

/// Which instruction.
pub const OPCODE: Field = Field { lsb: 0, bits: 6 };
/// Slot that receives the result.
pub const DST: Field = Field { lsb: 6, bits: 6 };
/// First source slot.
pub const SRC_A: Field = Field { lsb: 12, bits: 6 };
/// Second source slot.
pub const SRC_B: Field = Field { lsb: 18, bits: 6 };
/// Third source slot; for PMUL the slot that receives the upper halves.
pub const SRC_C: Field = Field { lsb: 24, bits: 6 };
/// log2 of the ring degree, 3..15; assembly writes n itself.
pub const LOG2_N: Field = Field { lsb: 30, bits: 4 };
/// Modulus index: which entry of each lane's modulus table.
pub const MOD_IDX: Field = Field { lsb: 34, bits: 4 };
/// 1: the cyclic ring x^n-1 instead of x^n+1 (transforms only).
pub const CYCLIC: Field = Field { lsb: 38, bits: 1 };
/// Entry of each lane's constant table; of LIFT and SCALE the conversion, of AUTO the automorphism, of DECOMP the
/// digit.
pub const CONST_IDX: Field = Field { lsb: 39, bits: 5 };
/// Host buffer number; address = base + buffer * polynomial bytes.
pub const BUF_IDX: Field = Field { lsb: 44, bits: 20 };

/// Operation of an instruction; the discriminant is the opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// Forward transform.
    Ntt = 1,
    /// Inverse transform, with a fused addition.
    Intt = 2,
    /// Coefficient-wise modular addition.
    Pmodadd = 3,
    /// Coefficient-wise modular subtraction.
    Pmodsub = 4,
    /// Coefficient-wise modular product.
    Pmodmul = 5,
    /// Coefficient-wise modular square.
    Pmodsqr = 6,
    /// Product with a constant of each lane, with a fused addition.
    Cmodmul = 7,
    /// Coefficient-wise product, not reduced.
    Pmul = 8,
    /// Coefficient-wise modular multiply and add.
    Pmac = 9,
    /// Copy a polynomial.
    Memcpy = 16,
    /// Copy a polynomial with bit-reversed indices.
    Memcpyr = 17,
    /// Host memory to slot.
    Load = 18,
    /// Slot to host memory.
    Store = 19,
    /// Wait for all units.
    Sync = 32,
    /// Automorphism x -> x^g of values.
    Auto = 40,
    /// Base conversion (HPS), centred.
    Lift = 41,
    /// Scale by t/D and round (HPS).
    Scale = 42,
    /// Words of other lanes, centred.
    Decomp = 43,
    /// Whole key switch, key streamed from host buffers.
    Keyswitch = 45,
}

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
