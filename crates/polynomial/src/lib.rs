// SPDX-License-Identifier: Apache-2.0
//! Programs of operations on residue polynomials: what homomorphic operations are made of, whatever computes them.
//!
//! A [`Graph`] is in static single assignment: each [`Limb`] is one polynomial modulo one prime, written once.
//! Arithmetic is exact, so every way to compute a graph gives the same residues.
//! [`Memory`] computes it on this machine, on demand.

mod builder;
mod evaluate;
mod graph;
mod owner;
mod share;
mod text;

pub use builder::{BuildError, Builder};
pub use evaluate::{Host, Memory, Words};
pub use graph::{Bundle, Form, Graph, Limb, Origin, PolyOp, Task};
pub use owner::{Owner, Room};
pub use text::fhetch;
