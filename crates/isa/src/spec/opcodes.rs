// SPDX-License-Identifier: Apache-2.0
// Generated from spec/isa.yaml by `python -m ringsmith.gen`; do not edit.
//! Opcodes and fields of the instruction word.

use super::field::Field;

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
