// SPDX-License-Identifier: Apache-2.0
//! BFV parameters, over words of 64 or 128 bits behind one class.

use crate::errors::OrRaise;
use crate::numbers::number;
use crate::params_args::{Recipe, RingArguments, error_name, policy, secret_name};
use crate::security::SecurityFields;
use crate::word_width::{WordWidth, each};
use crate::work::Work;
use ::bfv::{BfvParams, BfvParamsLiteral};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rlwe::{Limits, RlweParams, SecurityPolicy};
use zq::Word;

/// A set over either word width.
pub type Params = WordWidth<BfvParams<u64>, BfvParams<u128>>;

/// A checked, immutable BFV parameter set.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct BfvContext {
    pub(crate) params: Params,
}

pub fn build<W: Word>(
    ring: &RingArguments<'_>,
    plain_modulus: u64,
    auxiliary: &[u128],
    policy: SecurityPolicy,
) -> PyResult<BfvParams<W>> {
    let auxiliary = auxiliary.iter().map(|m| W::from_u128_lossy(*m)).collect();
    let literal = BfvParamsLiteral {
        rlwe: ring.literal()?,
        plain_modulus,
        auxiliary,
    };
    BfvParams::new(&literal, policy).or_raise()
}

impl BfvContext {
    /// The ring-LWE parameters.
    pub fn rlwe(&self) -> WordWidth<RlweParams<u64>, RlweParams<u128>> {
        match &self.params {
            WordWidth::W64(params) => WordWidth::W64(params.rlwe().params().clone()),
            WordWidth::W128(params) => WordWidth::W128(params.rlwe().params().clone()),
        }
    }
}

#[pymethods]
impl BfvContext {
    /// Data primes `moduli`, special primes `special`, plaintext modulus `plain_modulus` (2 to 2^60).
    ///
    /// `dnum`: digits of key switching (default: one prime each). `secret`: ternary, binary, binomial:ETA,
    /// gaussian:SIGMA or weight:H; `error`: binomial:ETA or gaussian:SIGMA. `auxiliary`: primes of the second basis of
    /// multiplication (default: chosen). `word_bits`: 64 or 128 (default: 64 if every modulus fits). A set below
    /// `security` bits by `table` is refused unless `allow_insecure`.
    #[new]
    #[pyo3(signature = (
        n, moduli, special, plain_modulus, *, dnum=None, secret="ternary", error="binomial:21",
        auxiliary=Vec::new(), word_bits=None, security=128, table="2024-classical", allow_insecure=false
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
        #[pyo3(from_py_with = number)] plain_modulus: u64,
        #[pyo3(from_py_with = number)] dnum: Option<usize>,
        secret: &str,
        error: &str,
        #[pyo3(from_py_with = number)] auxiliary: Vec<u128>,
        #[pyo3(from_py_with = number)] word_bits: Option<u32>,
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
        let policy = policy(security, table, allow_insecure)?;
        let wide = ring.word_bits(word_bits, &auxiliary)? == u128::BITS;
        let params = py.work(|| match wide {
            true => build(&ring, plain_modulus, &auxiliary, policy).map(WordWidth::W128),
            false => build(&ring, plain_modulus, &auxiliary, policy).map(WordWidth::W64),
        })?;
        Ok(Self { params })
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
        let params = py.work(|| match rlwe::word_bits_of(data).or_raise()? {
            u128::BITS => BfvParams::from_bytes_within(data, policy, &limits)
                .or_raise()
                .map(WordWidth::W128),
            _ => BfvParams::from_bytes_within(data, policy, &limits)
                .or_raise()
                .map(WordWidth::W64),
        })?;
        Ok(Self { params })
    }

    /// The set in the byte format.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &each!(&self.params, params => params.to_bytes()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Recipe<'py>)> {
        let policy = each!(&self.params, params => params.rlwe().security().policy);
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
        self.fingerprint() == other.fingerprint()
    }

    fn __hash__(&self) -> u64 {
        each!(&self.params, params => params.fingerprint().0.iter().take(8).fold(0, |h, b| h << 8 | u64::from(*b)))
    }

    fn __repr__(&self) -> String {
        each!(&self.params, params => format!("{params:?}"))
    }

    /// Ring degree.
    #[getter]
    fn n(&self) -> usize {
        each!(&self.params, params => params.n())
    }

    /// Data primes.
    #[getter]
    fn moduli(&self) -> Vec<u128> {
        each!(&self.params, params => params.rlwe().q().values().iter().map(|q| q.to_u128()).collect())
    }

    /// Special primes.
    #[getter]
    fn special(&self) -> Vec<u128> {
        each!(&self.params, params => {
            params.rlwe().p().map(|p| p.values().iter().map(|q| q.to_u128()).collect()).unwrap_or_default()
        })
    }

    /// The plaintext modulus t.
    #[getter]
    fn plain_modulus(&self) -> u64 {
        each!(&self.params, params => params.plain_modulus())
    }

    /// Whether t has slots (a prime that is 1 mod 2n), so that vectors can be packed.
    #[getter]
    fn batching(&self) -> bool {
        each!(&self.params, params => params.batching().is_some())
    }

    /// Distribution of the secret.
    #[getter]
    fn secret(&self) -> String {
        each!(&self.params, params => secret_name(params.rlwe().secret()))
    }

    /// Distribution of errors.
    #[getter]
    fn error(&self) -> String {
        each!(&self.params, params => error_name(params.rlwe().error()))
    }

    /// Digits of key switching.
    #[getter]
    fn dnum(&self) -> usize {
        each!(&self.params, params => params.rlwe().dnum())
    }

    /// Level of a fresh ciphertext: data primes minus 1.
    #[getter]
    fn max_level(&self) -> usize {
        each!(&self.params, params => params.rlwe().data_primes() - 1)
    }

    /// Width of words: 64 or 128.
    #[getter]
    fn word_bits(&self) -> u32 {
        match self.params {
            WordWidth::W64(_) => u64::BITS,
            WordWidth::W128(_) => u128::BITS,
        }
    }

    /// The security estimate of the set.
    #[getter]
    fn security(&self) -> SecurityFields {
        each!(&self.params, params => params.rlwe().security().into())
    }

    /// Identity of the set.
    #[getter]
    fn fingerprint(&self) -> String {
        each!(&self.params, params => params.fingerprint().to_string())
    }
}
