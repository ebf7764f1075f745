// SPDX-License-Identifier: Apache-2.0
//! Python bindings of ringsmith; no logic lives here.

mod errors;
mod primes;

use pyo3::prelude::*;

/// The extension module `ringsmith._native`.
#[pymodule(gil_used = false)]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    primes::register(m)
}
