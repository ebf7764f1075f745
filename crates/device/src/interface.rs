// SPDX-License-Identifier: Apache-2.0
//! A device as its driver sees it.

use isa::BuildInfo;
use model::{Conversion, Counters, Digit, Profile};

use crate::controller::Round;
use crate::error::DeviceError;

/// Traffic between host and device; bytes and cycles on a serial link and at a board's port only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct LinkUse {
    /// Register accesses and frames of data.
    pub frames: u64,
    /// Bytes to the device.
    pub bytes_to_device: u64,
    /// Bytes from the device.
    pub bytes_from_device: u64,
    /// Core cycles it took.
    pub cycles: u64,
}

/// What a board at a port tells beside its traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortUse {
    /// Clock of the core in kHz.
    pub clock_khz: u32,
    /// Seconds spent on the port since open.
    pub seconds: f64,
    /// Frames that were sent again.
    pub resent: u64,
    /// Cycles in which units other than the memory unit worked, of all programs since open.
    pub busy_cycles: u64,
}

/// Whether a device that is at work is to stop; called by the thread that waits for it.
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// An entry of a lane's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Modulus of a modulus index.
    Modulus(u8),
    /// Factor of CMODMUL.
    Constant(u8),
}

/// A fault that a test asks a simulated device to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injection {
    /// For a while, bit 0 of coefficient 0 of every memory word that a compute instruction writes is inverted.
    FaultyResults {
        /// Cycles from now until it starts.
        after_cycles: u64,
        /// Cycles it lasts.
        for_cycles: u64,
    },
    /// The host memory stops answering, or answers again.
    Stall(bool),
}

/// A co-processor as its driver sees it. Nothing is checked here; host buffers have `info().buffer_bytes()` bytes.
pub trait Device: Send {
    /// The build, from the info block.
    fn info(&self) -> &BuildInfo;

    /// Make `count` more host buffers and return the number of the first; the numbers are consecutive.
    ///
    /// # Errors
    /// No room: commands cannot name them, or they end beyond the addresses of the data port.
    fn allocate(&mut self, count: u32) -> Result<u32, DeviceError>;

    /// Write one lane's coefficients to the start of a host buffer's lane.
    ///
    /// # Errors
    /// No such buffer, or the transport failed.
    fn write(&mut self, buffer: u32, lane: usize, words: &[u128]) -> Result<(), DeviceError>;

    /// Read `n` coefficients of one lane of a host buffer.
    ///
    /// # Errors
    /// As [`Device::write`].
    fn read(&mut self, buffer: u32, lane: usize, n: usize) -> Result<Vec<u128>, DeviceError>;

    /// Fill a table entry of a lane. The device is idle.
    ///
    /// # Errors
    /// The transport failed.
    fn set(&mut self, entry: Entry, lane: usize, value: u128) -> Result<(), DeviceError>;

    /// Fill the tables of a base conversion, from entry `base` on. The device is idle.
    ///
    /// # Errors
    /// The transport failed.
    fn set_conversion(
        &mut self,
        number: u8,
        base: u8,
        conversion: &Conversion,
    ) -> Result<(), DeviceError>;

    /// Set an automorphism x -> x^g. The device is idle.
    ///
    /// # Errors
    /// The transport failed.
    fn set_automorphism(&mut self, number: u8, element: u16) -> Result<(), DeviceError>;

    /// Fill the tables of a digit. The device is idle.
    ///
    /// # Errors
    /// The transport failed.
    fn set_digit(&mut self, number: u8, digit: &Digit) -> Result<(), DeviceError>;

    /// Queue a program; earlier ones have been waited for.
    ///
    /// # Errors
    /// The transport failed.
    fn submit(&mut self, words: &[u64]) -> Result<(), DeviceError>;

    /// Run until the program has finished, and return when each instruction started and ended. `stop` is asked now and
    /// then, well within a second.
    ///
    /// # Errors
    /// [`DeviceError::Stopped`] or, after `limit` cycles, [`DeviceError::Timeout`]; [`DeviceError::Interrupted`], after
    /// which the device may be in the midst of anything and needs a reset.
    fn wait(&mut self, limit: u64, stop: Stop<'_>) -> Result<Profile, DeviceError>;

    /// Cycles, busy and stall counters of the last program.
    fn counters(&self) -> Counters;

    /// Traffic on the serial link or a board's port since open, if there is one.
    fn link(&self) -> Option<LinkUse> {
        None
    }

    /// A board's clock and use of its port; nothing of another device.
    fn port(&self) -> Option<PortUse> {
        None
    }

    /// Register accesses and cycles of the last program, on a device that is simulated with its host.
    fn round(&self) -> Option<Round> {
        None
    }

    /// Clock cycles simulated since open; 0 where nothing is simulated cycle by cycle.
    fn simulated_cycles(&self) -> u64 {
        0
    }

    /// Reset the core: slots and tables must be written again, host buffers stay.
    ///
    /// # Errors
    /// The transport failed.
    fn reset(&mut self) -> Result<(), DeviceError>;

    /// Injects a fault, for tests.
    ///
    /// # Errors
    /// [`DeviceError::NoInjection`].
    fn inject(&mut self, _fault: Injection) -> Result<(), DeviceError> {
        Err(DeviceError::NoInjection)
    }
}

/// Check that `count` host buffers from number `first` on can be named and addressed.
pub(crate) fn check_room(info: &BuildInfo, first: u32, count: u32) -> Result<(), DeviceError> {
    let most = info.host_buffers();
    if u64::from(first) + u64::from(count) <= most {
        return Ok(());
    }
    Err(DeviceError::data(format!(
        "no room for {count} host buffers of {} bytes beside {first}: this build reaches {most}",
        info.buffer_bytes()
    )))
}
