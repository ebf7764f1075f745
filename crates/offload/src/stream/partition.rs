// SPDX-License-Identifier: Apache-2.0
//! A program over lanes: which moduli are worked on in lockstep, and in which factor of the ring.

mod half;
mod section;

pub use half::Half;
pub use section::{Layout, Section, Table, fits, fits_degree, join, modulus, split, words};
