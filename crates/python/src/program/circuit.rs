// SPDX-License-Identifier: Apache-2.0
//! Circuits as far as noise goes: what a search for parameters asks bounds of.

use super::step::{Giants, Step, encryption, transform};
use crate::bootstrapping::Bootstrapping;
use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::work::Work;
use ::program::{Assume, Digits, Estimator, PlaintextFacts, Ranges, Received, Strength};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rlwe::noise::Norms;

/// Steps and what is known of values. `encryption`: the key inputs are encrypted under; `inputs`: the largest magnitude
/// of each ciphertext that is sent; `outputs`: the steps that are results; of each plaintext whether no argument has
/// part in it, the integer that all its slots hold or None, and the largest magnitude of a slot. `received`: the noise
/// of the inputs that other programs made, None for the others.
#[pyclass(module = "ringsmith._native")]
pub struct Circuit {
    inner: ::program::Circuit<'static>,
}

/// The assumption about plaintexts that has this name.
pub fn assumption(name: &str) -> PyResult<Assume> {
    match name {
        "none" => Ok(Assume::None),
        "constants" => Ok(Assume::Constants),
        "all" => Ok(Assume::All),
        _ => Err(Kind::Input.error(format!(
            "no assumption {name:?}; there are none, constants, all"
        ))),
    }
}

/// The strength of a guarantee that has this name.
pub fn strength(name: &str) -> PyResult<Strength> {
    let found = Strength::ALL.into_iter().find(|s| s.name() == name);
    found.ok_or_else(|| {
        Kind::Input.error(format!(
            "no guarantee {name:?}; there are certain, probable"
        ))
    })
}

/// Noise of a ciphertext that another program made: in CKKS log2 of its error, its magnitude with the author's promises
/// and without those that leave out slots; in BFV log2 of its variance, factors of the secret, 0.
pub type Noise = (f64, f64, f64);

/// The noise that these numbers are in a scheme.
pub fn received(exact: bool, noise: Noise) -> PyResult<Received> {
    let (first, second, third) = noise;
    let factors = second as u32;
    match exact {
        false => Ok(Received::Reals {
            log2_error: first,
            magnitude: second,
            everywhere: third,
        }),
        true if f64::from(factors) == second => Ok(Received::Integers {
            log2_variance: first,
            factors,
        }),
        true => Err(Kind::Input.error(format!(
            "{second} factors of the secret; a whole number is needed"
        ))),
    }
}

/// The numbers of a noise.
pub fn noise_of(received: Received) -> Noise {
    match received {
        Received::Reals {
            log2_error,
            magnitude,
            everywhere,
        } => (log2_error, magnitude, everywhere),
        Received::Integers {
            log2_variance,
            factors,
        } => (log2_variance, f64::from(factors), 0.0),
    }
}

/// A bound as Python reads it.
pub fn facts(py: Python<'_>, bound: ::program::Bound) -> PyResult<Bound<'_, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("bits", bound.bits)?;
    facts.set_item("overflow_bits", bound.overflow_bits)?;
    facts.set_item("step", bound.step)?;
    Ok(facts)
}

impl Circuit {
    /// Static noise bound of the results under a set.
    pub fn bound<'py>(
        &self,
        py: Python<'py>,
        estimator: &Estimator,
        assume: &str,
        guarantee: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let bound = self
            .inner
            .bound(estimator, strength(guarantee)?, assumption(assume)?)
            .or_raise()?;
        facts(py, bound)
    }

    /// The noise of every output of a circuit whose guarantee is `bits`.
    pub fn results(&self, estimator: &Estimator, bits: f64) -> PyResult<Vec<Noise>> {
        let found = self.inner.results(estimator, bits).or_raise()?;
        Ok(found.into_iter().map(noise_of).collect())
    }
}

#[pymethods]
impl Circuit {
    #[new]
    #[pyo3(signature = (scheme, encryption, inputs, outputs, plaintexts, received=vec![], uniform=vec![]))]
    fn new(
        scheme: &str,
        encryption: &str,
        #[pyo3(from_py_with = number)] inputs: Vec<f64>,
        #[pyo3(from_py_with = number)] outputs: Vec<u32>,
        plaintexts: Vec<(bool, Option<i64>, f64)>,
        received: Vec<Option<Noise>>,
        uniform: Vec<bool>,
    ) -> PyResult<Self> {
        let exact = match scheme {
            "bfv" => true,
            "ckks" => false,
            _ => {
                return Err(Kind::Input.error(format!("no scheme {scheme:?}; there are bfv, ckks")));
            }
        };
        let read = |own: Option<Noise>| own.map(|noise| self::received(exact, noise)).transpose();
        let mut uniform = uniform.into_iter();
        let facts = |(constant, integer, bound)| PlaintextFacts {
            constant,
            integer,
            uniform: uniform.next().unwrap_or(false),
            bound,
        };
        let inner = ::program::Circuit {
            exact,
            encryption: self::encryption(encryption)?,
            inputs,
            received: received.into_iter().map(read).collect::<PyResult<_>>()?,
            plaintexts: plaintexts.into_iter().map(facts).collect(),
            transforms: vec![].into(),
            refresh: None,
            effort: None,
            ranges: Ranges::default(),
            steps: vec![].into(),
            outputs: outputs.into(),
        };
        Ok(Self { inner })
    }

    /// Adds a linear transform, as `ProgramBuilder.transform`. `norms`: the largest Σ|factor| and √Σ factor² of a slot,
    /// for all transforms or none.
    #[pyo3(signature = (scale, giants, norms=None))]
    fn transform(
        &mut self,
        #[pyo3(from_py_with = number)] scale: f64,
        giants: Giants,
        #[pyo3(from_py_with = number)] norms: Option<(f64, f64)>,
    ) -> usize {
        let transforms = self.inner.transforms.to_mut();
        let norms = norms.map(|(sum, square)| Norms { sum, square });
        self.inner.ranges.norms.extend(norms);
        transforms.push(self::transform(scale, giants));
        transforms.len() - 1
    }

    /// The largest magnitude of each step's slots, with all promises and without those that leave out slots.
    fn magnitudes(
        &mut self,
        #[pyo3(from_py_with = number)] promised: Vec<f64>,
        #[pyo3(from_py_with = number)] everywhere: Vec<f64>,
    ) {
        (self.inner.ranges.promised, self.inner.ranges.everywhere) = (promised, everywhere);
    }

    /// What promised errors can do to the slots of each step (infinite where that is not followed), and to the slots
    /// of each output that are read.
    fn promised_errors(
        &mut self,
        #[pyo3(from_py_with = number)] errors: Vec<f64>,
        #[pyo3(from_py_with = number)] results: Vec<f64>,
    ) {
        (self.inner.ranges.errors, self.inner.ranges.results) = (errors, results);
    }

    /// Sets what refreshes are made of; each noise in one exceeds what is reckoned with probability 2^-failure_bits.
    fn bootstrapping(
        &mut self,
        py: Python<'_>,
        own: &Bootstrapping,
        #[pyo3(from_py_with = number)] failure_bits: u32,
    ) -> PyResult<()> {
        self.inner.refresh = Some(py.work(|| own.inner.refresh(failure_bits))?);
        self.inner.effort = Some(own.inner.effort().clone());
        Ok(())
    }

    /// Adds an operation; its place in the source has no meaning here.
    fn step(&mut self, step: &Step) -> PyResult<usize> {
        self.inner.push(step.inner).or_raise()
    }

    /// Cost of the steps under a set of `data` and `special` primes, in the unit of `Program.cost()["work"]`.
    fn work(
        &self,
        #[pyo3(from_py_with = number)] n: usize,
        #[pyo3(from_py_with = number)] data: usize,
        #[pyo3(from_py_with = number)] special: usize,
        #[pyo3(from_py_with = number)] dnum: usize,
    ) -> PyResult<u64> {
        let most = rlwe::MAX_PRIMES as usize;
        let top = self.inner.steps.iter().map(|step| step.level).max();
        let known = n.is_power_of_two() && n <= 1 << 17 && data <= most && special <= most;
        if !known || top.is_some_and(|top| top as usize >= data) || !(1..=data).contains(&dnum) {
            return Err(Kind::Parameter.error(format!(
                "n = {n}, {data} + {special} primes in {dnum} digits are no set of this circuit"
            )));
        }
        Ok(self.inner.work(Digits {
            n,
            data,
            special,
            dnum,
        }))
    }

    /// The plaintexts whose values bear on the noise: number and scale.
    fn encodings(&self) -> Vec<(u32, f64)> {
        let found = self.inner.encodings().into_iter();
        found.map(|(number, scale, _)| (number, scale)).collect()
    }
}
