// SPDX-License-Identifier: Apache-2.0
//! Programs of the homomorphic operations and the host/hardware split: the one place that knows both sides.

mod conversion;
mod engine;
mod error;
mod halves;
mod plan;
mod session;
pub mod simulate;
mod single;
mod stream;
#[cfg(test)]
mod tests;
mod usage;

pub use engine::CoEngine;
pub use error::OffloadError;
pub use plan::{Form, Frame, Operation, Plan};
pub use session::{Polynomial, Session};
pub use stream::{Ended, Progress};
pub use usage::{Moved, Usage};
