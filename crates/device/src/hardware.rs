// SPDX-License-Identifier: Apache-2.0
//! Generated RTL as a device, under Verilator or on a board: everything goes through registers and host memory.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use isa::{BuildInfo, Host, Instruction, Op, PortMemory, Unit};
use model::{Cause, Conversion, Counters, Digit, Event, Profile};

use crate::axi::{AxiHost, UioAddress, XdmaAddress};
use crate::board::Board;
use crate::controller::{self, Controller, Round};
use crate::controller_registers as c;
use crate::info_block::{bit, field, read_info};
use crate::interface::{LinkUse, PortUse};
use crate::registers as r;
use crate::serial::SerialHost;
use crate::simulator::Simulator;
use crate::tables::Write;
use crate::transport::{Ending, RawEvent, Transport};
use crate::{Device, DeviceError, Entry, Injection, Stop, check_room};

/// A core of a device behind its registers. The cores of a device share the host's memory and the clock:
/// while one is waited for, the others work too.
pub struct Hardware {
    board: Arc<Mutex<Board>>,
    core: usize,
    info: BuildInfo,
    program: Vec<u64>,
    /// Instructions finished before the present program, since clear.
    base: u32,
    before: Counters,
    counters: Counters,
    /// Cycles in which units other than the memory unit worked, of all programs.
    busy: u64,
}

impl Hardware {
    /// Load a simulator library and open the device in it, with a memory behind its data port and firmware for its
    /// controller, if it has one; its first core.
    ///
    /// # Errors
    /// No such library, or its registers are not those of a co-processor this driver knows; firmware that is missing or
    /// does not fit.
    pub fn open(
        path: &Path,
        memory: PortMemory,
        firmware: &[u8],
        options: &str,
    ) -> Result<Self, DeviceError> {
        let cores = Self::open_cores(path, memory, firmware, options)?.into_iter();
        Ok(cores.take(1).next().expect("a build has a core at least"))
    }

    /// As [`Hardware::open`], all cores.
    ///
    /// # Errors
    /// As [`Hardware::open`].
    pub fn open_cores(
        path: &Path,
        memory: PortMemory,
        firmware: &[u8],
        options: &str,
    ) -> Result<Vec<Self>, DeviceError> {
        let options = format!(
            "read_latency={};write_latency={};rate={};{options}",
            memory.read_latency, memory.write_latency, memory.bytes_per_kilocycle
        );
        let mut simulator = Simulator::open(path, &options)?;
        simulator.reset()?;
        Self::reached(Box::new(simulator), memory, firmware)
    }

    /// Open the board at a serial port. `patience`: time that it may take to begin an answer.
    ///
    /// # Errors
    /// No such port, another program has it, nothing right answers, or no co-processor that this driver knows.
    pub fn open_serial(
        port: &Path,
        baud: u32,
        patience: Duration,
    ) -> Result<Vec<Self>, DeviceError> {
        let mut host = SerialHost::open(port, baud, patience)?;
        host.reset()?;
        Self::reached(Box::new(host), PortMemory::IDEAL, &[])
    }

    /// Open the board behind UIO; `name` stands in messages.
    ///
    /// # Errors
    /// No such device or buffer, another program has it, or no co-processor that this driver knows is behind it or
    /// reaches the buffer.
    pub fn open_uio(name: &str, address: &UioAddress) -> Result<Vec<Self>, DeviceError> {
        let mut host = AxiHost::uio(name, address)?;
        host.reset()?;
        Self::reached(Box::new(host), PortMemory::IDEAL, &[])
    }

    /// Open the card behind XDMA; `name` stands in messages.
    ///
    /// # Errors
    /// As [`Hardware::open_uio`].
    pub fn open_xdma(name: &str, address: &XdmaAddress) -> Result<Vec<Self>, DeviceError> {
        let mut host = AxiHost::xdma(name, address)?;
        host.reset()?;
        Self::reached(Box::new(host), PortMemory::IDEAL, &[])
    }

    /// The cores of a device that has been reset.
    fn reached(
        mut transport: Box<dyn Transport>,
        memory: PortMemory,
        firmware: &[u8],
    ) -> Result<Vec<Self>, DeviceError> {
        let mut info = read_info(|address| transport.read_register(address))?;
        info.port_memory = memory;
        info.validate()?;
        let board = Arc::new(Mutex::new(Board::new(transport, info.cores as usize)));
        if info.controller {
            let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
            for core in 0..info.cores as usize {
                let words = board.read_register(core, c::CONTROLLER)?;
                let words = field(words, c::CONTROLLER_WORDS) as usize;
                board.control(core, Controller::new(firmware, words)?);
            }
        }
        let core = |core| Self {
            board: Arc::clone(&board),
            core,
            info: info.clone(),
            program: Vec::new(),
            base: 0,
            before: Counters::default(),
            counters: Counters::default(),
            busy: 0,
        };
        Ok((0..info.cores as usize).map(core).collect())
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_register(&self, address: u32) -> Result<u32, DeviceError> {
        self.board().read_register(self.core, address)
    }

    fn write_register(&self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.board().write_register(self.core, address, value)
    }

    fn address(&self, buffer: u32, lane: usize) -> Result<u64, DeviceError> {
        if buffer >= self.board().buffers || lane >= self.info.lanes as usize {
            return Err(DeviceError::data(format!(
                "host buffer {buffer}, lane {lane} does not exist"
            )));
        }
        let offset = u64::from(buffer) * self.info.buffer_bytes() as u64;
        Ok(offset + self.info.lane_start(lane) as u64)
    }

    /// Distance from the first to the last of a lane's `bytes`, including the interleaved pieces of other lanes.
    fn span(&self, bytes: usize) -> usize {
        let piece = self.info.piece() * self.info.word_bytes();
        match bytes.div_ceil(piece) {
            0 => 0,
            pieces => (pieces - 1) * (self.info.row_bytes() - piece) + bytes,
        }
    }

    /// Fill (part of) a table entry.
    fn fill(&self, lane: u32, (kind, index, words): &Write) -> Result<(), DeviceError> {
        let address = (index << r::TABLE_ADDRESS_INDEX.0)
            | (lane << r::TABLE_ADDRESS_LANE.0)
            | (kind << r::TABLE_ADDRESS_KIND.0);
        self.write_register(r::TABLE_ADDRESS, address)?;
        for (word, &value) in (0..).zip(words) {
            self.write_register(r::TABLE_DATA + 4 * word, value)?;
        }
        self.write_register(r::CONTROL, bit(r::CONTROL_TABLE_WRITE))
    }

    fn counter(&self, address: u32) -> Result<u64, DeviceError> {
        let low = self.read_register(address)?;
        let high = self.read_register(address + 4)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    fn snapshot(&self) -> Result<Counters, DeviceError> {
        self.write_register(r::CONTROL, bit(r::CONTROL_SNAPSHOT))?;
        Ok(Counters {
            cycles: self.counter(r::CYCLES)?,
            busy_compute: self.counter(r::BUSY_COMPUTE)?,
            busy_memory: self.counter(r::BUSY_MEMORY)?,
            busy_rns: self.counter(r::BUSY_RNS)?,
            busy_pointwise: self.counter(r::BUSY_POINTWISE)?,
            stall_hazard: self.counter(r::STALL_HAZARD)?,
            stall_unit: self.counter(r::STALL_UNIT)?,
        })
    }

    fn text(&self, index: usize) -> String {
        let word = self.program.get(index).copied().unwrap_or_default();
        Instruction::decode(word, index).map_or_else(|error| error.to_string(), |i| i.to_string())
    }

    /// The program's timeline from the recorded events, cycle 0 at the first start of all programs of its round.
    fn profile(&mut self) -> Result<Profile, DeviceError> {
        let (zero, raw) = self.board().take_events(self.core)?;
        let mut ends: HashMap<u32, u64> = HashMap::new();
        for event in raw.iter().filter(|event| event.end == 1) {
            ends.insert(event.index, event.cycle);
        }
        let mine = |event: &&RawEvent| event.end == 0 && event.index >= self.base;
        let mut events: Vec<Event> = raw
            .iter()
            .filter(mine)
            .filter_map(|start| {
                let end = *ends.get(&start.index)?;
                let op = Op::from_code(start.opcode)?;
                let unit = self.info.unit(op);
                Some(Event {
                    index: (start.index - self.base) as usize,
                    op,
                    unit,
                    start: start.cycle - zero,
                    end: end - zero,
                })
            })
            .collect();
        events.sort_by_key(|event| event.index);
        let after = self.snapshot()?;
        let busy = |counters: &Counters| {
            counters.busy_compute + counters.busy_rns + counters.busy_pointwise
        };
        let worked = busy(&after).saturating_sub(busy(&self.before));
        self.busy += worked;
        self.counters = Counters {
            // Without a record of its instructions a board tells the cycles in which it computed.
            cycles: events.iter().map(|event| event.end).max().unwrap_or(worked),
            busy_compute: model::in_flight(&events, Unit::Compute),
            busy_memory: model::in_flight(&events, Unit::Memory),
            busy_rns: model::in_flight(&events, Unit::Rns),
            busy_pointwise: model::in_flight(&events, Unit::Pointwise),
            stall_hazard: after.stall_hazard - self.before.stall_hazard,
            stall_unit: after.stall_unit - self.before.stall_unit,
        };
        self.before = after;
        Ok(Profile {
            events,
            counters: self.counters,
        })
    }

    fn stopped(&self) -> Result<DeviceError, DeviceError> {
        if self.info.controller {
            let cause = field(
                self.read_register(c::CONTROLLER_ERROR)?,
                c::CONTROLLER_ERROR_CAUSE,
            );
            if cause != controller::STOP_COPROCESSOR {
                let address = self.read_register(c::CONTROLLER_ERROR_ADDRESS)?;
                return Ok(controller::stopped(cause, address));
            }
        }
        let code = field(self.read_register(r::ERROR)?, r::ERROR_CAUSE) as u8;
        let index = self.read_register(r::ERROR_INDEX)?.wrapping_sub(self.base) as usize;
        let text = self.text(index);
        Ok(match Cause::from_code(code) {
            Some(cause) => DeviceError::Stopped { index, text, cause },
            None => DeviceError::Foreign {
                what: format!("error register shows cause {code}"),
            },
        })
    }

    /// The oldest instruction that has not ended. SYNC leaves no record: it is over if a later one has started.
    fn hung(&self, cycles: u64) -> Result<DeviceError, DeviceError> {
        let (_, events) = self.board().take_events(self.core)?;
        if self.board().transport.port().is_some() {
            let index = self.read_register(r::RETIRED)?.wrapping_sub(self.base) as usize;
            let text = self.text(index);
            return Ok(DeviceError::Timeout {
                index,
                text,
                cycles,
            });
        }
        let base = self.base;
        let ended = |index: usize| {
            events
                .iter()
                .any(|e| e.end == 1 && e.index == base + index as u32)
        };
        let passed = |index: usize| events.iter().any(|e| e.index > base + index as u32);
        let sync = Instruction::new(Op::Sync).encode();
        let over = |index: usize| ended(index) || (self.program[index] == sync && passed(index));
        let index = (0..self.program.len())
            .find(|&index| !over(index))
            .unwrap_or(0);
        Ok(DeviceError::Timeout {
            index,
            text: self.text(index),
            cycles,
        })
    }
}

impl Device for Hardware {
    fn info(&self) -> &BuildInfo {
        &self.info
    }

    fn allocate(&mut self, count: u32) -> Result<u32, DeviceError> {
        let mut board = self.board();
        let first = board.buffers;
        check_room(&self.info, first, count)?;
        let bytes = u64::from(first + count) * self.info.buffer_bytes() as u64;
        board.transport.reserve(bytes)?;
        board.buffers += count;
        Ok(first)
    }

    fn write(&mut self, buffer: u32, lane: usize, words: &[u128]) -> Result<(), DeviceError> {
        let (address, bytes) = (self.address(buffer, lane)?, self.info.word_bytes());
        if words.len() > self.info.n_max() {
            return Err(DeviceError::data(format!(
                "{} words, room for {}",
                words.len(),
                self.info.n_max()
            )));
        }
        let data: Vec<u8> = words
            .iter()
            .flat_map(|word| word.to_le_bytes().into_iter().take(bytes))
            .collect();
        let mut held = vec![0; self.span(data.len())];
        if held.len() > data.len() {
            self.board().transport.read_memory(address, &mut held)?;
        }
        let (piece, row) = (self.info.piece() * bytes, self.info.row_bytes());
        for (old, new) in held.chunks_mut(row).zip(data.chunks(piece)) {
            old[..new.len()].copy_from_slice(new);
        }
        self.board().transport.write_memory(address, &held)
    }

    fn read(&mut self, buffer: u32, lane: usize, n: usize) -> Result<Vec<u128>, DeviceError> {
        let (address, bytes) = (self.address(buffer, lane)?, self.info.word_bytes());
        if n > self.info.n_max() {
            return Err(DeviceError::data(format!(
                "{n} words read of {}",
                self.info.n_max()
            )));
        }
        let mut held = vec![0; self.span(n * bytes)];
        self.board().transport.read_memory(address, &mut held)?;
        let (piece, row) = (self.info.piece() * bytes, self.info.row_bytes());
        let pieces = held.chunks(row).map(|row| &row[..piece.min(row.len())]);
        let data = pieces.collect::<Vec<_>>().concat();
        let word = |chunk: &[u8]| {
            let mut whole = [0; 16];
            whole[..bytes].copy_from_slice(chunk);
            u128::from_le_bytes(whole)
        };
        Ok(data.chunks_exact(bytes).map(word).collect())
    }

    fn set(&mut self, entry: Entry, lane: usize, value: u128) -> Result<(), DeviceError> {
        let entries = crate::tables::entries(&self.info, entry, value)?;
        entries
            .iter()
            .try_for_each(|write| self.fill(lane as u32, write))
    }

    fn set_conversion(
        &mut self,
        number: u8,
        base: u8,
        conversion: &Conversion,
    ) -> Result<(), DeviceError> {
        let entries = crate::tables::conversion(&self.info, number, base, conversion);
        entries
            .iter()
            .try_for_each(|(lane, write)| self.fill(*lane, write))
    }

    fn set_automorphism(&mut self, number: u8, element: u16) -> Result<(), DeviceError> {
        self.fill(0, &crate::tables::automorphism(number, element))
    }

    fn set_digit(&mut self, number: u8, digit: &Digit) -> Result<(), DeviceError> {
        let entries = crate::tables::digit(&self.info, number, digit);
        (0..)
            .zip(&entries)
            .try_for_each(|(lane, write)| self.fill(lane, write))
    }

    fn submit(&mut self, words: &[u64]) -> Result<(), DeviceError> {
        self.base = self.read_register(r::RETIRED)?;
        self.before = self.snapshot()?;
        self.program = words.to_vec();
        self.board().submit(self.core, words)
    }

    fn wait(&mut self, limit: u64, stop: Stop<'_>) -> Result<Profile, DeviceError> {
        let ending = self.board().wait(self.core, limit, stop)?;
        match ending {
            Ending::Idle => self.profile(),
            Ending::Failed => Err(self.stopped()?),
            Ending::Hung => Err(self.hung(limit)?),
        }
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn link(&self) -> Option<LinkUse> {
        let used = self.board().transport.link().ok();
        used.filter(|_| self.info.host == Host::Serial || self.port().is_some())
    }

    fn round(&self) -> Option<Round> {
        Some(self.board().round(self.core))
    }

    fn port(&self) -> Option<PortUse> {
        let used = self.board().transport.port()?;
        Some(PortUse {
            busy_cycles: self.busy,
            ..used
        })
    }

    fn simulated_cycles(&self) -> u64 {
        let board = self.board();
        match board.transport.port() {
            Some(_) => 0,
            None => board.transport.cycles().unwrap_or(0),
        }
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.board().reset(self.core)
    }

    fn inject(&mut self, fault: Injection) -> Result<(), DeviceError> {
        let transport = &mut self.board().transport;
        match fault {
            Injection::Stall(on) => transport.inject_hang(on),
            Injection::FaultyResults {
                after_cycles,
                for_cycles,
            } => transport.inject_fault(after_cycles, for_cycles),
        }
    }
}
