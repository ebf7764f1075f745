// SPDX-License-Identifier: Apache-2.0
//! Polynomial operations on a device: whole programs of them (`Session::run_program`), and single ones to be measured
//! (`simulate`).

mod conversion;
mod error;
mod host_prices;
mod measure_instruction;
mod offer;
mod operation;
mod ring_split;
mod session;
pub mod simulate;
mod stream;
#[cfg(test)]
mod tests;
mod usage;

pub use conversion::{Conversions, measure_conversion};
pub use error::OffloadError;
pub use host_prices::host_prices;
pub use measure_instruction::measure_instruction;
pub use offer::Offer;
pub use operation::{Form, Operation, OperationProgram, ProgramArgs};
pub use session::{Polynomial, Session};
pub use stream::{
    CoreTime, Ended, MOST_KEPT, Prediction, Progress, Ran, Shift, fits_degree,
    is_reduced_by_a_move, predict,
};
pub use usage::{HostWork, Moved, Usage};
