// SPDX-License-Identifier: Apache-2.0
//! The host of a board at a serial port: registers, and the transfers that a core's LOAD and STORE wait for.

use std::path::Path;
use std::time::{Duration, Instant};

use super::frames as f;
use super::link::Link;
use super::port::Tty;
use crate::error::DeviceError;
use crate::info_block::{bit, field};
use crate::interface::{LinkUse, PortUse, Stop};
use crate::progress::Progress;
use crate::registers as r;
use crate::transport::{Ending, Transport};

/// Bytes of a register's address and value in a frame.
const ENTRY: usize = 6;
/// Time that a reset may take.
const RESET: Duration = Duration::from_secs(2);
/// Bytes by which host memory grows beyond what is needed.
const GROWTH: usize = 1 << 16;

/// A board at a serial port.
pub struct SerialHost {
    link: Link,
    /// Register writes that have not been sent.
    pending: Vec<u8>,
    memory: Vec<u8>,
    lanes: u64,
    word_bytes: u64,
    log2_n_max: u32,
    progress: Progress,
}

impl SerialHost {
    /// Open the board at a port of the operating system. `patience`: time that a board may take to begin an answer.
    ///
    /// # Errors
    /// [`DeviceError::Port`]: no such port, another program has it, or nothing right answers at this rate.
    pub fn open(path: &Path, baud: u32, patience: Duration) -> Result<Self, DeviceError> {
        let name = path.display().to_string();
        let port = Tty::open(path, baud).map_err(|what| DeviceError::Port {
            port: name.clone(),
            what,
        })?;
        let link = Link::open(Box::new(port), &name, baud, patience)?;
        let mut host = Self {
            link,
            pending: Vec::new(),
            memory: Vec::new(),
            lanes: 0,
            word_bytes: 0,
            log2_n_max: 0,
            progress: Progress::new(0),
        };
        let (shape, capacity) = (
            host.read_register(r::SHAPE)?,
            host.read_register(r::CAPACITY)?,
        );
        host.lanes = field(shape, r::SHAPE_LANES).into();
        host.log2_n_max = field(shape, r::SHAPE_LOG2_N_MAX);
        host.word_bytes = field(capacity, r::CAPACITY_WORD_BYTES).into();
        host.progress = Progress::new(host.read_register(r::CLOCK_KHZ)?);
        Ok(host)
    }

    /// Send the register writes that wait, in order.
    fn flush(&mut self) -> Result<(), DeviceError> {
        let pending = std::mem::take(&mut self.pending);
        let most = self.link.frame_bytes / ENTRY * ENTRY;
        for entries in pending.chunks(most) {
            self.link.exchange(f::WRITE_REG, 0, 0, entries)?;
        }
        Ok(())
    }

    fn grow(&mut self, end: u64) -> Result<usize, DeviceError> {
        let end = usize::try_from(end).unwrap_or(usize::MAX);
        if end > self.memory.len() {
            let more = end.saturating_sub(self.memory.len()).saturating_add(GROWTH);
            let room = self.memory.try_reserve(more);
            room.map_err(|_| {
                DeviceError::data(format!("no memory for {end} bytes of host buffers"))
            })?;
            self.memory.resize(end, 0);
        }
        Ok(end)
    }

    /// Move the data of the transfer that waits.
    fn serve(&mut self) -> Result<(), DeviceError> {
        let transfer = self.read_register(r::TRANSFER)?;
        let buffer = u64::from(field(transfer, r::TRANSFER_BUFFER));
        let used = self.word_bytes << field(transfer, r::TRANSFER_LOG2_N);
        let store = field(transfer, r::TRANSFER_STORE) == 1;
        for lane in 0..self.lanes {
            let start = (buffer * self.lanes + lane) * (self.word_bytes << self.log2_n_max);
            let end = self.grow(start + used)?;
            let mut at = start as usize;
            while at < end {
                let to = end.min(at + self.link.frame_bytes);
                if store {
                    let length = (to - at) as u16;
                    let data = self.link.exchange(f::READ_DATA, 0, length, &[])?;
                    self.memory[at..to].copy_from_slice(&data);
                } else {
                    self.link
                        .exchange(f::WRITE_DATA, 0, 0, &self.memory[at..to])?;
                }
                at = to;
            }
        }
        self.progress.made();
        Ok(())
    }

    /// Serve a transfer that waits; the core's status if none did.
    fn tend(&mut self) -> Result<Option<u32>, DeviceError> {
        let status = self.read_register(r::STATUS)?;
        if field(status, r::STATUS_TRANSFER) == 1 {
            return self.serve().map(|()| None);
        }
        let retired = self.read_register(r::RETIRED)?;
        self.progress.retired(retired);
        Ok(Some(status))
    }
}

impl Transport for SerialHost {
    fn reset(&mut self) -> Result<(), DeviceError> {
        self.pending.clear();
        self.link.greet()?;
        self.write_register(r::CONTROL, bit(r::CONTROL_RESET))?;
        let end = Instant::now() + RESET;
        while field(self.read_register(r::STATUS)?, r::STATUS_IDLE) == 0 {
            if Instant::now() > end {
                return Err(self
                    .link
                    .fail("the board's core does not come out of its reset"));
            }
        }
        Ok(())
    }

    fn read_register(&mut self, address: u32) -> Result<u32, DeviceError> {
        self.flush()?;
        let data = self.link.exchange(f::READ_REG, address as u16, 4, &[])?;
        let word = data
            .try_into()
            .map_err(|_| self.link.fail("half a register"))?;
        Ok(u32::from_le_bytes(word))
    }

    fn write_register(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.pending.extend((address as u16).to_le_bytes());
        self.pending.extend(value.to_le_bytes());
        self.progress.made();
        Ok(())
    }

    fn read_memory(&mut self, address: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        let end = self.grow(address + out.len() as u64)?;
        out.copy_from_slice(&self.memory[address as usize..end]);
        Ok(())
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let end = self.grow(address + bytes.len() as u64)?;
        self.memory[address as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn run(&mut self, limit: u64, stop: Stop<'_>) -> Result<Ending, DeviceError> {
        self.flush()?;
        self.progress.made();
        loop {
            if stop() {
                return Err(DeviceError::Interrupted);
            }
            let Some(status) = self.tend()? else { continue };
            if field(status, r::STATUS_FAILED) == 1 {
                return Ok(Ending::Failed);
            }
            if field(status, r::STATUS_IDLE) == 1 {
                return Ok(Ending::Idle);
            }
            if self.cycles()? > limit {
                return Ok(Ending::Hung);
            }
        }
    }

    fn run_program(&mut self, _limit: u64, _stop: Stop<'_>) -> Result<Ending, DeviceError> {
        Err(self.link.fail("a board with a controller has no firmware"))
    }

    fn step(&mut self, _cycles: u64) -> Result<(), DeviceError> {
        self.flush()?;
        self.tend().map(drop)
    }

    fn cycles(&self) -> Result<u64, DeviceError> {
        Ok(self.progress.quiet())
    }

    fn link(&self) -> Result<LinkUse, DeviceError> {
        let (mut used, spent, _) = self.link.used();
        used.cycles = self.progress.cycles_of(spent);
        Ok(used)
    }

    fn port(&self) -> Option<PortUse> {
        let (_, spent, resent) = self.link.used();
        Some(PortUse {
            clock_khz: self.progress.clock_khz,
            seconds: spent.as_secs_f64(),
            resent,
            busy_cycles: 0,
        })
    }
}
