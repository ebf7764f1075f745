// SPDX-License-Identifier: Apache-2.0
//! Polynomial operations on a device: programs of them (`Session::run_program`), workloads that are measured as such
//! programs (`simulate`), and single instructions.

mod conversion;
mod error;
mod host_prices;
mod measure_instruction;
mod offer;
mod session;
pub mod simulate;
mod stream;
#[cfg(test)]
mod tests;
mod usage;
mod workload;

pub use conversion::{Conversions, measure_conversion};
pub use error::OffloadError;
pub use host_prices::host_prices;
pub use measure_instruction::measure_instruction;
pub use offer::Offer;
pub use polynomial::Form;
pub use session::{Polynomial, Session};
pub use stream::{
    BatchStatistics, CoreTime, Ended, MOST_KEPT, Planned, Prediction, Progress, Ran, fits_degree,
    is_reduced_by_a_move, predict,
};
pub use usage::{HostWork, Moved, Usage};
pub use workload::Workload;
