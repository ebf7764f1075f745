// SPDX-License-Identifier: Apache-2.0
//! CKKS.

mod data;
mod encode;
mod encryption;
mod evaluate;

pub use data::CkksCiphertext;
pub use evaluate::polynomial_of;

use crate::context::CkksContext;
use pyo3::prelude::*;

/// Adds this module's classes.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<CkksContext>()?;
    m.add_class::<data::CkksPlaintext>()?;
    m.add_class::<data::CkksCiphertext>()?;
    m.add_class::<encode::CkksEncoder>()?;
    m.add_class::<encryption::CkksEncryptor>()?;
    m.add_class::<encryption::CkksDecryptor>()?;
    m.add_class::<evaluate::CkksEvaluator>()
}
