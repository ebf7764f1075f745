// SPDX-License-Identifier: Apache-2.0
//! Threads that share the work of a call.

use crate::errors::OrRaise;
use pyo3::PyResult;
use rlwe::Threads;
use std::sync::OnceLock;

/// The threads asked for, or one per core.
pub fn threads_or_all(count: Option<usize>) -> PyResult<Threads> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Threads::new(count.unwrap_or_else(cores)).or_raise()
}

/// One thread per core, shared by all batches that have no evaluator's.
pub fn cores() -> PyResult<&'static Threads> {
    static CORES: OnceLock<Threads> = OnceLock::new();
    if let Some(threads) = CORES.get() {
        return Ok(threads);
    }
    let threads = threads_or_all(None)?;
    Ok(zq::fork::once(&CORES, || threads))
}
