// SPDX-License-Identifier: Apache-2.0
//! Cycles and transfers of planned programs and of those that ran.

mod timing;
mod usage;

pub use timing::{Prediction, timed};
pub use usage::{add_submission, covered};
