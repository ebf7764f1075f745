// SPDX-License-Identifier: Apache-2.0
//! Random programs drawn from the instruction table: hazards of every kind, transfers beside compute.

use crate::check::{State, check_one};
use crate::info::BuildInfo;
use crate::instruction::Instruction;
use crate::spec::TABLE;
use crate::spec::{Modifier, Op, STREAM_SLOT, Slot, Spec, TWIDDLE_SLOT, ZERO_SLOT};

/// A small deterministic generator (xorshift64*), so that a failing program can be drawn again from its seed.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// A generator; any seed will do.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound` (> 0), uniform enough for choosing.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.bits() >> 16) % bound
    }
}

/// Modulus indices of a base conversion; residues in every lane.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Modulus index of the input primes.
    pub from: u8,
    /// Modulus index of the output primes.
    pub to: u8,
}

/// The instructions, slots and sizes that a random program may use.
#[derive(Clone, Debug)]
pub struct Mix {
    /// Instructions, closing stores not counted.
    pub length: usize,
    /// Ring degree, which the twiddle tables are for.
    pub log2_n: u8,
    /// Modulus indices whose moduli and tables are set.
    pub moduli: u8,
    /// Per number of a base conversion that is set.
    pub routes: Vec<Route>,
    /// Per number of a digit that is set; sources and lanes have primes of like size.
    pub digits: Vec<Route>,
    /// Automorphisms that are set, from number 0 on.
    pub automorphisms: u8,
    /// First host buffers: per modulus index one with residues of it.
    pub inputs: u32,
    /// Number of the first host buffer that may be overwritten.
    pub outputs: u32,
}

/// A slot's content: residues of one modulus, or raw words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Residues(u8),
    Raw,
}

/// Attempts to draw operands before another instruction is drawn: few suit a transform, which must not become rare.
const TRIES: usize = 64;

/// A random program that passes [`crate::check`] from `state` and never feeds a word that is not a residue to modular
/// arithmetic or a base conversion. It ends with a STORE of every slot that holds something,
/// to buffers from `mix.outputs` on.
///
/// Instructions come equally often, and transforms in both rings where the build has both.
///
/// Host buffer `m` < `mix.inputs` must hold residues of modulus index `m` in every lane.
pub fn random_program(info: &BuildInfo, state: &State, mix: &Mix, seed: u64) -> Vec<Instruction> {
    let mut draw = Draw::new(seed);
    let mut state = state.clone();
    let mut contents: Vec<Option<Content>> = vec![None; info.slots() as usize];
    let mut program = Vec::with_capacity(mix.length + contents.len());
    let mut scratch_outputs = mix.outputs + info.slots();
    // Modulus index of what is loaded into the stream.
    let mut streamed = 0;
    // What is loaded into the stream is read in the end.
    while program.len() < mix.length || state.stream.is_some() {
        let spec = &TABLE[draw.below(TABLE.len() as u64) as usize];
        let drawn = (0..TRIES)
            .map(|_| draw_instruction(spec, info, mix, &mut draw, scratch_outputs))
            .find(|i| {
                check_one(info, &state, i, 0).is_ok()
                    && feeds(i, mix, &contents)
                    && (!i.reads_stream() || i.mod_idx == streamed)
            });
        if let Some(instruction) = drawn {
            state.step(info, &instruction);
            if instruction.streams() {
                streamed = instruction.mod_idx;
            }
            learn(&instruction, mix, &mut contents);
            scratch_outputs += u32::from(instruction.op == Op::Store);
            program.push(instruction);
        }
    }
    for slot in 0..info.slots() {
        if state.slots[slot as usize].is_some() {
            let mut store = Instruction::new(Op::Store);
            (store.src_a, store.log2_n, store.buf_idx) =
                (slot as u8, mix.log2_n, mix.outputs + slot);
            program.push(store);
        }
    }
    program
}

fn draw_instruction(
    spec: &Spec,
    info: &BuildInfo,
    mix: &Mix,
    draw: &mut Draw,
    output: u32,
) -> Instruction {
    let mut instruction = Instruction::new(spec.op);
    for &slot in spec.operands {
        let zero = spec.reads.contains(&slot) && draw.below(8) == 0;
        let number = if zero {
            u64::from(ZERO_SLOT)
        } else {
            draw.below(info.slots().into())
        };
        instruction.set_slot(slot, number as u8);
    }
    for &modifier in spec.modifiers {
        let value = match modifier {
            Modifier::Log2N => mix.log2_n.into(),
            Modifier::ModIdx => draw.below(mix.moduli.into()),
            Modifier::Cyclic => draw.below(2),
            Modifier::ConstIdx => draw.below(match spec.op {
                Op::Auto => u64::from(mix.automorphisms.max(1)),
                Op::Decomp => mix.digits.len().max(1) as u64,
                Op::Lift | Op::Scale => mix.routes.len().max(1) as u64,
                _ => info.constants.into(),
            }),
            Modifier::BufIdx => 0,
        };
        instruction.set_modifier(modifier, value);
    }
    if info.stream && draw.below(2) == 0 {
        match spec.op {
            Op::Load => instruction.dst = STREAM_SLOT,
            Op::Pmodmul | Op::Pmac => instruction.src_b = STREAM_SLOT,
            _ => {}
        }
    }
    match spec.op {
        Op::Load => instruction.buf_idx = u32::from(instruction.mod_idx),
        Op::Store => instruction.buf_idx = output,
        _ => {}
    }
    instruction
}

/// Whether every modular operand holds residues of the instruction's modulus, or of those of its conversion.
fn feeds(i: &Instruction, mix: &Mix, contents: &[Option<Content>]) -> bool {
    let holds = |slot: u8, modulus: u8| {
        slot == ZERO_SLOT || contents[usize::from(slot)] == Some(Content::Residues(modulus))
    };
    match i.op {
        Op::Lift | Op::Scale => {
            let Route { from, to } = mix.routes[usize::from(i.const_idx)];
            return holds(i.src_a, from) && holds(i.src_b, to);
        }
        Op::Decomp => return holds(i.src_a, mix.digits[usize::from(i.const_idx)].from),
        _ => {}
    }
    let modular = i.op.spec().modifiers.contains(&Modifier::ModIdx);
    !modular || i.reads().all(|slot| holds(slot, i.mod_idx))
}

fn learn(i: &Instruction, mix: &Mix, contents: &mut [Option<Content>]) {
    let content = match i.op {
        Op::Pmul => Content::Raw,
        Op::Lift | Op::Scale => Content::Residues(mix.routes[usize::from(i.const_idx)].to),
        Op::Decomp => Content::Residues(mix.digits[usize::from(i.const_idx)].to),
        Op::Memcpy | Op::Memcpyr | Op::Auto if i.src_a == ZERO_SLOT => Content::Residues(0),
        Op::Memcpy | Op::Memcpyr | Op::Auto => {
            contents[usize::from(i.slot(Slot::SrcA))].unwrap_or(Content::Raw)
        }
        _ => Content::Residues(i.mod_idx),
    };
    for slot in i.writes().filter(|&slot| slot != TWIDDLE_SLOT) {
        contents[usize::from(slot)] = Some(content);
    }
}
