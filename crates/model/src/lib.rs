// SPDX-License-Identifier: Apache-2.0
//! Functional and timing model of the co-processor: executes the same binary programs as the hardware.

#[rustfmt::skip]
mod cause;
mod conversion;
mod execute;
mod fault;
#[rustfmt::skip]
pub mod latency;
mod lane;
mod memory;
mod moves;
mod polynomial;
mod schedule;
#[cfg(test)]
mod tests;
mod timing;
mod transform;

pub use cause::Cause;
pub use conversion::{Conversion, Input, MOST_PRIMES, Output};
pub use execute::execute;
pub use fault::Fault;
pub use lane::Lane;
pub use memory::{Memory, Table};
pub use moves::{Digit, Share};
pub use polynomial::Polynomial;
pub use schedule::{SlotMasks, in_flight, schedule, schedule_from, schedule_together};
pub use timing::{Counters, Event, Holds, Profile, Timing};
