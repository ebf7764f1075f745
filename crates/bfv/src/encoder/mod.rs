// SPDX-License-Identifier: Apache-2.0
//! Numbers to plaintexts and back.

mod batch;
mod fractional;
mod integer;

pub use batch::BatchEncoder;
pub use fractional::FractionalEncoder;
pub use integer::IntegerEncoder;
