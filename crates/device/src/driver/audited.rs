// SPDX-License-Identifier: Apache-2.0
//! Programs whose every result is read back and compared with the host's copy.

use isa::{Instruction, Op, TWIDDLE_SLOT, Unit};
use model::{Counters, Event, Polynomial, Profile, execute};

use super::Driver;
use super::audit::{Audit, checksum};
use crate::error::DeviceError;
use crate::interface::Stop;

impl Driver {
    /// Execute instruction by instruction, each followed by the check of its result. What loads into the stream and
    /// what reads it are executed together.
    pub(super) fn audited(
        &mut self,
        audit: &mut Audit,
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
                self.follow(audit, instruction)?;
            }
            let step = self
                .execute(group, stop)
                .map_err(|error| placed(error, first))?;
            append(&mut whole, &step, first);
            for (place, instruction) in group.iter().enumerate() {
                self.compare(audit, instruction, first + place)?;
            }
            first += group.len();
        }
        Ok(whole)
    }

    /// Execute the next instruction on the copy.
    fn follow(&mut self, audit: &mut Audit, i: &Instruction) -> Result<(), DeviceError> {
        for index in 0..audit.memory.moduli.len() {
            let moduli = self.moduli(index as u8).map(<[_]>::to_vec);
            for (lane, modulus) in moduli.into_iter().flatten().enumerate() {
                audit.memory.moduli[index][lane] = Some(modulus);
            }
        }
        audit.memory.constants = self.constants().to_vec();
        audit.memory.conversions = self.conversions().to_vec();
        audit.memory.automorphisms = self.automorphisms().to_vec();
        audit.memory.digits = self.digits().to_vec();
        if matches!(i.op, Op::Load) {
            let polynomial = self.peek(i.buf_idx, i.n())?;
            audit.memory.host.insert(i.buf_idx, polynomial);
        }
        if i.op == Op::Store {
            let zeros = audit.memory.zeros();
            audit.memory.host.insert(i.buf_idx, zeros);
        }
        // The device refuses the instruction too, with its index.
        let _ = execute(&mut audit.memory, i);
        Ok(())
    }

    /// Read back what an instruction has written, and hold its checksum against the copy's.
    fn compare(&mut self, audit: &Audit, i: &Instruction, index: usize) -> Result<(), DeviceError> {
        let written: Vec<u8> = match i.op {
            Op::Store => vec![i.src_a],
            _ => i.writes().filter(|&slot| slot != TWIDDLE_SLOT).collect(),
        };
        for slot in written {
            let Ok(expected) = audit.memory.read(slot, i.n()) else {
                continue;
            };
            let found = self.read_back(audit, slot, i)?;
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
        &mut self,
        audit: &Audit,
        slot: u8,
        i: &Instruction,
    ) -> Result<Polynomial, DeviceError> {
        if i.op == Op::Store {
            return self.peek(i.buf_idx, i.n());
        }
        let mut store = Instruction::new(Op::Store);
        (store.src_a, store.log2_n, store.buf_idx) = (slot, i.log2_n, audit.buffer);
        self.execute(&[store], &|| false)?;
        self.peek(audit.buffer, i.n())
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
