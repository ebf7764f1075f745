// SPDX-License-Identifier: Apache-2.0
//! The CKKS encoder: vectors of real or complex numbers.

use super::data::CkksPlaintext;
use crate::arrays::{elements, one_vector, rows_and_columns, wrong_type};
use crate::context::CkksContext;
use crate::errors::OrRaise;
use crate::numbers::number;
use crate::operations::cores;
use crate::work::Work;
use ckks::{Encoder, Plaintext};
use num_complex::Complex64;
use numpy::{PyArray1, PyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::borrow::Cow;

/// Real or complex input.
enum Values<'py> {
    Real(PyReadonlyArrayDyn<'py, f64>),
    Complex(PyReadonlyArrayDyn<'py, Complex64>),
}

impl<'py> Values<'py> {
    fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(real) = given.extract() {
            return Ok(Self::Real(real));
        }
        given
            .extract()
            .map(Self::Complex)
            .map_err(|_| wrong_type(given, "float64 or complex128"))
    }

    fn shape(&self) -> &[usize] {
        match self {
            Self::Real(array) => array.shape(),
            Self::Complex(array) => array.shape(),
        }
    }

    fn flat(&self) -> Flat<'_> {
        match self {
            Self::Real(array) => Flat::Real(elements(array)),
            Self::Complex(array) => Flat::Complex(elements(array)),
        }
    }
}

/// The elements, whatever they are.
enum Flat<'a> {
    Real(Cow<'a, [f64]>),
    Complex(Cow<'a, [Complex64]>),
}

impl Flat<'_> {
    /// Row `row` of a matrix with `columns` columns, encoded.
    fn encode(
        &self,
        encoder: &Encoder,
        row: usize,
        columns: usize,
        level: usize,
        scale: f64,
    ) -> PyResult<Plaintext> {
        let range = row * columns..(row + 1) * columns;
        match self {
            Self::Real(values) => encoder.encode_real(&values[range], level, scale),
            Self::Complex(values) => encoder.encode(&values[range], level, scale),
        }
        .or_raise()
    }
}

/// Encodes vectors into plaintexts and back.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct CkksEncoder {
    context: Py<CkksContext>,
    encoder: Encoder,
}

impl CkksEncoder {
    fn wrap(&self, py: Python<'_>, inner: Plaintext) -> CkksPlaintext {
        CkksPlaintext {
            context: self.context.clone_ref(py),
            inner,
        }
    }

    /// Level and scale, defaults filled in.
    fn target(&self, level: Option<usize>, scale: Option<f64>) -> (usize, f64) {
        let params = &self.context.get().params;
        (
            level.unwrap_or(params.max_level()),
            scale.unwrap_or(params.scale()),
        )
    }
}

#[pymethods]
impl CkksEncoder {
    #[new]
    fn new(context: Py<CkksContext>) -> Self {
        let encoder = Encoder::new(&context.get().params);
        Self { context, encoder }
    }

    /// Values a plaintext holds: n/2.
    #[getter]
    fn slots(&self) -> usize {
        self.context.get().params.slots()
    }

    /// Encodes up to `slots` real or complex values; missing ones are 0.
    #[pyo3(signature = (values, *, level=None, scale=None))]
    fn encode(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number)] level: Option<usize>,
        #[pyo3(from_py_with = number)] scale: Option<f64>,
    ) -> PyResult<CkksPlaintext> {
        let values = Values::of(values)?;
        one_vector(values.shape())?;
        let ((level, scale), length, flat) =
            (self.target(level, scale), values.shape()[0], values.flat());
        let inner = py.work(|| flat.encode(&self.encoder, 0, length, level, scale))?;
        Ok(self.wrap(py, inner))
    }

    /// The most that rounding changes a slot of real values encoded at `scale`, times the scale.
    fn rounding(
        &self,
        py: Python<'_>,
        values: PyReadonlyArrayDyn<'_, f64>,
        #[pyo3(from_py_with = number)] scale: f64,
    ) -> PyResult<f64> {
        one_vector(values.shape())?;
        let flat = elements(&values);
        py.work(|| self.encoder.rounding(&flat, scale).or_raise())
    }

    /// Encodes each row of a matrix.
    #[pyo3(signature = (values, *, level=None, scale=None))]
    fn encode_batch(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number)] level: Option<usize>,
        #[pyo3(from_py_with = number)] scale: Option<f64>,
    ) -> PyResult<Vec<CkksPlaintext>> {
        let values = Values::of(values)?;
        let (rows, columns) = rows_and_columns(values.shape())?;
        let ((level, scale), flat) = (self.target(level, scale), values.flat());
        let one = |row: &usize| flat.encode(&self.encoder, *row, columns, level, scale);
        let all: Vec<Plaintext> =
            py.work(|| cores()?.try_map(&(0..rows).collect::<Vec<_>>(), one))?;
        Ok(all.into_iter().map(|inner| self.wrap(py, inner)).collect())
    }

    /// The slots.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        plaintext: &CkksPlaintext,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let slots = py.work(|| self.encoder.decode(&plaintext.inner))?;
        Ok(PyArray1::from_vec(py, slots))
    }

    /// The real parts of the slots.
    fn decode_real<'py>(
        &self,
        py: Python<'py>,
        plaintext: &CkksPlaintext,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let slots = py.work(|| self.encoder.decode_real(&plaintext.inner))?;
        Ok(PyArray1::from_vec(py, slots))
    }

    /// The real parts of the slots of each plaintext, one row each.
    fn decode_real_batch<'py>(
        &self,
        py: Python<'py>,
        plaintexts: Vec<Py<CkksPlaintext>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let one = |p: &Py<CkksPlaintext>| self.encoder.decode_real(&p.get().inner).or_raise();
        let rows: Vec<Vec<f64>> = py.work(|| cores()?.try_map(&plaintexts, one))?;
        Ok(PyArray2::from_vec2(py, &rows)?)
    }
}
