// SPDX-License-Identifier: Apache-2.0
//! numpy arrays in, without a copy where they are contiguous.

use crate::errors::Kind;
use numpy::{Element, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::borrow::Cow;

/// The elements of an array in row-major order; only a non-contiguous array is copied.
pub fn elements<'a, T: Element + Copy>(array: &'a PyReadonlyArrayDyn<'_, T>) -> Cow<'a, [T]> {
    match array.as_slice() {
        Ok(slice) => Cow::Borrowed(slice),
        Err(_) => Cow::Owned(array.as_array().iter().copied().collect()),
    }
}

/// The error of an array whose elements the engine does not take.
pub fn wrong_type(given: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let found = match given.downcast::<PyUntypedArray>() {
        Ok(array) => format!("an array of {}", array.dtype()),
        Err(_) => given
            .get_type()
            .name()
            .map_or_else(|_| "something else".into(), |name| name.to_string()),
    };
    Kind::Input.error(format!(
        "{found} given; a numpy array of {allowed} is needed"
    ))
}

/// Rows and columns of a batch.
pub fn rows_and_columns(shape: &[usize]) -> PyResult<(usize, usize)> {
    match shape {
        [rows, columns] => Ok((*rows, *columns)),
        _ => Err(Kind::Input.error(format!(
            "an array of shape {shape:?}; a batch has one vector in each of its rows"
        ))),
    }
}

/// The length of a single vector.
pub fn one_vector(shape: &[usize]) -> PyResult<()> {
    match shape {
        [_] => Ok(()),
        _ => Err(Kind::Input.error(format!(
            "an array of shape {shape:?}; one vector is needed (or the batch form)"
        ))),
    }
}
