// SPDX-License-Identifier: Apache-2.0
//! BFV encoders: vectors in slots, single integers, fractions.

use super::data::BfvPlaintext;
use crate::arrays::{elements, one_vector, rows_and_columns, wrong_type};
use crate::context::BfvContext;
use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::operations::cores;
use crate::word_width::{WordWidth, each, try_map};
use crate::work::Work;
use bfv::{BatchEncoder, FractionalEncoder, IntegerEncoder, Plaintext};
use numpy::{PyArray1, PyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::borrow::Cow;

/// Encodes integers and fractions into plaintexts and back.
///
/// Vectors need a plaintext modulus with slots (a prime that is 1 mod 2n): slots 0 to n/2-1 are the first row, the rest
/// the second; rotations turn both rows.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct BfvEncoder {
    context: Py<BfvContext>,
    batch: Option<WordWidth<BatchEncoder<u64>, BatchEncoder<u128>>>,
}

/// Signed integers, or residues modulo t.
enum Values<'a> {
    Signed(Cow<'a, [i64]>),
    Residues(Cow<'a, [u64]>),
}

/// An array of integers of either sign convention.
enum Array<'py> {
    Signed(PyReadonlyArrayDyn<'py, i64>),
    Residues(PyReadonlyArrayDyn<'py, u64>),
}

impl<'py> Array<'py> {
    fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(signed) = given.extract() {
            return Ok(Self::Signed(signed));
        }
        given
            .extract()
            .map(Self::Residues)
            .map_err(|_| wrong_type(given, "int64 or uint64"))
    }

    fn shape(&self) -> &[usize] {
        match self {
            Self::Signed(array) => array.shape(),
            Self::Residues(array) => array.shape(),
        }
    }

    fn flat(&self) -> Values<'_> {
        match self {
            Self::Signed(array) => Values::Signed(elements(array)),
            Self::Residues(array) => Values::Residues(elements(array)),
        }
    }
}

impl BfvEncoder {
    fn batch(&self) -> PyResult<&WordWidth<BatchEncoder<u64>, BatchEncoder<u128>>> {
        self.batch.as_ref().ok_or_else(|| {
            let (t, n) = each!(&self.context.get().params, p => (p.plain_modulus(), p.n()));
            let order = 2 * n;
            Kind::Parameter.error(format!(
                "plaintext modulus {t} has no slots: vectors need a prime that is 1 modulo {order}"
            ))
        })
    }

    fn encode_row(&self, values: &Values<'_>, row: usize, columns: usize) -> PyResult<Plaintext> {
        let range = row * columns..(row + 1) * columns;
        each!(self.batch()?, encoder => match values {
            Values::Signed(values) => encoder.encode_signed(&values[range]),
            Values::Residues(values) => encoder.encode(&values[range]),
        }
        .or_raise())
    }

    fn decode_row(&self, plaintext: &Plaintext) -> PyResult<Vec<i64>> {
        each!(self.batch()?, encoder => encoder.decode_signed(plaintext).or_raise())
    }

    fn wrap(&self, py: Python<'_>, inner: Plaintext) -> BfvPlaintext {
        BfvPlaintext {
            context: self.context.clone_ref(py),
            inner,
        }
    }
}

#[pymethods]
impl BfvEncoder {
    #[new]
    fn new(context: Py<BfvContext>) -> PyResult<Self> {
        let params = &context.get().params;
        let batching = each!(params, p => p.batching().is_some());
        let batch = if batching {
            Some(try_map!(params, p => BatchEncoder::new(p))?)
        } else {
            None
        };
        Ok(Self { context, batch })
    }

    /// Values a plaintext holds: n, or 1 for a modulus without slots.
    #[getter]
    fn slots(&self) -> usize {
        self.batch
            .as_ref()
            .map_or(1, |batch| each!(batch, encoder => encoder.slots()))
    }

    /// Encodes up to n integers, from -t/2 to t/2 (int64) or below t (uint64); missing ones are 0.
    fn encode(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<BfvPlaintext> {
        let values = Array::of(values)?;
        one_vector(values.shape())?;
        let (length, flat) = (values.shape()[0], values.flat());
        let inner = py.work(|| self.encode_row(&flat, 0, length))?;
        Ok(self.wrap(py, inner))
    }

    /// Encodes each row of a matrix.
    fn encode_batch(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<BfvPlaintext>> {
        let values = Array::of(values)?;
        let ((rows, columns), flat) = (rows_and_columns(values.shape())?, values.flat());
        let one = |row: &usize| self.encode_row(&flat, *row, columns);
        let all: Vec<Plaintext> =
            py.work(|| cores()?.try_map(&(0..rows).collect::<Vec<_>>(), one))?;
        Ok(all.into_iter().map(|inner| self.wrap(py, inner)).collect())
    }

    /// The slots, from -t/2 to t/2.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        plaintext: &BfvPlaintext,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let values = py.work(|| self.decode_row(&plaintext.inner))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// The slots of each plaintext, one row each.
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        plaintexts: Vec<Py<BfvPlaintext>>,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let one = |p: &Py<BfvPlaintext>| self.decode_row(&p.get().inner);
        let rows: Vec<Vec<i64>> = py.work(|| cores()?.try_map(&plaintexts, one))?;
        Ok(PyArray2::from_vec2(py, &rows)?)
    }

    /// One integer in base-`base` digits; sums and products of few such plaintexts decode right.
    #[pyo3(signature = (value, *, base=2))]
    fn encode_integer(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] value: i64,
        #[pyo3(from_py_with = number)] base: u64,
    ) -> PyResult<BfvPlaintext> {
        let params = &self.context.get().params;
        let encoded =
            each!(params, p => IntegerEncoder::new(p, base).and_then(|e| e.encode(value)));
        Ok(self.wrap(py, encoded.or_raise()?))
    }

    /// The integer that `encode_integer` wrote.
    #[pyo3(signature = (plaintext, *, base=2))]
    fn decode_integer(
        &self,
        plaintext: &BfvPlaintext,
        #[pyo3(from_py_with = number)] base: u64,
    ) -> PyResult<i64> {
        let params = &self.context.get().params;
        each!(params, p => IntegerEncoder::new(p, base).and_then(|e| e.decode(&plaintext.inner)).or_raise())
    }

    /// One number with `fraction_digits` digits behind the point; coefficients below `cut` are the integral part.
    #[pyo3(signature = (value, *, base=2, fraction_digits=32, cut=None))]
    fn encode_fraction(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] value: f64,
        #[pyo3(from_py_with = number)] base: u64,
        #[pyo3(from_py_with = number)] fraction_digits: usize,
        #[pyo3(from_py_with = number)] cut: Option<usize>,
    ) -> PyResult<BfvPlaintext> {
        let params = &self.context.get().params;
        let encoded = each!(params, p => {
            FractionalEncoder::new(p, base, fraction_digits, cut.unwrap_or(p.n() / 2)).and_then(|e| e.encode(value))
        });
        Ok(self.wrap(py, encoded.or_raise()?))
    }

    /// The number that `encode_fraction` wrote.
    #[pyo3(signature = (plaintext, *, base=2, fraction_digits=32, cut=None))]
    fn decode_fraction(
        &self,
        plaintext: &BfvPlaintext,
        #[pyo3(from_py_with = number)] base: u64,
        #[pyo3(from_py_with = number)] fraction_digits: usize,
        #[pyo3(from_py_with = number)] cut: Option<usize>,
    ) -> PyResult<f64> {
        let params = &self.context.get().params;
        each!(params, p => {
            FractionalEncoder::new(p, base, fraction_digits, cut.unwrap_or(p.n() / 2))
                .and_then(|e| e.decode(&plaintext.inner))
                .or_raise()
        })
    }
}
