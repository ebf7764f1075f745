// SPDX-License-Identifier: Apache-2.0
//! numpy arrays as a program's maps and numbers, and back.

use crate::arrays::{elements, wrong_type};
use crate::errors::OrRaise;
use ::program::IndexMap;
use ::program::expression::Numbers;
use numpy::{PyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;

/// A map from the elements of its positions, −1 where there is none.
pub fn index_map(array: &PyReadonlyArrayDyn<'_, i64>) -> PyResult<IndexMap> {
    IndexMap::from_signed(&elements(array)).or_raise()
}

/// The elements of a map's positions, −1 where there is none.
pub fn map_array<'py>(py: Python<'py>, map: &IndexMap) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_vec(py, map.signed())
}

/// Reals or integers, as the array has them.
pub fn numbers(given: &Bound<'_, PyAny>) -> PyResult<Numbers> {
    if let Ok(reals) = given.extract::<PyReadonlyArrayDyn<'_, f64>>() {
        return Ok(Numbers::Reals(elements(&reals).into_owned()));
    }
    match given.extract::<PyReadonlyArrayDyn<'_, i64>>() {
        Ok(integers) => Ok(Numbers::Integers(elements(&integers).into_owned())),
        Err(_) => Err(wrong_type(given, "float64 or int64")),
    }
}

/// An array of float64 or of int64.
pub fn number_array<'py>(py: Python<'py>, numbers: &Numbers) -> Bound<'py, PyAny> {
    match numbers {
        Numbers::Reals(values) => PyArray1::from_slice(py, values).into_any(),
        Numbers::Integers(values) => PyArray1::from_slice(py, values).into_any(),
    }
}
