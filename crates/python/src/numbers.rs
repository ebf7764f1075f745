// SPDX-License-Identifier: Apache-2.0
//! Numbers of Python's arguments. To Python `True` is 1; here it is a mistake, as is `true` for a count in a file.

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};

/// Lists of pairs are the deepest arguments.
const DEEPEST: usize = 2;

/// A number, or lists, tuples and dictionaries of them; `from_py_with` of every number that a user may give.
///
/// # Errors
/// `TypeError` for a `bool`, and what `T` refuses.
pub fn number<'py, T: FromPyObjectOwned<'py>>(given: &Bound<'py, PyAny>) -> PyResult<T> {
    refuse_bools(given, DEEPEST)?;
    given.extract().map_err(Into::into)
}

fn refuse_bools(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
    if given.is_instance_of::<PyBool>() {
        let message = format!("a number is needed, not {given}");
        return Err(PyTypeError::new_err(message));
    }
    if depth == 0 {
        return Ok(());
    }
    if let Ok(dict) = given.cast::<PyDict>() {
        return refuse_bools(dict.values().as_any(), depth - 1);
    }
    let each = |item: Bound<'_, PyAny>| refuse_bools(&item, depth - 1);
    if let Ok(list) = given.cast::<PyList>() {
        return list.iter().try_for_each(each);
    }
    match given.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().try_for_each(each),
        Err(_) => Ok(()),
    }
}
