// SPDX-License-Identifier: Apache-2.0
//! numpy arrays in, without a copy where they are contiguous.

use crate::errors::Kind;
use numpy::{Element, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::borrow::Cow;

/// The elements of an array in row-major order; only an array that does not hold them so is copied.
pub fn elements<'a, T: Element + Copy>(array: &'a PyReadonlyArrayDyn<'_, T>) -> Cow<'a, [T]> {
    match array.as_slice() {
        // An array in Fortran's order has a slice too, column by column.
        Ok(slice) if array.is_c_contiguous() => Cow::Borrowed(slice),
        _ => Cow::Owned(row_major(array)),
    }
}

/// The elements of any array, put in order by numpy: its loops are optimised, where this crate's are not.
fn row_major<T: Element + Copy>(array: &PyReadonlyArrayDyn<'_, T>) -> Vec<T> {
    let ordered = array.call_method1("copy", ("C",));
    let ordered = ordered.and_then(|copy| Ok(copy.extract::<PyReadonlyArrayDyn<'_, T>>()?));
    match ordered.as_ref().map(PyReadonlyArrayDyn::as_slice) {
        Ok(Ok(slice)) if slice.len() == array.len() => slice.to_vec(),
        // No memory for it, or a subclass whose `copy` gives something else.
        _ => array.as_array().iter().copied().collect(),
    }
}

/// An array of either of two types of elements.
pub enum Array<'py, A: Element, B: Element> {
    First(PyReadonlyArrayDyn<'py, A>),
    Second(PyReadonlyArrayDyn<'py, B>),
}

impl<'py, A: Element + Copy, B: Element + Copy> Array<'py, A, B> {
    /// Fails for an array of neither; `allowed` names both.
    pub fn of(given: &Bound<'py, PyAny>, allowed: &str) -> PyResult<Self> {
        if let Ok(first) = given.extract() {
            return Ok(Self::First(first));
        }
        let second = given.extract().map(Self::Second);
        second.map_err(|_| wrong_type(given, allowed))
    }

    pub fn shape(&self) -> &[usize] {
        match self {
            Self::First(array) => array.shape(),
            Self::Second(array) => array.shape(),
        }
    }

    pub fn elements(&self) -> Elements<'_, A, B> {
        match self {
            Self::First(array) => Elements::First(elements(array)),
            Self::Second(array) => Elements::Second(elements(array)),
        }
    }
}

/// The elements of an [`Array`] in row-major order.
pub enum Elements<'a, A: Clone, B: Clone> {
    First(Cow<'a, [A]>),
    Second(Cow<'a, [B]>),
}

impl<A: Clone, B: Clone> Elements<'_, A, B> {
    /// Row `row` of a matrix with `columns` columns.
    pub fn row(&self, row: usize, columns: usize) -> Row<'_, A, B> {
        let range = row * columns..(row + 1) * columns;
        match self {
            Self::First(all) => Row::First(&all[range]),
            Self::Second(all) => Row::Second(&all[range]),
        }
    }
}

/// A row of [`Elements`].
pub enum Row<'a, A, B> {
    First(&'a [A]),
    Second(&'a [B]),
}

/// The error of an array whose elements the engine does not take.
pub fn wrong_type(given: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let found = match given.cast::<PyUntypedArray>() {
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
