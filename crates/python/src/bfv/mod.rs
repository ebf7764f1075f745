// SPDX-License-Identifier: Apache-2.0
//! BFV.

mod data;
mod encode;
mod encryption;
mod evaluate;

pub use data::BfvCiphertext;

use crate::context::BfvContext;
use pyo3::prelude::*;

/// Adds this module's classes.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<BfvContext>()?;
    m.add_class::<data::BfvPlaintext>()?;
    m.add_class::<data::BfvCiphertext>()?;
    m.add_class::<encode::BfvEncoder>()?;
    m.add_class::<encryption::BfvEncryptor>()?;
    m.add_class::<encryption::BfvDecryptor>()?;
    m.add_class::<evaluate::BfvEvaluator>()
}
