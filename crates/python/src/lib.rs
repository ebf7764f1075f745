// SPDX-License-Identifier: Apache-2.0
//! Python bindings of ringsmith; no logic lives here.

mod arrays;
mod backend;
mod bfv;
mod bootstrapping;
mod ckks;
mod context;
mod device;
mod errors;
mod keys;
mod message;
mod noise;
mod numbers;
mod panics;
mod params_args;
mod polynomials;
mod predict;
mod primes;
mod program;
mod residues;
mod scheme;
mod security;
mod threads;
mod watch;
mod word_width;
mod work;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A shortage of memory becomes Python's `MemoryError`, in small vectors too.
#[global_allocator]
static ALLOCATOR: zq::memory::Reserve = zq::memory::Reserve;

/// A number that this process keeps and that is another one in every process forked from it.
#[pyfunction]
fn fork_generation() -> u64 {
    zq::fork::generation()
}

/// The extension module `ringsmith._native`.
#[pymodule(gil_used = false)]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    panics::quiet();
    // A forced instruction set that cannot be had is told at once, as an exception rather than a panic later.
    zq::simd::check_request().map_err(PyValueError::new_err)?;
    zq::fork::watch();
    zq::memory::Reserve::keep();
    m.add_function(wrap_pyfunction!(fork_generation, m)?)?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let limits = rlwe::Limits::default();
    m.add("FAILURE_BITS", rlwe::noise::FAILURE_BITS)?;
    m.add("MAX_DEGREE", limits.degree)?;
    m.add("MAX_MEMORY", limits.memory)?;
    predict::register(m)?;
    primes::register(m)?;
    security::register(m)?;
    keys::register(m)?;
    bootstrapping::register(m)?;
    bfv::register(m)?;
    backend::register(m)?;
    device::register(m)?;
    polynomials::register(m)?;
    program::register(m)?;
    message::register(m)?;
    ckks::register(m)?;
    noise::register(m)
}
