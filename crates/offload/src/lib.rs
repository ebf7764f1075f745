// SPDX-License-Identifier: Apache-2.0
//! Polynomial operations on a device: whole programs of them (`Session::run_program`), and single ones to be measured (`simulate`).

mod conversion;
mod error;
mod measure_instruction;
mod operation;
mod ring_split;
mod session;
pub mod simulate;
mod stream;
#[cfg(test)]
mod tests;
mod usage;

pub use error::OffloadError;
pub use operation::{Form, Frame, Operation, OperationProgram};
pub use session::{Polynomial, Session};
pub use stream::{Ended, Progress};
pub use usage::{Moved, Usage};
