// SPDX-License-Identifier: Apache-2.0
//! BFV encoders: vectors in slots, single integers, fractions.

use super::data::BfvPlaintext;
use crate::arrays::Row;
use crate::context::BfvContext;
use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::scheme::encoder_class;
use crate::word_width::{WordWidth, each, try_map};
use bfv::{BatchEncoder, FractionalEncoder, IntegerEncoder};
use pyo3::prelude::*;

/// An encoder of either width.
type Batch = WordWidth<BatchEncoder<u64>, BatchEncoder<u128>>;

/// The encoder of a set whose plaintext modulus has slots.
fn make(context: &BfvContext) -> PyResult<Option<Batch>> {
    let batching = each!(&context.params, p => p.batching().is_some());
    let made = batching.then(|| try_map!(&context.params, p => BatchEncoder::new(p)));
    made.transpose()
}

/// The encoder; an error for a modulus without slots.
fn batch<'a>(context: &BfvContext, encoder: &'a Option<Batch>) -> PyResult<&'a Batch> {
    encoder.as_ref().ok_or_else(|| {
        let (t, n) = each!(&context.params, p => (p.plain_modulus(), p.n()));
        let order = 2 * n;
        Kind::Parameter.error(format!(
            "plaintext modulus {t} has no slots: vectors need a prime that is 1 modulo {order}"
        ))
    })
}

encoder_class! {
    /// Encodes integers and fractions into plaintexts and back.
    ///
    /// Vectors need a plaintext modulus with slots (a prime that is 1 mod 2n): slots 0 to n/2-1 are the first row, the
    /// rest the second; rotations turn both rows.
    BfvEncoder(Option<Batch>) in BfvContext over BfvPlaintext;
    new |context| make(context);
    slots {
        /// Values a plaintext holds: n, or 1 for a modulus without slots.
        |_context, encoder| encoder.as_ref().map_or(1, |batch| each!(batch, e => e.slots()))
    }
    encode {
        /// Encodes up to n integers, from -t/2 to t/2 (int64) or below t (uint64); missing ones are 0.
        "int64 or uint64" (i64, u64)
        |context, encoder, row| each!(batch(context, encoder)?, e => match row {
            Row::First(values) => e.encode_signed(values),
            Row::Second(values) => e.encode(values),
        }
        .or_raise())
    }
    decode {
        /// The slots, from -t/2 to t/2.
        decode,
        /// The slots of each plaintext, one row each.
        decode_batch -> i64: |context, encoder, plaintext| {
            each!(batch(context, encoder)?, e => e.decode_signed(plaintext).or_raise())
        }
    }
    more {
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
}
