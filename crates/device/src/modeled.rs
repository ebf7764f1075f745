// SPDX-License-Identifier: Apache-2.0
//! The model as a device.

use isa::{BuildInfo, Instruction, State, Unit, decode};
use model::{Conversion, Counters, Digit, Event, Memory, Profile, execute, schedule_from};
use zq::Modulus;

use crate::{Device, DeviceError, Entry, Injection, Stop};

/// A build that exists as its model only: results by executing the instructions, cycles by the latency formulas.
pub struct Modeled {
    memory: Memory,
    queue: Vec<u64>,
    counters: Counters,
    stalled: bool,
    /// Cycles of the next program in which results are faulty.
    faulty: std::ops::Range<u64>,
}

impl Modeled {
    /// Open the model of a build.
    ///
    /// # Errors
    /// [`DeviceError::Info`] if no build can be like that.
    pub fn open(info: BuildInfo) -> Result<Self, DeviceError> {
        info.validate()?;
        Ok(Self {
            memory: Memory::new(info),
            queue: Vec::new(),
            counters: Counters::default(),
            stalled: false,
            faulty: 0..0,
        })
    }

    fn lane(&mut self, buffer: u32, lane: usize) -> Result<&mut Vec<u128>, DeviceError> {
        let lanes = self.memory.host.get_mut(&buffer);
        lanes.and_then(|lanes| lanes.get_mut(lane)).ok_or_else(|| {
            DeviceError::data(format!("host buffer {buffer}, lane {lane} does not exist"))
        })
    }

    /// Invert what an injected fault inverts in an instruction's results.
    fn spoil(&mut self, i: &Instruction, event: &Event) {
        let overlaps = event.start < self.faulty.end && self.faulty.start < event.end;
        if !overlaps || event.unit != Unit::Compute {
            return;
        }
        let step = self.memory.info.butterflies as usize;
        for slot in i.writes() {
            let lanes = self.memory.slots[usize::from(slot)].iter_mut().flatten();
            lanes.for_each(|words| {
                words[..i.n()]
                    .iter_mut()
                    .step_by(step)
                    .for_each(|word| *word ^= 1)
            });
        }
    }

    /// The first instruction that would wait for the host memory for ever.
    fn hangs(&self, program: &[Instruction]) -> Option<usize> {
        let transfers = |i: &Instruction| matches!(i.op, isa::Op::Load | isa::Op::Store);
        program.iter().position(transfers).filter(|_| self.stalled)
    }
}

impl Device for Modeled {
    fn info(&self) -> &BuildInfo {
        &self.memory.info
    }

    fn allocate(&mut self, count: u32) -> Result<u32, DeviceError> {
        let first = self.memory.host.len() as u32;
        for buffer in first..first + count {
            let zeros = self.memory.zeros();
            self.memory.host.insert(buffer, zeros);
        }
        Ok(first)
    }

    fn write(&mut self, buffer: u32, lane: usize, words: &[u128]) -> Result<(), DeviceError> {
        let target = self.lane(buffer, lane)?;
        let room = target.len();
        let target = target.get_mut(..words.len());
        let target = target
            .ok_or_else(|| DeviceError::data(format!("{} words, room for {room}", words.len())))?;
        target.copy_from_slice(words);
        Ok(())
    }

    fn read(&mut self, buffer: u32, lane: usize, n: usize) -> Result<Vec<u128>, DeviceError> {
        let source = self.lane(buffer, lane)?;
        let words = source.get(..n);
        Ok(words
            .ok_or_else(|| DeviceError::data(format!("{n} words read of {}", source.len())))?
            .to_vec())
    }

    fn set(&mut self, entry: Entry, lane: usize, value: u128) -> Result<(), DeviceError> {
        match entry {
            Entry::Modulus(index) => {
                let modulus =
                    Modulus::new(value).map_err(|error| DeviceError::data(error.to_string()))?;
                self.memory.moduli[usize::from(index)][lane] = Some(modulus);
            }
            Entry::Constant(index) => self.memory.constants[lane][usize::from(index)] = value,
        }
        Ok(())
    }

    fn set_conversion(
        &mut self,
        number: u8,
        _base: u8,
        conversion: &Conversion,
    ) -> Result<(), DeviceError> {
        self.memory.conversions[usize::from(number)] = Some(conversion.clone());
        Ok(())
    }

    fn set_automorphism(&mut self, number: u8, element: u16) -> Result<(), DeviceError> {
        self.memory.automorphisms[usize::from(number)] = Some(element);
        Ok(())
    }

    fn set_digit(&mut self, number: u8, digit: &Digit) -> Result<(), DeviceError> {
        self.memory.digits[usize::from(number)] = Some(digit.clone());
        Ok(())
    }

    fn submit(&mut self, words: &[u64]) -> Result<(), DeviceError> {
        self.queue = words.to_vec();
        Ok(())
    }

    fn wait(&mut self, limit: u64, stop: Stop<'_>) -> Result<Profile, DeviceError> {
        let program = decode(&std::mem::take(&mut self.queue))?;
        let mut state = State::new(&self.memory.info);
        let shape = |conversion: &Option<Conversion>| conversion.as_ref().map(Conversion::shape);
        state.conversions = self.memory.conversions.iter().map(shape).collect();
        let profile = schedule_from(&self.memory.info, &state, &program);
        let hung = self.hangs(&program).unwrap_or(program.len());
        for (index, instruction) in program[..hung].iter().enumerate() {
            if stop() {
                return Err(DeviceError::Interrupted);
            }
            execute(&mut self.memory, instruction).map_err(|fault| DeviceError::Stopped {
                index,
                text: instruction.to_string(),
                cause: fault.cause,
            })?;
            self.spoil(instruction, &profile.events[index]);
        }
        let late = profile
            .events
            .iter()
            .find(|event| event.index == hung || event.end > limit);
        if let Some(event) = late {
            let text = program[event.index].to_string();
            return Err(DeviceError::Timeout {
                index: event.index,
                text,
                cycles: limit,
            });
        }
        self.counters = profile.counters;
        Ok(profile)
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        let host = std::mem::take(&mut self.memory.host);
        self.memory = Memory {
            host,
            ..Memory::new(self.memory.info.clone())
        };
        (self.queue, self.stalled, self.faulty) = (Vec::new(), false, 0..0);
        Ok(())
    }

    fn inject(&mut self, fault: Injection) -> Result<(), DeviceError> {
        match fault {
            Injection::Stall(on) => self.stalled = on,
            Injection::FaultyResults {
                after_cycles,
                for_cycles,
            } => {
                self.faulty = after_cycles..after_cycles.saturating_add(for_cycles);
            }
        }
        Ok(())
    }
}
