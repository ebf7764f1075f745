// SPDX-License-Identifier: Apache-2.0
//! Checks a program against a build and the contents of slots and tables: the same messages for every device.

use crate::error::IsaError;
use crate::info::BuildInfo;
use crate::instruction::Instruction;
use crate::spec::{Modifier, Op, PROGRAM_WORDS, STREAM_SLOT, Slot, TWIDDLE_SLOT, Unit, ZERO_SLOT};

/// Shape of a base conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Input primes.
    pub inputs: u8,
    /// Whether it also reads residues modulo the output primes: SCALE, else LIFT.
    pub own: bool,
}

/// The device state that programs depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Per slot: log2 of the degree last written, None when never written or lost.
    pub slots: Vec<Option<u8>>,
    /// Per modulus index: whether every lane has its modulus.
    pub moduli: Vec<bool>,
    /// Per modulus index: log2 of the degree its twiddle table serves.
    pub tables: Vec<Option<u8>>,
    /// Per number of a base conversion: what was set.
    pub conversions: Vec<Option<Shape>>,
    /// Per number of an automorphism: whether it was set.
    pub automorphisms: Vec<bool>,
    /// Per number of a digit: whether it was set.
    pub digits: Vec<bool>,
    /// log2 of the degree of what is loaded into the stream and not read yet.
    pub stream: Option<u8>,
}

impl State {
    /// A device after reset: nothing written, nothing configured.
    pub fn new(info: &BuildInfo) -> Self {
        Self {
            slots: vec![None; info.slots() as usize],
            moduli: vec![false; info.moduli_slots as usize],
            tables: vec![None; info.moduli_slots as usize],
            conversions: vec![None; info.rns.map_or(0, |unit| unit.conversions as usize)],
            automorphisms: vec![false; info.moves as usize],
            digits: vec![false; info.moves as usize],
            stream: None,
        }
    }

    /// The state after `instruction`, which has passed the check.
    pub fn step(&mut self, info: &BuildInfo, instruction: &Instruction) {
        if instruction.streams() || instruction.reads_stream() {
            self.stream = instruction.streams().then_some(instruction.log2_n);
        }
        if instruction.op.is_transform() {
            self.slots[0] = None;
            self.slots[1] = None;
        }
        for slot in instruction.writes() {
            if slot != TWIDDLE_SLOT {
                self.slots[usize::from(slot)] = Some(instruction.log2_n);
                continue;
            }
            if info.twiddle_tables == 1 {
                self.tables.fill(None);
            }
            self.tables[usize::from(instruction.mod_idx)] = Some(instruction.log2_n);
        }
    }
}

/// Check a whole program and return the state it leaves.
///
/// # Errors
/// The first instruction that the build cannot execute, with the reason.
pub fn check(info: &BuildInfo, state: &State, program: &[Instruction]) -> Result<State, IsaError> {
    if program.len() > PROGRAM_WORDS {
        return Err(IsaError::TooLong {
            words: program.len(),
            limit: PROGRAM_WORDS,
        });
    }
    let mut state = state.clone();
    for (index, instruction) in program.iter().enumerate() {
        check_one(info, &state, instruction, index)?;
        state.step(info, instruction);
    }
    match (state.stream, program.last()) {
        (Some(_), Some(last)) => Err(IsaError::Operand {
            index: program.len() - 1,
            text: last.to_string(),
            what: "what was loaded into the stream is never read".to_owned(),
        }),
        _ => Ok(state),
    }
}

/// Check one instruction; `index` is its place in the program, for the error.
///
/// # Errors
/// The reason why the build cannot execute it.
pub fn check_one(
    info: &BuildInfo,
    state: &State,
    i: &Instruction,
    index: usize,
) -> Result<(), IsaError> {
    if !info.has(i.op) {
        return Err(IsaError::NotInBuild {
            index,
            mnemonic: i.op.spec().mnemonic,
        });
    }
    let checks = [
        check_degree,
        check_slots,
        check_ports,
        check_stream,
        check_written,
        check_modulus,
        check_conversion,
        check_move,
        check_transform,
    ];
    checks
        .iter()
        .try_for_each(|one| one(info, state, i))
        .map_err(|what| IsaError::Operand {
            index,
            text: i.to_string(),
            what,
        })
}

fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn uses(i: &Instruction, modifier: Modifier) -> bool {
    i.op.spec().modifiers.contains(&modifier)
}

fn check_degree(info: &BuildInfo, _: &State, i: &Instruction) -> Result<(), String> {
    if !uses(i, Modifier::Log2N) {
        return Ok(());
    }
    let least = 8.max(4 * info.butterflies as usize);
    require((least..=info.n_max()).contains(&i.n()), || {
        format!(
            "n = {} is beyond the build, which has n = {least}..{}",
            i.n(),
            info.n_max()
        )
    })
}

fn check_slots(info: &BuildInfo, _: &State, i: &Instruction) -> Result<(), String> {
    for &slot in i.op.spec().operands {
        let number = i.slot(slot);
        let written = i.op.spec().writes.contains(&slot);
        let streamed = info.stream
            && match slot {
                Slot::Dst => i.streams(),
                Slot::SrcB => i.reads_stream(),
                _ => false,
            };
        let special = (number == ZERO_SLOT && !written)
            || (number == TWIDDLE_SLOT && i.op == Op::Load)
            || (number == STREAM_SLOT && streamed);
        require(
            special || u32::from(number) < info.slots(),
            || match number {
                ZERO_SLOT => "the zero slot cannot be written".to_owned(),
                TWIDDLE_SLOT => "only load names the twiddle table".to_owned(),
                STREAM_SLOT if info.stream => {
                    "only load writes the stream; pmodmul and pmac read it as second operand"
                        .to_owned()
                }
                STREAM_SLOT => "the stream is not in this build".to_owned(),
                _ => format!(
                    "slot {number} does not exist, the build has slots 0..{}",
                    info.slots() - 1
                ),
            },
        )?;
    }
    Ok(())
}

/// A single-port slot gives one access per bank and cycle.
fn check_ports(info: &BuildInfo, _: &State, i: &Instruction) -> Result<(), String> {
    if i.op == Op::Pmul {
        require(i.dst != i.src_c, || {
            format!("both halves would go to slot {}", i.dst)
        })?;
    }
    if i.op == Op::Scale {
        require(i.src_a != i.src_b, || {
            format!("both sources would be slot {}", i.src_a)
        })?;
    }
    if matches!(i.op, Op::Memcpy | Op::Memcpyr | Op::Auto) {
        return require(i.dst != i.src_a, || {
            let done = if i.op == Op::Auto { "moved" } else { "copied" };
            format!("slot {} would be {done} onto itself", i.dst)
        });
    }
    // A transform has read its source before its last stage writes; the addend is read while it writes.
    let together = |slot: &u8| !i.op.is_transform() || *slot == i.src_c;
    for written in i.writes() {
        let clash = i.reads().filter(together).any(|read| read == written);
        require(!clash || info.is_dual_port(written), || {
            format!(
                "the result would replace an operand in slot {written}, which has a single port"
            )
        })?;
    }
    Ok(())
}

/// A load into the stream holds the memory unit until it is read.
fn check_stream(_: &BuildInfo, state: &State, i: &Instruction) -> Result<(), String> {
    if i.reads_stream() {
        let known = state
            .stream
            .ok_or("the stream is read but nothing was loaded into it")?;
        return require(known == i.log2_n, || {
            format!(
                "the stream brings {} coefficients, {} are read",
                1u32 << known,
                i.n()
            )
        });
    }
    let holds = matches!(i.op.spec().unit, Unit::Memory | Unit::Control);
    require(state.stream.is_none() || !holds, || {
        "what was loaded into the stream must be read before".to_owned()
    })
}

fn check_written(_: &BuildInfo, state: &State, i: &Instruction) -> Result<(), String> {
    for slot in i.reads() {
        let held = state.slots[usize::from(slot)];
        require(held.is_some(), || {
            format!("slot {slot} is read but was never written")
        })?;
        require(held >= Some(i.log2_n), || {
            let known = 1u32 << held.unwrap_or(0);
            format!("slot {slot} holds {known} coefficients, {} are read", i.n())
        })?;
    }
    Ok(())
}

fn check_modulus(info: &BuildInfo, state: &State, i: &Instruction) -> Result<(), String> {
    if uses(i, Modifier::ConstIdx) && i.op.spec().unit != Unit::Rns {
        require(u32::from(i.const_idx) < info.constants, || {
            format!(
                "constant {} does not exist, the build has {} constants",
                i.const_idx, info.constants
            )
        })?;
    }
    if !uses(i, Modifier::ModIdx) {
        return Ok(());
    }
    require(u32::from(i.mod_idx) < info.moduli_slots, || {
        format!(
            "modulus index {} does not exist, the build has {}",
            i.mod_idx, info.moduli_slots
        )
    })?;
    require(
        i.op == Op::Load || state.moduli[usize::from(i.mod_idx)],
        || format!("modulus {} was never set", i.mod_idx),
    )
}

fn check_conversion(_: &BuildInfo, state: &State, i: &Instruction) -> Result<(), String> {
    if !matches!(i.op, Op::Lift | Op::Scale) {
        return Ok(());
    }
    let (number, known) = (i.const_idx, state.conversions.len());
    require(usize::from(number) < known, || {
        format!("conversion {number} does not exist, the build has {known}")
    })?;
    let shape = state.conversions[usize::from(number)]
        .ok_or_else(|| format!("conversion {number} was never set"))?;
    require(shape.own == (i.op == Op::Scale), || {
        let other = if shape.own { "scale" } else { "lift" };
        format!("conversion {number} is one for {other}")
    })
}

fn check_move(_: &BuildInfo, state: &State, i: &Instruction) -> Result<(), String> {
    let (what, set) = match i.op {
        Op::Auto => ("automorphism", &state.automorphisms),
        Op::Decomp => ("digit", &state.digits),
        _ => return Ok(()),
    };
    let (number, known) = (i.const_idx, set.len());
    let found = set.get(usize::from(number)).copied();
    require(found.is_some(), || {
        format!("{what} {number} does not exist, the build has {known}")
    })?;
    require(found == Some(true), || {
        format!("{what} {number} was never set")
    })
}

fn check_transform(info: &BuildInfo, state: &State, i: &Instruction) -> Result<(), String> {
    if !i.op.is_transform() {
        return Ok(());
    }
    require(!i.cyclic || info.cyclic, || {
        "the cyclic form is not in this build".to_owned()
    })?;
    let table = state.tables[usize::from(i.mod_idx)];
    require(table == Some(i.log2_n), || match table {
        Some(log2_n) => format!(
            "the twiddle table of modulus {} is for n = {}",
            i.mod_idx,
            1u32 << log2_n
        ),
        None => format!(
            "the twiddle table of modulus {} was never loaded",
            i.mod_idx
        ),
    })?;
    if i.op == Op::Intt {
        let work = i.slot(Slot::SrcC) < 2;
        require(!work, || {
            format!(
                "slot {} is scratch of the transform and cannot be the addend",
                i.src_c
            )
        })?;
    }
    // The stages alternate between the work slots, so where the first must not write fixes where the last must not
    // read.
    if i.src_a < 2 && i.dst < 2 {
        let even = i.log2_n.is_multiple_of(2);
        require((i.src_a == i.dst) == even, || {
            let other = if even {
                "the same work slot"
            } else {
                "the other work slot"
            };
            format!(
                "with log2 n = {} a transform from work slot {} can end only in {other} or outside",
                i.log2_n, i.src_a
            )
        })?;
    }
    Ok(())
}
