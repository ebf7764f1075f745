// SPDX-License-Identifier: Apache-2.0
//! Cycles of programs on builds that need not exist.

use crate::device::{build_info, reports::usage_dict};
use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::program::Program;
use crate::work::Work;
use ::backend::Build;
use ::device::DeviceError;
use offload::Offer;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::sync::Arc;

/// Runs of a batch at most.
const MOST_RUNS: usize = 1 << 16;

/// Usage of an idle device of a build (the numbers of a preset's knobs, the operations that it takes, the memory behind
/// its data port as `Device.model` takes them) after a batch of `runs` of a program, to the cycle, without data
/// or keys, all cores together. `cycles`: from the first start to the last end of each submission; `cores` that had
/// work; `least_cycles`: the compute unit's issue cycles.
#[pyfunction]
#[pyo3(signature = (program, operations, knobs, memory, runs=1))]
fn predict<'py>(
    py: Python<'py>,
    program: &Program,
    operations: Vec<String>,
    #[pyo3(from_py_with = number)] knobs: HashMap<String, i32>,
    #[pyo3(from_py_with = number)] memory: (f64, f64, f64),
    #[pyo3(from_py_with = number)] runs: usize,
) -> PyResult<Bound<'py, PyDict>> {
    if !(1..=MOST_RUNS).contains(&runs) {
        return Err(Kind::Input.error(format!("runs = {runs}: a batch has 1 to {MOST_RUNS} runs")));
    }
    let info = build_info(&knobs, memory)?;
    info.validate().map_err(DeviceError::from).or_raise()?;
    let offer = Offer::new(operations);
    let program = Arc::clone(&program.inner);
    let build = Build {
        info: &info,
        offer: &offer,
    };
    let found = py.work(|| build.predict(&program, runs))?;
    let dict = usage_dict(py, &found.usage)?;
    dict.set_item("cycles", found.cycles)?;
    dict.set_item("cores", found.cores)?;
    dict.set_item("least_cycles", found.least_cycles)?;
    Ok(dict)
}

/// Nanoseconds that a thread of this processor takes for a term of each kind of operation on polynomials
/// (`host_work` of a usage), over rings of degree n modulo two or more primes of at most 62 bits.
#[pyfunction]
fn host_prices(
    py: Python<'_>,
    #[pyo3(from_py_with = number)] n: usize,
    #[pyo3(from_py_with = number)] moduli: Vec<u64>,
) -> PyResult<std::collections::BTreeMap<&'static str, f64>> {
    py.work(|| offload::host_prices(n, &moduli))
}

/// Adds this module's functions.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(predict, m)?)?;
    m.add_function(wrap_pyfunction!(host_prices, m)?)
}
