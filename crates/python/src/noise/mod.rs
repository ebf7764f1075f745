// SPDX-License-Identifier: Apache-2.0
//! Noise of single operations and of whole programs, by scheme.

mod bfv;
mod ckks;

use pyo3::prelude::*;

/// Adds this module's classes and functions.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<bfv::BfvEstimate>()?;
    m.add_class::<bfv::BfvEstimator>()?;
    m.add_function(wrap_pyfunction!(bfv::bfv_publication_bits, m)?)?;
    m.add_class::<ckks::CkksEstimate>()?;
    m.add_class::<ckks::CkksEstimator>()?;
    m.add_function(wrap_pyfunction!(ckks::polynomial_depth, m)?)?;
    m.add_function(wrap_pyfunction!(ckks::ckks_publication_bits, m)?)
}
