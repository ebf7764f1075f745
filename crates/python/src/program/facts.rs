// SPDX-License-Identifier: Apache-2.0
//! A program: bytes in and out, and what it says of itself.

use super::arrays::{map_array, number_array, numbers};
use super::circuit;
use crate::bootstrapping::Bootstrapping;
use crate::context::{BfvContext, CkksContext, Context};
use crate::errors::Kind;
use crate::numbers::number;
use crate::params_args::policy;
use crate::word_width::WordWidth;
use crate::work::{Work, written};
use ::program::expression::Numbers;
use ::program::step::Step;
use ::program::{Limits, Parameters, Range, Secrecy};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// A homomorphic program: everything that is needed to encrypt, evaluate and decrypt.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct Program {
    pub(crate) inner: Arc<::program::Program>,
}

/// The arguments of [`Program::from_bytes`].
type Recipe<'py> = (
    Bound<'py, PyBytes>,
    u32,
    &'static str,
    bool,
    usize,
    u64,
    u64,
);

impl Program {
    pub fn of(inner: ::program::Program) -> Self {
        let inner = Arc::new(inner);
        Self { inner }
    }

    fn step(&self, number: usize) -> PyResult<&Step> {
        self.inner.steps.get(number).ok_or_else(|| {
            let there = self.inner.steps.len();
            Kind::Input.error(format!("there is no step {number}, there are {there}"))
        })
    }

    fn facts_of<'py>(
        &self,
        py: Python<'py>,
        steps: impl Iterator<Item = usize>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let facts = |number: usize| {
            let step = self.step(number)?;
            let facts = PyDict::new(py);
            facts.set_item("level", step.level)?;
            facts.set_item("scale", step.scale)?;
            facts.set_item("size", step.size)?;
            Ok(facts)
        };
        steps.map(facts).collect()
    }
}

/// The program whose result an argument is: name, identity, outputs.
type Maker<'py> = (String, Bound<'py, PyBytes>, Vec<u32>);

#[pymethods]
impl Program {
    /// Reads `to_bytes` and checks all of it, the guarantee too; the reader's own security policy applies. What is more
    /// than the limits is refused before memory or time is spent.
    #[staticmethod]
    #[pyo3(signature = (
        data, security=128, table="2024-classical", allow_insecure=false, max_degree=Limits::default().degree,
        max_ciphertexts=Limits::default().ciphertexts, max_plain_work=Limits::default().plain_work
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn from_bytes(
        py: Python<'_>,
        data: &[u8],
        #[pyo3(from_py_with = number)] security: u32,
        table: &str,
        allow_insecure: bool,
        #[pyo3(from_py_with = number)] max_degree: usize,
        #[pyo3(from_py_with = number)] max_ciphertexts: u64,
        #[pyo3(from_py_with = number)] max_plain_work: u64,
    ) -> PyResult<Self> {
        let policy = policy(security, table, allow_insecure)?;
        let limits = Limits {
            degree: max_degree,
            ciphertexts: max_ciphertexts,
            plain_work: max_plain_work,
        };
        py.work(|| ::program::Program::from_bytes(data, policy, &limits))
            .map(Self::of)
    }

    /// The program in the byte format.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        written(py, || self.inner.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Recipe<'py>)> {
        let policy = match &self.inner.parameters {
            Parameters::Bfv(params) => params.rlwe().security().policy,
            Parameters::BfvWide(params) => params.rlwe().security().policy,
            Parameters::Ckks(params) => params.rlwe().security().policy,
        };
        let recipe = (
            self.to_bytes(py)?,
            policy.level,
            policy.table.id(),
            policy.allow_insecure,
            usize::MAX,
            u64::MAX,
            u64::MAX,
        );
        Ok((py.get_type::<Self>().getattr("from_bytes")?, recipe))
    }

    /// SHA-256 of the bytes.
    fn hash<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.hash())
    }

    /// Hashes of its parts, by name: what two sides must have in common.
    fn sections<'py>(&self, py: Python<'py>) -> Vec<(&'static str, Bound<'py, PyBytes>)> {
        let section = |(name, hash): (_, [u8; 16])| (name, PyBytes::new(py, &hash));
        self.inner.sections().into_iter().map(section).collect()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    fn __hash__(&self) -> u64 {
        let hash = self.inner.hash();
        hash.iter().take(8).fold(0, |h, b| h << 8 | u64::from(*b))
    }

    fn __repr__(&self) -> String {
        let (name, parameters) = (&self.inner.name, &self.inner.parameters);
        let (scheme, n) = (parameters.scheme(), parameters.n());
        let steps = self.inner.steps.len();
        format!("<Program {name}: {scheme}, n = {n}, {steps} steps>")
    }

    /// The kernel's name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Which of its versions.
    #[getter]
    fn variant(&self) -> &str {
        &self.inner.variant
    }

    /// "bfv" or "ckks".
    #[getter]
    fn scheme(&self) -> &'static str {
        self.inner.parameters.scheme()
    }

    /// Ring degree.
    #[getter]
    fn n(&self) -> usize {
        self.inner.parameters.n()
    }

    /// Values in a ciphertext: n in BFV, as two rows of n/2; n/2 in CKKS.
    #[getter]
    fn slots(&self) -> usize {
        self.inner.parameters.slots()
    }

    /// The key that inputs are encrypted under: "secret", "public" or "extended", which is a public one over Q·P.
    #[getter]
    fn encryption(&self) -> &'static str {
        self.inner.encryption.name()
    }

    /// Shape of the result.
    #[getter]
    fn result_shape(&self) -> Vec<u32> {
        self.inner.result_shape.clone()
    }

    /// Whether the first axis of the result holds real and imaginary parts.
    #[getter]
    fn complex(&self) -> bool {
        self.inner.reading.complex
    }

    /// The number by which the result is to be divided: 1 but in BFV.
    #[getter]
    fn divisor(&self) -> u64 {
        self.inner.reading.divisor
    }

    /// Element e of the result is slot `r % slots` of output `r // slots`, r being `result[e]`.
    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        map_array(py, &self.inner.result)
    }

    /// The parameter set in the byte format.
    #[getter]
    fn parameters_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.parameters.to_bytes())
    }

    /// Number of steps, inputs among them.
    #[getter]
    fn steps(&self) -> usize {
        self.inner.steps.len()
    }

    /// The lowest level of a step.
    #[getter]
    fn lowest_level(&self) -> u32 {
        let levels = self.inner.steps.iter().map(|step| step.level);
        levels.min().unwrap_or(0)
    }

    /// The guarantee of the result: `bits`, `failure_bits`, `tolerance`, `publish`, `strength`.
    #[getter]
    fn guarantee<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (guarantee, facts) = (&self.inner.guarantee, PyDict::new(py));
        facts.set_item("bits", guarantee.bits)?;
        facts.set_item("failure_bits", guarantee.failure_bits)?;
        facts.set_item("tolerance", guarantee.tolerance)?;
        facts.set_item("publish", guarantee.publish)?;
        facts.set_item("strength", guarantee.strength.name())?;
        Ok(facts)
    }

    /// Name, shape, whether it is encrypted, least and largest value of every argument.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let facts = |argument: &::program::Argument| {
            let (name, shape) = (&argument.name, &argument.shape);
            let encrypted = argument.secrecy != Secrecy::Plain;
            let facts = match argument.range {
                Range::Reals { low, high } => {
                    (name, shape, encrypted, low, high).into_pyobject(py)?
                }
                Range::Integers { low, high } => {
                    (name, shape, encrypted, low, high).into_pyobject(py)?
                }
            };
            Ok(facts.into_any())
        };
        self.inner.arguments.iter().map(facts).collect()
    }

    /// The element in every slot of an encrypted argument's ciphertexts, -1 for zero.
    fn packing<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let named = |a: &&::program::Argument| a.name == name;
        match self.inner.arguments.iter().find(named).map(|a| &a.secrecy) {
            Some(Secrecy::Encrypted(packing)) => Ok(map_array(py, packing)),
            _ => Err(Kind::Input.error(format!("there is no encrypted argument {name:?}"))),
        }
    }

    /// The program whose result an encrypted argument is: name, identity, and the numbers of the outputs that are its
    /// ciphertexts; None for one that the client encrypts.
    fn producer<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Maker<'py>>> {
        let named = |a: &&::program::Argument| a.name == name && a.secrecy != Secrecy::Plain;
        let Some(argument) = self.inner.arguments.iter().find(named) else {
            return Err(Kind::Input.error(format!("there is no encrypted argument {name:?}")));
        };
        Ok(argument.producer.as_ref().map(|own| {
            let outputs = own.ciphertexts.iter().map(|c| c.output).collect();
            (own.name.clone(), PyBytes::new(py, &own.identity), outputs)
        }))
    }

    /// What is taken on trust of an argument that another program made, for each of its ciphertexts: output, level,
    /// scale, noise. The noise as of `results`.
    fn handed(&self, name: &str) -> Vec<(u32, u32, f64, circuit::Noise)> {
        let named = self.inner.arguments.iter().find(|own| own.name == name);
        let given = named.and_then(|own| own.producer.as_ref());
        let known = |own: &::program::Handed| {
            (
                own.output,
                own.level,
                own.scale,
                circuit::noise_of(own.noise),
            )
        };
        given.map_or_else(Vec::new, |own| own.ciphertexts.iter().map(known).collect())
    }

    /// What a program that takes a result of this one may know of each output's noise: in CKKS log2 of its error, its
    /// magnitude with the author's promises and without those that leave out slots; in BFV log2 of its variance,
    /// factors of the secret, 0.
    fn results(&self, py: Python<'_>) -> PyResult<Vec<circuit::Noise>> {
        let found = py.work(|| self.inner.results())?;
        Ok(found.into_iter().map(circuit::noise_of).collect())
    }

    /// Bounds on values and on errors that the author promised and nothing checks, in the order of the steps: place,
    /// bound, error.
    fn promises(&self) -> Vec<(String, f64, f64)> {
        let promised = |step: &Step| {
            let promise = step.operation.attributes().promise?;
            Some((self.inner.place(step), promise.bound, promise.error))
        };
        self.inner.steps.iter().filter_map(promised).collect()
    }

    /// Steps by name.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut counts = std::collections::BTreeMap::new();
        for step in &self.inner.steps {
            *counts.entry(step.operation.name()).or_insert(0) += 1;
        }
        counts.into_pyobject(py)
    }

    /// Key switches of all steps; a linear transform has one for each distinct baby rotation and each giant rotation.
    #[getter]
    fn key_switches(&self) -> usize {
        self.inner.key_switches()
    }

    /// The rotations that are needed, rising.
    fn rotations(&self) -> Vec<i32> {
        self.inner.required_keys().rotations
    }

    /// The evaluation keys that are needed: `relinearization` and `galois` with the level they serve or None,
    /// `rotations`, `swap_rows`, `public`, `bootstrapping`.
    fn required_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (keys, facts) = (self.inner.required_keys(), PyDict::new(py));
        facts.set_item("relinearization", keys.relinearization)?;
        facts.set_item("galois", keys.galois)?;
        facts.set_item("rotations", keys.rotations)?;
        facts.set_item("swap_rows", keys.swap_rows)?;
        facts.set_item("public", keys.public)?;
        facts.set_item("bootstrapping", keys.bootstrapping)?;
        Ok(facts)
    }

    /// What refreshes are made of, None without.
    #[getter]
    fn bootstrapping(&self) -> Option<Bootstrapping> {
        let inner = self.inner.bootstrapping.clone()?;
        Some(Bootstrapping { inner })
    }

    /// Refreshes among the steps.
    #[getter]
    fn refreshes(&self) -> usize {
        self.inner.refreshes()
    }

    /// Cost of a run: `memory`, `keys`, `ciphertext`, `plaintexts` in bytes, `work` in butterflies.
    fn cost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (cost, facts) = (self.inner.cost(), PyDict::new(py));
        facts.set_item("memory", cost.memory)?;
        facts.set_item("keys", cost.keys)?;
        facts.set_item("ciphertext", cost.ciphertext)?;
        facts.set_item("plaintexts", cost.plaintexts)?;
        facts.set_item("work", cost.work)?;
        Ok(facts)
    }

    /// `level`, `scale` and `size` of every ciphertext that is sent.
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.facts_of(py, 0..self.inner.input_count())
    }

    /// `level`, `scale` and `size` of every ciphertext that is returned.
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.facts_of(py, self.inner.outputs.iter().map(|&o| o as usize))
    }

    /// The program as text.
    fn listing(&self) -> String {
        self.inner.to_string()
    }

    /// `file:line` of a step.
    fn place(&self, #[pyo3(from_py_with = number)] step: usize) -> PyResult<String> {
        self.step(step).map(|step| self.inner.place(step))
    }

    /// Static bound by the engine's noise estimate, with "none", "constants" or "all" plaintexts the worst possible:
    /// `bits` as in `guarantee`, `overflow_bits` (above 0: `step` overflows), `step`.
    fn bound<'py>(&self, py: Python<'py>, assume: &str) -> PyResult<Bound<'py, PyDict>> {
        let assume = circuit::assumption(assume)?;
        let bound = py.work(|| self.inner.bound(assume, None))?;
        circuit::facts(py, bound)
    }

    /// The slots of every output for the slots of every input and the plain arguments, all in the clear.
    fn clear<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Bound<'py, PyAny>>,
        plain: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let read = |all: &[Bound<'py, PyAny>]| {
            let all: PyResult<Vec<Numbers>> = all.iter().map(numbers).collect();
            all
        };
        let (inputs, plain) = (read(&inputs)?, read(&plain)?);
        let outputs = py.work(|| self.inner.clear(&inputs, &plain))?;
        Ok(outputs.iter().map(|row| number_array(py, row)).collect())
    }

    /// The context of its parameters, which share their tables with it.
    fn context(&self, py: Python<'_>) -> PyResult<Context> {
        let bfv = |params| Ok(Context::Bfv(Py::new(py, BfvContext { params })?));
        match &self.inner.parameters {
            Parameters::Bfv(params) => bfv(WordWidth::W64(params.clone())),
            Parameters::BfvWide(params) => bfv(WordWidth::W128(params.clone())),
            Parameters::Ckks(params) => {
                let params = params.clone();
                Ok(Context::Ckks(Py::new(py, CkksContext { params })?))
            }
        }
    }
}
