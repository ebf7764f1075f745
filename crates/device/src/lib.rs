// SPDX-License-Identifier: Apache-2.0
//! Driver of the co-processor: one trait, and devices behind it (timing model, Verilated RTL, boards).
//!
//! [`Device`] is the unchecked interface of a device; programs use [`Driver`]: it learns the build from the info block,
//! tracks the contents of slots and tables, and refuses illegal programs before the device sees them.

mod axi;
mod board;
mod controller;
#[rustfmt::skip]
#[allow(dead_code, reason = "the driver uses part of the register map")]
mod controller_registers;
mod conversions;
mod driver;
mod error;
mod files;
mod hardware;
mod info_block;
mod intact;
mod interface;
mod modeled;
mod moves;
mod progress;
#[rustfmt::skip]
#[allow(dead_code, reason = "the driver uses part of the register map")]
mod registers;
mod serial;
mod simulator;
mod tables;
#[cfg(test)]
mod tests;
mod together;
mod transport;

pub use axi::{Done, UioAddress, XdmaAddress};
pub use controller::Round;
pub use conversions::free_entries;
pub use driver::{Driver, PATIENCE, Transfers, checksum};
pub use error::DeviceError;
pub use hardware::Hardware;
pub(crate) use interface::check_room;
pub use interface::{Device, Entry, Injection, LinkUse, PortUse, Stop};
pub use model::{Cause, Conversion, Digit, Event, Profile};
pub use modeled::Modeled;
pub use together::{predict, run_together};
