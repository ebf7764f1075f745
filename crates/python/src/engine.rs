// SPDX-License-Identifier: Apache-2.0
//! The seam where a co-processor takes over the polynomial work of BFV.

use crate::words::{Words, each};
use pyo3::prelude::*;
use std::sync::Arc;

/// An engine for polynomial work: products, transforms, inner products of keys. Given to `BfvContext(engine=…)`.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct PolyEngine {
    pub(crate) inner: Words<Arc<dyn rlwe::PolyEngine<u64>>, Arc<dyn rlwe::PolyEngine<u128>>>,
}

#[pymethods]
impl PolyEngine {
    /// This machine's processor, at a word width of 64 or 128 bits.
    #[staticmethod]
    #[pyo3(signature = (word_bits=64))]
    fn cpu(word_bits: u32) -> PyResult<Self> {
        let inner = match crate::literal::checked_width(word_bits)? {
            u128::BITS => Words::W128(Arc::new(rlwe::CpuEngine) as _),
            _ => Words::W64(Arc::new(rlwe::CpuEngine) as _),
        };
        Ok(Self { inner })
    }

    /// The engine's name in reports.
    #[getter]
    fn name(&self) -> String {
        each!(&self.inner, engine => engine.name().to_string())
    }
}
