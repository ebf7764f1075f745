// SPDX-License-Identifier: Apache-2.0
//! Plans of programs: everything in order, and the fastest of several plans.

mod part;
mod planned;
mod predict;
mod search;

pub use part::PlannedPart;
pub use planned::Planned;
pub use predict::{predict, resident_programs};
