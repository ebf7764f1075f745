// SPDX-License-Identifier: Apache-2.0
//! Security tables.

use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::params_args::{error_distribution, policy, secret_distribution, table_named};
use pyo3::prelude::*;
use rlwe::security::{Drawn, SecretKind};

/// The security estimate of a set.
#[pyclass(frozen, get_all, name = "Security", module = "ringsmith._native")]
pub struct SecurityFields {
    /// Size of the whole modulus, special primes included, in bits.
    log2_qp: f64,
    /// The highest of 128, 192, 256 that the table grants, if any.
    level: Option<u32>,
    /// The largest modulus of the wanted level at this degree, in bits; None if none reaches it or no table covers the
    /// distributions.
    limit: Option<u32>,
    /// Estimated bits: an estimate, not a proof.
    estimated_bits: f64,
    /// The table's name and origin.
    source: &'static str,
    /// The table's identifier.
    table: &'static str,
}

impl From<&rlwe::Security> for SecurityFields {
    fn from(known: &rlwe::Security) -> Self {
        Self {
            log2_qp: known.log2_qp,
            level: known.level,
            limit: known.max_log2_qp,
            estimated_bits: known.estimated_bits,
            source: known.source,
            table: known.policy.table.id(),
        }
    }
}

fn secret_named(name: &str) -> PyResult<SecretKind> {
    match name {
        "ternary" => Ok(SecretKind::Ternary),
        "gaussian" => Ok(SecretKind::Gaussian),
        _ => Err(Kind::Parameter.error(format!(
            "no secret kind {name:?} in the tables; there are ternary, gaussian"
        ))),
    }
}

/// Security of a set by the tables, as the weakest of its distributions: the secret's, and that of the ternary u of
/// public-key encryption. `level` is the wanted one: 128, 192 or 256.
#[pyfunction]
#[pyo3(signature = (n, log2_qp, level=128, *, table="2024-classical", secret="ternary", error="binomial:21"))]
fn judge_security(
    #[pyo3(from_py_with = number)] n: usize,
    #[pyo3(from_py_with = number)] log2_qp: f64,
    #[pyo3(from_py_with = number)] level: u32,
    table: &str,
    secret: &str,
    error: &str,
) -> PyResult<SecurityFields> {
    let drawn = Drawn {
        secret: secret_distribution(secret)?,
        error: error_distribution(error)?,
    };
    let policy = policy(level, table, false)?;
    Ok((&rlwe::Security::of(drawn, n, log2_qp, policy).or_raise()?).into())
}

/// The largest log2(QP), special primes included, that reaches `level` bits at degree `n`; None if none does.
#[pyfunction]
#[pyo3(signature = (n, level=128, *, table="2024-classical", secret="ternary"))]
fn max_log2_qp(
    #[pyo3(from_py_with = number)] n: usize,
    #[pyo3(from_py_with = number)] level: u32,
    table: &str,
    secret: &str,
) -> PyResult<Option<u32>> {
    rlwe::security::max_log2_qp(table_named(table)?, secret_named(secret)?, n, level).or_raise()
}

/// Estimated bits of security at degree `n` and modulus size `log2_qp`; 0 when nothing is known about n.
#[pyfunction]
#[pyo3(signature = (n, log2_qp, *, table="2024-classical", secret="ternary"))]
fn security_bits(
    #[pyo3(from_py_with = number)] n: usize,
    #[pyo3(from_py_with = number)] log2_qp: f64,
    table: &str,
    secret: &str,
) -> PyResult<f64> {
    let (table, secret) = (table_named(table)?, secret_named(secret)?);
    rlwe::security::check_size(log2_qp).or_raise()?;
    Ok(rlwe::security::estimated_bits(table, secret, n, log2_qp))
}

/// The source of a table's figures.
#[pyfunction]
#[pyo3(signature = (table="2024-classical", *, secret="ternary"))]
fn security_source(table: &str, secret: &str) -> PyResult<&'static str> {
    Ok(rlwe::security::source_name(
        table_named(table)?,
        secret_named(secret)?,
    ))
}

/// Adds this module's functions.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<SecurityFields>()?;
    m.add_function(wrap_pyfunction!(judge_security, m)?)?;
    m.add_function(wrap_pyfunction!(max_log2_qp, m)?)?;
    m.add_function(wrap_pyfunction!(security_bits, m)?)?;
    m.add_function(wrap_pyfunction!(security_source, m)?)
}
