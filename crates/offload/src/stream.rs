// SPDX-License-Identifier: Apache-2.0
//! Whole programs of polynomial operations on a device.
//!
//! ```text
//! Graph ── place ──> host | device, in stages ── order, tiles, fold ──> one instruction each ──┐
//!   ┌──────────────────────────────────────────────────────────────────────────────────────────┘
//!   └─ allocate ──> slots, loads, stores ── overlap ──> loads and conversions beside work ── run ──> submissions
//! ```
//!
//! A **tile** is the content of a slot: a limb for each lane. The moduli of a basis stand in **sections** of as many
//! moduli as there are lanes; only base conversions lead from one section to another. A ring of twice the build's
//! degree has two sections for each set of moduli, one for each factor of x^n + 1; the host splits and joins
//! coefficients.

mod able;
mod account;
mod addends;
mod allocate;
mod apart;
mod common;
mod convert;
mod fold;
mod half;
mod interleave;
mod lack;
mod laid;
mod lay_out;
mod order;
mod overlap;
mod place;
mod predict;
mod run;
mod section;
mod tile;
mod tiles;
mod timeline;
mod timing;
mod together;
mod turns;

pub(crate) use common::Common;
pub use convert::suits as is_reduced_by_a_move;
pub(crate) use lack::{kind, terms};
pub use predict::{predict, resident_programs};
pub(crate) use run::{Buffers, Stream, Worked};
pub use run::{Ended, Progress};
pub use section::fits_degree;
pub(crate) use timeline::Timeline;
pub use timeline::{MOST_KEPT, Ran};
pub use timing::Prediction;
pub(crate) use together::run as run_streams;
pub use together::{CoreTime, Shift};
