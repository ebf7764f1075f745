// SPDX-License-Identifier: Apache-2.0
//! Cycles of programs on builds that nobody has made.

use crate::device::{build_info, reports::usage_dict};
use crate::errors::OrRaise;
use crate::program::Program;
use crate::work::Work;
use ::device::DeviceError;
use backend::Build;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Usage of an idle device of a build (the numbers of a preset's knobs, the operations that it takes, the memory behind
/// its data port as `Device.model` takes them) after one run of a program, to the cycle, without data or keys; and
/// `least_cycles`, the compute unit's issue cycles, and `host_work`, operations on polynomials left to the host.
#[pyfunction]
fn predict<'py>(
    py: Python<'py>,
    program: &Program,
    operations: Vec<String>,
    knobs: HashMap<String, i32>,
    memory: (f64, f64, f64),
) -> PyResult<Bound<'py, PyDict>> {
    let info = build_info(&knobs, memory)?;
    info.validate().map_err(DeviceError::from).or_raise()?;
    let operations: BTreeSet<String> = operations.into_iter().collect();
    let program = Arc::clone(&program.inner);
    let build = Build {
        info: &info,
        operations: &operations,
    };
    let found = py.work(|| build.predict(&program))?;
    let dict = usage_dict(py, &found.usage)?;
    dict.set_item("least_cycles", found.least_cycles)?;
    dict.set_item("host_work", found.host_work)?;
    Ok(dict)
}

/// Adds this module's function.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(predict, m)?)
}
