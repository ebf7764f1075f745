// SPDX-License-Identifier: Apache-2.0
//! Programs: made, read, asked about, run.

mod arrays;
mod build;
mod circuit;
mod facts;
mod session;
mod step;

pub use circuit::Circuit;
pub use facts::Program;

use pyo3::prelude::*;

/// Adds this module's classes.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<build::ProgramBuilder>()?;
    m.add_class::<step::Step>()?;
    m.add_class::<Circuit>()?;
    m.add_class::<Program>()?;
    m.add_class::<session::Session>()
}
