// SPDX-License-Identifier: Apache-2.0
//! Polynomial slots and host buffers for tiles, and the submissions that follow from them.

mod allocator;
mod plan;
mod slots;
mod tables;
mod uses;

pub use allocator::{Rules, allocate};
pub use plan::{Plan, Submission, TABLES};
