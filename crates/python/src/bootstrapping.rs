// SPDX-License-Identifier: Apache-2.0
//! Bootstrapping of programs: parameters and keys.

use crate::context::CkksContext;
use crate::errors::{Kind, OrRaise};
use crate::keys::{KeyGenerator, SecretKey};
use crate::numbers::number;
use crate::params_args::{policy, secret_name};
use crate::word_width::WordWidth;
use crate::work::{Work, written};
use ::program::Refresh;
use ckks::bootstrap::{BootstrapGoal, BootstrapLiteral, KeyOptions, Message};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// A checked bootstrapping of a CKKS set, for real messages in all slots.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct Bootstrapping {
    pub(crate) inner: ::program::Bootstrapping,
}

#[pymethods]
impl Bootstrapping {
    /// `bound`: on the slots of what is refreshed; levels of the transforms before (`slots_to_coeffs`) and after
    /// (`coeffs_to_slots`) the modulus is raised; `log2_ratio`: −log2 of the largest message to the first prime;
    /// `weight` of the sparse secret; `log2_failure` of a refresh; `degree` of the cosine, double angles, degree of
    /// the arcsine (1 for none); 1 or 2 `passes`; `key_bytes`: most bytes of the keys as they are sent. The sparse
    /// secret's set is judged as any other.
    #[new]
    #[pyo3(signature = (
        context, *, bound, slots_to_coeffs, coeffs_to_slots, log2_ratio=10.0, weight=32, log2_failure=-140.0, degree=30,
        doublings=3, arcsine=1, passes=1, key_bytes=None, security=128, table="2024-classical", allow_insecure=false
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "Python's keyword arguments are separate"
    )]
    fn new(
        py: Python<'_>,
        context: Py<CkksContext>,
        #[pyo3(from_py_with = number)] bound: f64,
        #[pyo3(from_py_with = number)] slots_to_coeffs: usize,
        #[pyo3(from_py_with = number)] coeffs_to_slots: usize,
        #[pyo3(from_py_with = number)] log2_ratio: f64,
        #[pyo3(from_py_with = number)] weight: u32,
        #[pyo3(from_py_with = number)] log2_failure: f64,
        #[pyo3(from_py_with = number)] degree: usize,
        #[pyo3(from_py_with = number)] doublings: u32,
        #[pyo3(from_py_with = number)] arcsine: u32,
        #[pyo3(from_py_with = number)] passes: u32,
        #[pyo3(from_py_with = number)] key_bytes: Option<usize>,
        #[pyo3(from_py_with = number)] security: u32,
        table: &str,
        allow_insecure: bool,
    ) -> PyResult<Self> {
        let literal = BootstrapLiteral {
            bound,
            slots_to_coeffs,
            coeffs_to_slots,
            log2_ratio,
            weight,
            log2_failure,
            degree,
            doublings,
            arcsine,
            passes,
            key_bytes,
            ..BootstrapLiteral::default()
        };
        let policy = policy(security, table, allow_insecure)?;
        let params = &context.get().params;
        let inner = py.work(|| ::program::Bootstrapping::new(params, &literal, policy))?;
        Ok(Self { inner })
    }

    /// The cheapest bootstrapping of ciphertexts of all slots for a goal, with a set of its own: `n`; `bound` on what
    /// is refreshed; least `levels` and `most_levels` between two refreshes; `log2_error` that a refresh may add to a
    /// slot; `log2_failure`, `weight`, `passes` as above. The set's primes by their lengths: `data_bits`,
    /// `special_bits`, `dnum`, `log2_scale`; its `secret` by name.
    #[staticmethod]
    #[pyo3(signature = (
        *, n, bound, levels, most_levels, log2_error, log2_failure=-140.0, weight=32, passes=1, security=128,
        table="2024-classical"
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "Python's keyword arguments are separate"
    )]
    fn planned<'py>(
        py: Python<'py>,
        #[pyo3(from_py_with = number)] n: usize,
        #[pyo3(from_py_with = number)] bound: f64,
        #[pyo3(from_py_with = number)] levels: usize,
        #[pyo3(from_py_with = number)] most_levels: usize,
        #[pyo3(from_py_with = number)] log2_error: f64,
        #[pyo3(from_py_with = number)] log2_failure: f64,
        #[pyo3(from_py_with = number)] weight: u32,
        #[pyo3(from_py_with = number)] passes: u32,
        #[pyo3(from_py_with = number)] security: u32,
        table: &str,
    ) -> PyResult<(Bound<'py, PyDict>, Self)> {
        let goal = BootstrapGoal {
            n,
            slots: n / 2,
            message: Message::Real,
            bound,
            levels,
            most_levels,
            log2_error,
            log2_failure,
            weight,
            passes,
        };
        let policy = policy(security, table, false)?;
        let planned = py.work(|| goal.plan(policy))?;
        let made = ::program::Bootstrapping::of(planned).or_raise()?;
        let (set, facts) = (made.params().main(), PyDict::new(py));
        let lengths = |basis: &rns::RnsBasis<u64>| -> Vec<u32> {
            basis.moduli().iter().map(|prime| prime.bits()).collect()
        };
        facts.set_item("data_bits", lengths(set.rlwe().q()))?;
        facts.set_item(
            "special_bits",
            set.rlwe().p().map(lengths).unwrap_or_default(),
        )?;
        facts.set_item("dnum", set.rlwe().dnum())?;
        facts.set_item("log2_scale", set.scale().log2())?;
        facts.set_item("secret", secret_name(set.rlwe().params().secret()))?;
        Ok((facts, Self { inner: made }))
    }

    /// The level that a ciphertext has to have at least.
    #[getter]
    fn input_level(&self) -> usize {
        self.inner.params().input_level()
    }

    /// The level of a refreshed ciphertext.
    #[getter]
    fn output_level(&self) -> usize {
        self.inner.params().output_level()
    }

    /// Bound on the slots of what is refreshed, error included.
    #[getter]
    fn bound(&self) -> f64 {
        self.inner.params().literal().bound
    }

    /// log2 of the probability that a refresh fails.
    #[getter]
    fn log2_failure(&self) -> PyResult<f64> {
        self.inner.params().log2_failure().or_raise()
    }

    /// Bytes of the keys as they are sent.
    #[getter]
    fn key_bytes(&self) -> usize {
        self.inner.params().key_bytes()
    }

    /// The least `key_bytes` that a limit may be.
    #[getter]
    fn least_key_bytes(&self) -> usize {
        self.inner.params().least_key_bytes()
    }

    /// Bytes of the keys in memory: the least, without any uniform half, and all.
    #[getter]
    fn key_memory(&self) -> (usize, usize) {
        let [least, whole] = self.inner.params().key_memory();
        (least, whole)
    }

    /// Bound on the error that a refresh adds, where each noise in it exceeds what is reckoned with probability
    /// 2^-failure_bits.
    fn added(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] failure_bits: u32,
    ) -> PyResult<f64> {
        let found: Refresh = py.work(|| self.inner.refresh(failure_bits))?;
        Ok(found.added)
    }

    /// What a refresh takes, each thing by its data primes: `switches`, `keys`, `plaintexts`.
    fn effort<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (effort, facts) = (self.inner.effort(), PyDict::new(py));
        facts.set_item("switches", &effort.switches)?;
        facts.set_item("keys", &effort.keys)?;
        facts.set_item("plaintexts", &effort.plaintexts)?;
        Ok(facts)
    }

    /// The values it was made with.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (own, facts) = (self.inner.params().literal(), PyDict::new(py));
        facts.set_item("bound", own.bound)?;
        facts.set_item("slots_to_coeffs", own.slots_to_coeffs)?;
        facts.set_item("coeffs_to_slots", own.coeffs_to_slots)?;
        facts.set_item("log2_ratio", own.log2_ratio)?;
        facts.set_item("weight", own.weight)?;
        facts.set_item("log2_failure", own.log2_failure)?;
        facts.set_item("degree", own.degree)?;
        facts.set_item("doublings", own.doublings)?;
        facts.set_item("arcsine", own.arcsine)?;
        facts.set_item("passes", own.passes)?;
        facts.set_item("key_bytes", own.key_bytes)?;
        Ok(facts)
    }
}

/// The keys that a server refreshes with.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct BootstrapKeys {
    pub(crate) inner: Arc<ckks::bootstrap::BootstrapKeys>,
}

#[pymethods]
impl BootstrapKeys {
    /// Makes the keys of a secret key, each at the level where it is used.
    #[staticmethod]
    fn generate(
        py: Python<'_>,
        bootstrapping: &Bootstrapping,
        generator: &KeyGenerator,
        secret_key: &SecretKey,
    ) -> PyResult<Self> {
        let (WordWidth::W64(generator), WordWidth::W64(secret)) =
            (&generator.generator, &secret_key.key)
        else {
            return Err(Kind::KeyMismatch.error("bootstrapping keys are of CKKS"));
        };
        let params = bootstrapping.inner.params();
        // Keys are made to be sent: their uniform halves stay seeds.
        let [least, _] = params.key_memory();
        let options = KeyOptions {
            memory: Some(least),
            ..KeyOptions::default()
        };
        let made = py.work(|| {
            ckks::bootstrap::BootstrapKeys::generate_with(params, generator, secret, &options)
        })?;
        Ok(Self { inner: made.into() })
    }

    /// Reads `to_bytes`, for the bootstrapping they were made for. `memory`: bytes that they may take; uniform halves
    /// for which there is no room are grown from their seeds at each use.
    #[staticmethod]
    #[pyo3(signature = (bootstrapping, data, memory=None))]
    fn from_bytes(
        py: Python<'_>,
        bootstrapping: &Bootstrapping,
        data: &[u8],
        #[pyo3(from_py_with = number)] memory: Option<usize>,
    ) -> PyResult<Self> {
        let params = bootstrapping.inner.params();
        let read =
            py.work(|| ckks::bootstrap::BootstrapKeys::from_bytes_within(params, data, memory))?;
        Ok(Self { inner: read.into() })
    }

    /// The keys in the byte format.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        written(py, || self.inner.to_bytes())
    }

    /// Bytes of the residues in memory.
    #[getter]
    fn memory(&self) -> usize {
        self.inner.memory()
    }

    /// Which secret key they belong to.
    #[getter]
    fn key_id(&self) -> String {
        self.inner.id().to_string()
    }
}

/// Adds this module's classes.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Bootstrapping>()?;
    m.add_class::<BootstrapKeys>()
}
