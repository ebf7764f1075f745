// SPDX-License-Identifier: Apache-2.0
//! Whole programs of polynomial operations on a device.
//!
//! | room | job |
//! |---|---|
//! | [`partition`] | moduli in lanes and sections, halves of a ring |
//! | [`legality`] | what the build can do, and why not the rest |
//! | [`select`] | host or device for each operation, in stages; one instruction for each section of an operation |
//! | [`allocate`] | polynomial slots, loads, stores, tables: submissions |
//! | [`schedule`] | the order of operations before allocation, and of a submission's instructions after it |
//! | [`cost`] | cycles and transfers of a plan or a run |
//! | [`plan`] | all of these in order, for each core the fastest of several plans |
//! | [`execute`] | uploads, submissions, downloads |
//!
//! Each room uses those above it only.
//!
//! A **tile** is the content of a slot: a limb for each lane. The moduli of a basis stand in **sections** of as many
//! moduli as there are lanes; only base conversions lead from one section to another. A ring of twice the build's
//! degree has two sections for each set of moduli, one for each factor of x^n + 1; the host splits and joins
//! coefficients.

mod allocate;
mod cost;
mod execute;
mod legality;
mod partition;
mod plan;
mod schedule;
mod select;

pub use cost::Prediction;
pub use execute::{BatchStatistics, CoreTime, Ended, MOST_KEPT, Progress, Ran};
pub(crate) use execute::{Buffers, HostBuffers, Stream, Timeline, Worked, run_streams};
pub use legality::suits as is_reduced_by_a_move;
pub(crate) use legality::{kind, terms};
pub use partition::fits_degree;
pub(crate) use plan::resident_programs;
pub use plan::{Planned, predict};
