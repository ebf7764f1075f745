// SPDX-License-Identifier: Apache-2.0
//! One instruction: its fields, its 64-bit word.

use crate::error::IsaError;
use crate::spec::opcodes::OPCODE;
use crate::spec::{Modifier, Op, STREAM_SLOT, Slot, ZERO_SLOT};

const SLOTS: [Slot; 4] = [Slot::Dst, Slot::SrcA, Slot::SrcB, Slot::SrcC];
const MODIFIERS: [Modifier; 5] = [
    Modifier::Log2N,
    Modifier::ModIdx,
    Modifier::Cyclic,
    Modifier::ConstIdx,
    Modifier::BufIdx,
];

/// One instruction. Slots it does not use are the zero slot, other unused fields 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Operation.
    pub op: Op,
    /// Destination slot.
    pub dst: u8,
    /// First source slot.
    pub src_a: u8,
    /// Second source slot.
    pub src_b: u8,
    /// Third source slot, or PMUL's slot for the upper halves.
    pub src_c: u8,
    /// log2 of the ring degree.
    pub log2_n: u8,
    /// Modulus index.
    pub mod_idx: u8,
    /// Cyclic instead of negacyclic ring.
    pub cyclic: bool,
    /// Constant index.
    pub const_idx: u8,
    /// Host buffer number.
    pub buf_idx: u32,
}

impl Instruction {
    /// An instruction with every slot the zero slot and every other field 0.
    pub fn new(op: Op) -> Self {
        let z = ZERO_SLOT;
        Self {
            op,
            dst: z,
            src_a: z,
            src_b: z,
            src_c: z,
            log2_n: 0,
            mod_idx: 0,
            cyclic: false,
            const_idx: 0,
            buf_idx: 0,
        }
    }

    /// Ring degree (2^log2_n).
    pub fn n(&self) -> usize {
        1 << self.log2_n
    }

    /// The slot number in a field.
    pub fn slot(&self, slot: Slot) -> u8 {
        match slot {
            Slot::Dst => self.dst,
            Slot::SrcA => self.src_a,
            Slot::SrcB => self.src_b,
            Slot::SrcC => self.src_c,
        }
    }

    /// Replace the slot number in a field.
    pub fn set_slot(&mut self, slot: Slot, number: u8) {
        match slot {
            Slot::Dst => self.dst = number,
            Slot::SrcA => self.src_a = number,
            Slot::SrcB => self.src_b = number,
            Slot::SrcC => self.src_c = number,
        }
    }

    /// The value of a modifier field.
    pub fn modifier(&self, modifier: Modifier) -> u64 {
        match modifier {
            Modifier::Log2N => self.log2_n.into(),
            Modifier::ModIdx => self.mod_idx.into(),
            Modifier::Cyclic => self.cyclic.into(),
            Modifier::ConstIdx => self.const_idx.into(),
            Modifier::BufIdx => self.buf_idx.into(),
        }
    }

    /// Replace a modifier field; `value` must fit the field.
    pub fn set_modifier(&mut self, modifier: Modifier, value: u64) {
        debug_assert!(value <= modifier.field().max());
        match modifier {
            Modifier::Log2N => self.log2_n = value as u8,
            Modifier::ModIdx => self.mod_idx = value as u8,
            Modifier::Cyclic => self.cyclic = value != 0,
            Modifier::ConstIdx => self.const_idx = value as u8,
            Modifier::BufIdx => self.buf_idx = value as u32,
        }
    }

    /// Whether it loads into the stream.
    pub fn streams(&self) -> bool {
        self.op == Op::Load && self.dst == STREAM_SLOT
    }

    /// Whether it reads the stream.
    pub fn reads_stream(&self) -> bool {
        matches!(self.op, Op::Pmodmul | Op::Pmac) && self.src_b == STREAM_SLOT
    }

    /// Slots it reads, the zero slot and the stream left out.
    pub fn reads(&self) -> impl Iterator<Item = u8> + '_ {
        self.op
            .spec()
            .reads
            .iter()
            .map(|&slot| self.slot(slot))
            .filter(|&slot| slot != ZERO_SLOT && slot != STREAM_SLOT)
    }

    /// Slots it writes its results to (the scratch of a transform and the stream not counted).
    pub fn writes(&self) -> impl Iterator<Item = u8> + '_ {
        self.op
            .spec()
            .writes
            .iter()
            .map(|&slot| self.slot(slot))
            .filter(|&slot| slot != STREAM_SLOT)
    }

    /// The 64-bit word. Values are cut to their fields; [`crate::check`] refuses those that do not fit.
    pub fn encode(&self) -> u64 {
        let spec = self.op.spec();
        let mut word = OPCODE.put(self.op as u64);
        for slot in SLOTS {
            let number = if spec.operands.contains(&slot) {
                self.slot(slot)
            } else {
                ZERO_SLOT
            };
            word |= slot.field().put(number.into());
        }
        for &modifier in spec.modifiers {
            word |= modifier.field().put(self.modifier(modifier));
        }
        word
    }

    /// Read a word; `index` is its place in the program, for the error.
    ///
    /// # Errors
    /// An opcode that does not exist, or a value in a field the instruction does not use.
    pub fn decode(word: u64, index: usize) -> Result<Self, IsaError> {
        let code = OPCODE.get(word) as u8;
        let op = Op::from_code(code).ok_or(IsaError::UnknownOpcode { index, code })?;
        let mut instruction = Self::new(op);
        for slot in SLOTS {
            instruction.set_slot(slot, slot.field().get(word) as u8);
        }
        for modifier in MODIFIERS {
            instruction.set_modifier(modifier, modifier.field().get(word));
        }
        if instruction.encode() != word {
            return Err(IsaError::StrayBits {
                index,
                mnemonic: op.spec().mnemonic,
                word,
            });
        }
        Ok(instruction)
    }
}

/// Encode a program.
pub fn encode(program: &[Instruction]) -> Vec<u64> {
    program.iter().map(Instruction::encode).collect()
}

/// Decode a program.
///
/// # Errors
/// As [`Instruction::decode`], for the first word that is not an instruction.
pub fn decode(words: &[u64]) -> Result<Vec<Instruction>, IsaError> {
    words
        .iter()
        .enumerate()
        .map(|(index, &word)| Instruction::decode(word, index))
        .collect()
}
