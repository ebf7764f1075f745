// SPDX-License-Identifier: Apache-2.0
//! CKKS parameters.

use crate::numbers::number;
use crate::params_args::{Recipe, RingArguments, error_name, policy, secret_name};
use crate::security::SecurityFields;
use crate::work::Work;
use ckks::{CkksParams, CkksParamsLiteral};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rlwe::Limits;

/// A checked, immutable CKKS parameter set.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct CkksContext {
    pub(crate) params: CkksParams,
}

#[pymethods]
impl CkksContext {
    /// Data primes `moduli` (the first stays to the end), special primes `special`, default scale `scale`.
    ///
    /// `dnum`: digits of key switching (default: one prime each). `secret`: ternary, binary, binomial:ETA,
    /// gaussian:SIGMA or weight:H; `error`: binomial:ETA or gaussian:SIGMA. A set below `security` bits by `table` is
    /// refused unless `allow_insecure`.
    #[new]
    #[pyo3(signature = (
        n, moduli, special, scale, *, dnum=None, secret="ternary", error="binomial:21",
        security=128, table="2024-classical", allow_insecure=false
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python constructor"
    )]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = number)] n: usize,
        #[pyo3(from_py_with = number)] moduli: Vec<u128>,
        #[pyo3(from_py_with = number)] special: Vec<u128>,
        #[pyo3(from_py_with = number)] scale: f64,
        #[pyo3(from_py_with = number)] dnum: Option<usize>,
        secret: &str,
        error: &str,
        #[pyo3(from_py_with = number)] security: u32,
        table: &str,
        allow_insecure: bool,
    ) -> PyResult<Self> {
        let ring = RingArguments {
            n,
            moduli: &moduli,
            special: &special,
            dnum,
            secret,
            error,
        };
        ring.refuse_wide("CKKS")?;
        let literal = CkksParamsLiteral {
            rlwe: ring.literal()?,
            scale,
        };
        let policy = policy(security, table, allow_insecure)?;
        Ok(Self {
            params: py.work(|| CkksParams::new(&literal, policy))?,
        })
    }

    /// Reads `to_bytes`; the reader's own security policy applies. A degree above `max_degree` and tables of more than
    /// `max_memory` bytes are refused before anything is built.
    #[staticmethod]
    #[pyo3(signature = (
        data, security=128, table="2024-classical", allow_insecure=false,
        max_degree=Limits::default().degree, max_memory=Limits::default().memory
    ))]
    fn from_bytes(
        py: Python<'_>,
        data: &[u8],
        #[pyo3(from_py_with = number)] security: u32,
        table: &str,
        allow_insecure: bool,
        #[pyo3(from_py_with = number)] max_degree: usize,
        #[pyo3(from_py_with = number)] max_memory: u64,
    ) -> PyResult<Self> {
        let policy = policy(security, table, allow_insecure)?;
        let limits = Limits {
            degree: max_degree,
            memory: max_memory,
        };
        Ok(Self {
            params: py.work(|| CkksParams::from_bytes_within(data, policy, &limits))?,
        })
    }

    /// The set in the byte format.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.params.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Recipe<'py>)> {
        let policy = self.params.rlwe().security().policy;
        let arguments = (
            self.to_bytes(py),
            policy.level,
            policy.table.id(),
            policy.allow_insecure,
            Limits::NONE.degree,
            Limits::NONE.memory,
        );
        Ok((py.get_type::<Self>().getattr("from_bytes")?, arguments))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.params == other.params
    }

    fn __hash__(&self) -> u64 {
        self.params
            .fingerprint()
            .0
            .iter()
            .take(8)
            .fold(0, |h, b| h << 8 | u64::from(*b))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.params)
    }

    /// Ring degree.
    #[getter]
    fn n(&self) -> usize {
        self.params.n()
    }

    /// Slots of a ciphertext: n/2.
    #[getter]
    fn slots(&self) -> usize {
        self.params.slots()
    }

    /// Data primes.
    #[getter]
    fn moduli(&self) -> Vec<u64> {
        self.params.rlwe().q().values()
    }

    /// Special primes.
    #[getter]
    fn special(&self) -> Vec<u64> {
        self.params
            .rlwe()
            .p()
            .map(|p| p.values())
            .unwrap_or_default()
    }

    /// Default scale.
    #[getter]
    fn scale(&self) -> f64 {
        self.params.scale()
    }

    /// Distribution of the secret.
    #[getter]
    fn secret(&self) -> String {
        secret_name(self.params.rlwe().secret())
    }

    /// Distribution of errors.
    #[getter]
    fn error(&self) -> String {
        error_name(self.params.rlwe().error())
    }

    /// Digits of key switching.
    #[getter]
    fn dnum(&self) -> usize {
        self.params.rlwe().dnum()
    }

    /// Level of a fresh ciphertext: data primes minus 1.
    #[getter]
    fn max_level(&self) -> usize {
        self.params.max_level()
    }

    /// The security estimate of the set.
    #[getter]
    fn security(&self) -> SecurityFields {
        self.params.rlwe().security().into()
    }

    /// Identity of the set, scale included.
    #[getter]
    fn fingerprint(&self) -> String {
        self.params.fingerprint().to_string()
    }
}
