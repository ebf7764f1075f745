// SPDX-License-Identifier: Apache-2.0
//! The CKKS encoder: vectors of real or complex numbers.

use super::data::CkksPlaintext;
use crate::arrays::{Row, elements, one_vector};
use crate::context::CkksContext;
use crate::errors::OrRaise;
use crate::numbers::number;
use crate::scheme::encoder_class;
use crate::work::Work;
use ckks::Encoder;
use num_complex::Complex64;
use numpy::{PyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

encoder_class! {
    /// Encodes vectors into plaintexts and back.
    CkksEncoder(Encoder) in CkksContext over CkksPlaintext;
    new |context| PyResult::Ok(Encoder::new(&context.params));
    slots {
        /// Values a plaintext holds: n/2.
        |context, _encoder| context.params.slots()
    }
    encode {
        /// Encodes up to `slots` real or complex values; missing ones are 0.
        "float64 or complex128" (f64, Complex64) options { level: usize; scale: f64; }
        |context, encoder, row| {
            let level = level.unwrap_or(context.params.max_level());
            let scale = scale.unwrap_or(context.params.scale());
            match row {
                Row::First(values) => encoder.encode_real(values, level, scale),
                Row::Second(values) => encoder.encode(values, level, scale),
            }
            .or_raise()
        }
    }
    decode {
        /// The real parts of the slots.
        decode_real,
        /// The real parts of the slots of each plaintext, one row each.
        decode_real_batch -> f64: |_context, encoder, plaintext| encoder.decode_real(plaintext).or_raise()
    }
    more {
        /// The slots.
        fn decode<'py>(
            &self,
            py: Python<'py>,
            plaintext: &CkksPlaintext,
        ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
            let slots = py.work(|| self.encoder.decode(&plaintext.inner))?;
            Ok(PyArray1::from_vec(py, slots))
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
    }
}
