// SPDX-License-Identifier: Apache-2.0
//! Errors of a device or its driver; every device gives the same messages.

use isa::{InfoError, IsaError};
use model::Cause;
use thiserror::Error;

/// Something a device cannot or did not do.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// The registers are not those of a co-processor this driver knows.
    #[error("no ringsmith co-processor answers: {what}")]
    Foreign {
        /// The value found and the one expected.
        what: String,
    },
    /// The info block describes no possible build.
    #[error(transparent)]
    Info(#[from] InfoError),
    /// The program cannot run on this build in its present state.
    #[error(transparent)]
    Program(#[from] IsaError),
    /// A modulus or constant that the build cannot use.
    #[error("modulus index {index}, lane {lane}: {what}")]
    Modulus {
        /// Modulus or constant index.
        index: usize,
        /// Lane.
        lane: usize,
        /// The reason, with the numbers.
        what: String,
    },
    /// Data of the wrong shape, or a buffer that does not exist.
    #[error("{what}")]
    Data {
        /// The reason, with the numbers.
        what: String,
    },
    /// The device stopped at an instruction.
    #[error("instruction {index} ({text}): {cause}")]
    Stopped {
        /// Place in the program.
        index: usize,
        /// The instruction as assembly.
        text: String,
        /// The content of the error register.
        cause: Cause,
    },
    /// The controller on the chip stopped by itself.
    #[error("the controller stopped: {cause} (address {address:#010x})")]
    Controller {
        /// Why.
        cause: &'static str,
        /// The address of the access.
        address: u32,
    },
    /// The device did not finish in time.
    #[error("instruction {index} ({text}) did not finish within {cycles} cycles")]
    Timeout {
        /// The oldest instruction that had not finished.
        index: usize,
        /// The instruction as assembly.
        text: String,
        /// Cycles waited.
        cycles: u64,
    },
    /// Cancelled by the caller.
    #[error("the device was interrupted")]
    Interrupted,
    /// A polynomial is not what the instruction must have produced.
    #[error(
        "instruction {index} ({text}): checksum of slot {slot}, lane {lane} does not match: the memory is faulty"
    )]
    Checksum {
        /// Place in the program.
        index: usize,
        /// The instruction as assembly.
        text: String,
        /// The slot.
        slot: u8,
        /// The lane.
        lane: usize,
    },
    /// A simulator library that cannot be used.
    #[error("{path}: {what}")]
    Library {
        /// Path of the library.
        path: String,
        /// Why.
        what: String,
    },
    /// A board at a port, or the port, does not do what it is asked for.
    #[error("{port}: {what}")]
    Port {
        /// The port.
        port: String,
        /// Why.
        what: String,
    },
    /// The device lacks the test hook.
    #[error("this device cannot inject a fault of that kind")]
    NoInjection,
}

impl DeviceError {
    /// Data of the wrong shape.
    pub(crate) fn data(what: impl Into<String>) -> Self {
        Self::Data { what: what.into() }
    }
}
