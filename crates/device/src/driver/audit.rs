// SPDX-License-Identifier: Apache-2.0
//! Checksums of polynomials: every result is read back and its checksum compared with the one it must have.
//!
//! The expected polynomial comes from executing the instructions on the host's copy of the memory; so an operand word
//! that a slot has lost is caught as well as a wrong result or write.

use isa::{BuildInfo, Instruction, Op, TWIDDLE_SLOT, Unit};
use model::{Counters, Event, Memory, Polynomial, Profile, execute};

use crate::{DeviceError, Driver, Stop};

/// Checksum of a lane's coefficients: a polynomial in an odd constant modulo 2^128, so that places count.
pub fn checksum(words: &[u128]) -> u128 {
    const POINT: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    words.iter().fold(1, |sum: u128, word| {
        sum.wrapping_mul(POINT).wrapping_add(*word)
    })
}

/// The host's copy of the expected device memory.
pub(crate) struct Audit {
    memory: Memory,
    buffer: u32,
}

impl Audit {
    /// An audit that reads results back through a host buffer. Slots written before are not known to it.
    pub(crate) fn new(info: &BuildInfo, buffer: u32) -> Self {
        Self {
            memory: Memory::new(info.clone()),
            buffer,
        }
    }

    /// Forget everything, as a reset device does.
    pub(crate) fn forget(&mut self) {
        self.memory = Memory::new(self.memory.info.clone());
    }

    /// Execute instruction by instruction, each followed by the check of its result. What loads into the stream and
    /// what reads it are executed together.
    pub(crate) fn run(
        &mut self,
        driver: &mut Driver,
        program: &[Instruction],
        stop: Stop<'_>,
    ) -> Result<Profile, DeviceError> {
        let mut whole = Profile::default();
        let mut first = 0;
        while let Some(instruction) = program.get(first) {
            let last = match instruction.streams() {
                true => program[first..].iter().position(Instruction::reads_stream),
                false => None,
            };
            let group = &program[first..=first + last.unwrap_or(0)];
            for instruction in group {
                self.follow(driver, instruction)?;
            }
            let step = driver
                .execute(group, stop)
                .map_err(|error| placed(error, first))?;
            append(&mut whole, &step, first);
            for (place, instruction) in group.iter().enumerate() {
                self.compare(driver, instruction, first + place)?;
            }
            first += group.len();
        }
        Ok(whole)
    }

    /// Execute the next instruction on the copy.
    fn follow(&mut self, driver: &mut Driver, i: &Instruction) -> Result<(), DeviceError> {
        for index in 0..self.memory.moduli.len() {
            let moduli = driver.moduli(index as u8).map(<[_]>::to_vec);
            for (lane, modulus) in moduli.into_iter().flatten().enumerate() {
                self.memory.moduli[index][lane] = Some(modulus);
            }
        }
        self.memory.constants = driver.constants().to_vec();
        self.memory.conversions = driver.conversions().to_vec();
        self.memory.automorphisms = driver.automorphisms().to_vec();
        self.memory.digits = driver.digits().to_vec();
        if matches!(i.op, Op::Load) {
            let polynomial = driver.peek(i.buf_idx, i.n())?;
            self.memory.host.insert(i.buf_idx, polynomial);
        }
        if i.op == Op::Store {
            let zeros = self.memory.zeros();
            self.memory.host.insert(i.buf_idx, zeros);
        }
        // The device refuses the instruction too, with its index.
        let _ = execute(&mut self.memory, i);
        Ok(())
    }

    fn compare(
        &mut self,
        driver: &mut Driver,
        i: &Instruction,
        index: usize,
    ) -> Result<(), DeviceError> {
        let written: Vec<u8> = match i.op {
            Op::Store => vec![i.src_a],
            _ => i.writes().filter(|&slot| slot != TWIDDLE_SLOT).collect(),
        };
        for slot in written {
            let Ok(expected) = self.memory.read(slot, i.n()) else {
                continue;
            };
            let found = self.read_back(driver, slot, i)?;
            let differs = |lane: &usize| checksum(&expected[*lane]) != checksum(&found[*lane]);
            if let Some(lane) = (0..expected.len()).find(differs) {
                return Err(DeviceError::Checksum {
                    index,
                    text: i.to_string(),
                    slot,
                    lane,
                });
            }
        }
        Ok(())
    }

    fn read_back(
        &self,
        driver: &mut Driver,
        slot: u8,
        i: &Instruction,
    ) -> Result<Polynomial, DeviceError> {
        if i.op == Op::Store {
            return driver.peek(i.buf_idx, i.n());
        }
        let mut store = Instruction::new(Op::Store);
        (store.src_a, store.log2_n, store.buf_idx) = (slot, i.log2_n, self.buffer);
        driver.execute(&[store], &|| false)?;
        driver.peek(self.buffer, i.n())
    }
}

/// The error of a part of a program, at its place in the whole.
fn placed(error: DeviceError, place: usize) -> DeviceError {
    match error {
        DeviceError::Stopped { index, text, cause } => DeviceError::Stopped {
            index: place + index,
            text,
            cause,
        },
        DeviceError::Timeout {
            index,
            text,
            cycles,
        } => DeviceError::Timeout {
            index: place + index,
            text,
            cycles,
        },
        other => other,
    }
}

/// Put the timeline of a part behind the others'; `first` is its place in the program.
fn append(whole: &mut Profile, step: &Profile, first: usize) {
    let base = whole.counters.cycles;
    whole.events.extend(step.events.iter().map(|event| Event {
        index: first + event.index,
        start: base + event.start,
        end: base + event.end,
        ..*event
    }));
    whole.counters = Counters {
        cycles: base + step.counters.cycles,
        busy_compute: model::in_flight(&whole.events, Unit::Compute),
        busy_memory: model::in_flight(&whole.events, Unit::Memory),
        busy_rns: model::in_flight(&whole.events, Unit::Rns),
        busy_pointwise: model::in_flight(&whole.events, Unit::Pointwise),
        stall_hazard: whole.counters.stall_hazard + step.counters.stall_hazard,
        stall_unit: whole.counters.stall_unit + step.counters.stall_unit,
    };
}
