// SPDX-License-Identifier: Apache-2.0
//! The model as a device.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isa::{BuildInfo, Instruction, State, Unit, decode};
use model::{
    Conversion, Counters, Digit, Event, Memory, Polynomial, Profile, execute, schedule_together,
};
use zq::Modulus;

use crate::{Device, DeviceError, Entry, Injection, Stop, check_room};

/// A core of a build that exists as its model only: results by executing the instructions, cycles by the latency
/// formulas. The cores of a device share the host's memory and the data port; programs that are submitted before one of
/// them is waited for begin together.
pub struct Modeled {
    info: BuildInfo,
    cores: Arc<Mutex<Cores>>,
    core: usize,
    counters: Counters,
}

/// The cores of a device and what they share.
struct Cores {
    /// Host buffers by number.
    host: BTreeMap<u32, Polynomial>,
    each: Vec<Core>,
    stalled: bool,
}

struct Core {
    /// All but the host buffers.
    memory: Memory,
    program: Vec<Instruction>,
    /// Of the program, once a round has begun.
    profile: Option<Profile>,
    /// Cycles of the next program in which results are faulty.
    faulty: std::ops::Range<u64>,
}

impl Core {
    fn new(info: &BuildInfo) -> Self {
        Self {
            memory: Memory::new(info.clone()),
            program: Vec::new(),
            profile: None,
            faulty: 0..0,
        }
    }

    /// The state that the schedule depends on.
    fn state(&self) -> State {
        let mut state = State::new(&self.memory.info);
        let shape = |conversion: &Option<Conversion>| conversion.as_ref().map(Conversion::shape);
        state.conversions = self.memory.conversions.iter().map(shape).collect();
        state
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

    /// Executes the program up to the instruction that never ends.
    fn execute(
        &mut self,
        profile: &Profile,
        hung: usize,
        stop: Stop<'_>,
    ) -> Result<(), DeviceError> {
        let program = std::mem::take(&mut self.program);
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
        self.program = program;
        Ok(())
    }
}

impl Cores {
    /// Gives the programs that wait their timelines.
    fn begin(&mut self, info: &BuildInfo) {
        let waits = |core: &Core| core.profile.is_none() && !core.program.is_empty();
        let states: Vec<State> = self.each.iter().map(Core::state).collect();
        let programs: Vec<(&State, &[Instruction])> = self
            .each
            .iter()
            .zip(&states)
            .filter(|(core, _)| waits(core))
            .map(|(core, state)| (state, &core.program[..]))
            .collect();
        let profiles = schedule_together(info, &programs);
        let waiting = self.each.iter_mut().filter(|core| waits(core));
        for (core, profile) in waiting.zip(profiles) {
            core.profile = Some(profile);
        }
    }
}

impl Modeled {
    /// Open the model of a build; its first core.
    ///
    /// # Errors
    /// [`DeviceError::Info`] if no build can be like that.
    pub fn open(info: BuildInfo) -> Result<Self, DeviceError> {
        let mut cores = Self::open_cores(info)?;
        Ok(cores.swap_remove(0))
    }

    /// As [`Modeled::open`], all cores.
    ///
    /// # Errors
    /// As [`Modeled::open`].
    pub fn open_cores(info: BuildInfo) -> Result<Vec<Self>, DeviceError> {
        info.validate()?;
        let count = info.cores as usize;
        let cores = Arc::new(Mutex::new(Cores {
            host: BTreeMap::new(),
            each: (0..count).map(|_| Core::new(&info)).collect(),
            stalled: false,
        }));
        let one = |core| Self {
            info: info.clone(),
            cores: Arc::clone(&cores),
            core,
            counters: Counters::default(),
        };
        Ok((0..count).map(one).collect())
    }

    fn cores(&self) -> MutexGuard<'_, Cores> {
        self.cores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a lane of a host buffer.
    fn with_lane<T>(
        &self,
        buffer: u32,
        lane: usize,
        f: impl FnOnce(&mut Vec<u128>) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let mut cores = self.cores();
        let lanes = cores.host.get_mut(&buffer);
        let words = lanes.and_then(|lanes| lanes.get_mut(lane));
        f(words.ok_or_else(|| {
            DeviceError::data(format!("host buffer {buffer}, lane {lane} does not exist"))
        })?)
    }
}

/// The first instruction that would wait for the host memory for ever, if that is stalled.
fn hangs(program: &[Instruction], is_stalled: bool) -> Option<usize> {
    let transfers = |i: &Instruction| matches!(i.op, isa::Op::Load | isa::Op::Store);
    program.iter().position(transfers).filter(|_| is_stalled)
}

impl Device for Modeled {
    fn info(&self) -> &BuildInfo {
        &self.info
    }

    fn allocate(&mut self, count: u32) -> Result<u32, DeviceError> {
        let mut cores = self.cores();
        let first = cores.host.len() as u32;
        check_room(&self.info, first, count)?;
        for buffer in first..first + count {
            let zeros = cores.each[self.core].memory.zeros();
            cores.host.insert(buffer, zeros);
        }
        Ok(first)
    }

    fn write(&mut self, buffer: u32, lane: usize, words: &[u128]) -> Result<(), DeviceError> {
        self.with_lane(buffer, lane, |target| {
            let room = target.len();
            let target = target.get_mut(..words.len());
            let target = target.ok_or_else(|| {
                DeviceError::data(format!("{} words, room for {room}", words.len()))
            })?;
            target.copy_from_slice(words);
            Ok(())
        })
    }

    fn read(&mut self, buffer: u32, lane: usize, n: usize) -> Result<Vec<u128>, DeviceError> {
        self.with_lane(buffer, lane, |source| {
            let words = source.get(..n);
            Ok(words
                .ok_or_else(|| DeviceError::data(format!("{n} words read of {}", source.len())))?
                .to_vec())
        })
    }

    fn set(&mut self, entry: Entry, lane: usize, value: u128) -> Result<(), DeviceError> {
        let memory = &mut self.cores().each[self.core].memory;
        match entry {
            Entry::Modulus(index) => {
                let modulus =
                    Modulus::new(value).map_err(|error| DeviceError::data(error.to_string()))?;
                memory.moduli[usize::from(index)][lane] = Some(modulus);
            }
            Entry::Constant(index) => memory.constants[lane][usize::from(index)] = value,
        }
        Ok(())
    }

    fn set_conversion(
        &mut self,
        number: u8,
        _base: u8,
        conversion: &Conversion,
    ) -> Result<(), DeviceError> {
        self.cores().each[self.core].memory.conversions[usize::from(number)] =
            Some(conversion.clone());
        Ok(())
    }

    fn set_automorphism(&mut self, number: u8, element: u16) -> Result<(), DeviceError> {
        let memory = &mut self.cores().each[self.core].memory;
        memory.automorphisms[usize::from(number)] = Some(element);
        Ok(())
    }

    fn set_digit(&mut self, number: u8, digit: &Digit) -> Result<(), DeviceError> {
        self.cores().each[self.core].memory.digits[usize::from(number)] = Some(digit.clone());
        Ok(())
    }

    fn submit(&mut self, words: &[u64]) -> Result<(), DeviceError> {
        let core = &mut self.cores().each[self.core];
        (core.program, core.profile) = (decode(words)?, None);
        Ok(())
    }

    fn wait(&mut self, limit: u64, stop: Stop<'_>) -> Result<Profile, DeviceError> {
        let mut guard = self.cores();
        let cores = &mut *guard;
        if cores.each[self.core].profile.is_none() {
            cores.begin(&self.info);
        }
        let core = &mut cores.each[self.core];
        let profile = core.profile.take().unwrap_or_default();
        let hung = hangs(&core.program, cores.stalled).unwrap_or(core.program.len());
        std::mem::swap(&mut cores.host, &mut core.memory.host);
        let outcome = core.execute(&profile, hung, stop);
        std::mem::swap(&mut cores.host, &mut core.memory.host);
        outcome?;
        let program = std::mem::take(&mut core.program);
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
        drop(guard);
        self.counters = profile.counters;
        Ok(profile)
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        let mut cores = self.cores();
        cores.stalled = false;
        cores.each[self.core] = Core::new(&self.info);
        Ok(())
    }

    fn inject(&mut self, fault: Injection) -> Result<(), DeviceError> {
        let mut cores = self.cores();
        match fault {
            Injection::Stall(on) => cores.stalled = on,
            Injection::FaultyResults {
                after_cycles,
                for_cycles,
            } => {
                cores.each[self.core].faulty =
                    after_cycles..after_cycles.saturating_add(for_cycles);
            }
        }
        Ok(())
    }
}
