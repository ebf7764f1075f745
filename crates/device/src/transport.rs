// SPDX-License-Identifier: Apache-2.0
//! How a device behind registers is reached: a simulation of it, or a board at a port.

use crate::error::DeviceError;
use crate::interface::{LinkUse, PortUse, Stop};

/// Start or end of an instruction, as a simulation records it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RawEvent {
    /// Cycles of the clock.
    pub cycle: u64,
    /// Instructions of the core since clear.
    pub index: u32,
    /// 0 compute, 1 memory, 2 base conversion.
    pub unit: u8,
    /// 0 start, 1 end.
    pub end: u8,
    /// Opcode, with starts only.
    pub opcode: u8,
    /// Which core.
    pub core: u8,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Queue empty, units idle.
    Idle,
    /// The core stopped with an error.
    Failed,
    /// The limit of cycles passed.
    Hung,
}

/// Registers, host memory and clock of a device. Every function fails with the transport's own error.
pub trait Transport: Send {
    /// Reset the device; host memory stays.
    fn reset(&mut self) -> Result<(), DeviceError>;

    /// Read a register.
    fn read_register(&mut self, address: u32) -> Result<u32, DeviceError>;

    /// Write a register. That there is none at the address may show only when something is read.
    fn write_register(&mut self, address: u32, value: u32) -> Result<(), DeviceError>;

    /// Make host memory of `bytes` at least; what is new is 0. A simulation has all of it from the start.
    fn reserve(&mut self, _bytes: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Read host memory; what was never written is 0.
    fn read_memory(&mut self, address: u64, out: &mut [u8]) -> Result<(), DeviceError>;

    /// Write host memory.
    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Serve transfers until the core is idle or has failed, or `limit` cycles have passed; `stop` is asked now and
    /// then.
    fn run(&mut self, limit: u64, stop: Stop<'_>) -> Result<Ending, DeviceError>;

    /// As [`Transport::run`], until the controller's program is done or the controller has stopped.
    fn run_program(&mut self, limit: u64, stop: Stop<'_>) -> Result<Ending, DeviceError>;

    /// Let a number of cycles pass, or none where the clock runs by itself, and serve a transfer that waits then.
    fn step(&mut self, cycles: u64) -> Result<(), DeviceError>;

    /// Clock cycles: those simulated since open, or those in which a board has shown no progress.
    fn cycles(&self) -> Result<u64, DeviceError>;

    /// Take the recorded events; a board records none.
    fn events(&mut self) -> Result<Vec<RawEvent>, DeviceError> {
        Ok(Vec::new())
    }

    /// Traffic on the serial link since open.
    fn link(&self) -> Result<LinkUse, DeviceError>;

    /// Make the core's results wrong for a while; a board refuses any while but none.
    fn inject_fault(&mut self, _after_cycles: u64, for_cycles: u64) -> Result<(), DeviceError> {
        match for_cycles {
            0 => Ok(()),
            _ => Err(DeviceError::NoInjection),
        }
    }

    /// Stop the answers of the host memory, or resume them; a board refuses to stop.
    fn inject_hang(&mut self, on: bool) -> Result<(), DeviceError> {
        match on {
            false => Ok(()),
            true => Err(DeviceError::NoInjection),
        }
    }

    /// A board's clock and traffic; nothing where each clock cycle is simulated.
    fn port(&self) -> Option<PortUse>;
}
