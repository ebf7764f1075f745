// SPDX-License-Identifier: Apache-2.0
//! A homomorphic program as data: encrypted arguments and their packing, ordered steps, the result and its guarantee.
//! It has bytes, hence a hash; running it needs no function and no source.
//!
//! ```text
//! Argument ──────> Expression ──> PlaintextSource ─┐
//!    └─ packing ─> Step, Step, Step, … <───────────┘ ──> outputs ──> result
//! ```

mod bootstrapping;
mod check;
mod clear;
mod codec;
mod cost;
mod error;
pub mod evaluate;
pub mod expression;
mod guarantee;
mod handed;
mod index_map;
mod listing;
mod message;
pub mod operation;
mod parameters;
mod program;
mod repeat;
mod shape;
pub mod step;
pub mod transform;
mod values;

pub use bootstrapping::{Bootstrapping, Refresh};
pub use check::Limits;
pub use cost::{Cost, Digits};
pub use error::Error;
pub use guarantee::{
    Assume, Bound, Circuit, Effects, Estimator, PlaintextFacts, Ranges, log2_publication,
};
pub use handed::{Handed, Producer, Received};
pub use index_map::{IndexMap, MAX_ELEMENTS, Run};
pub use message::{Message, Role, Section};
pub use parameters::Parameters;
pub use program::{
    Argument, Encryption, Guarantee, PlaintextSource, Program, Range, Reading, RequiredKeys,
    Secrecy, Strength,
};
pub use values::Values;

#[cfg(test)]
mod tests;
