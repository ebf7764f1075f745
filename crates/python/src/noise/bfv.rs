// SPDX-License-Identifier: Apache-2.0
//! Static noise estimates.

use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::params_args::RingArguments;
use crate::program::Circuit;
use bfv::Publication;
use bfv::noise::Estimator;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rlwe::noise::{FAILURE_BITS, Gain, GiantFacts, Noise};

/// Noise estimate of a ciphertext, made without any key.
#[pyclass(frozen, module = "ringsmith._native")]
#[derive(Clone, Copy)]
pub struct BfvEstimate {
    noise: Noise,
    limbs: usize,
    size: usize,
}

#[pymethods]
impl BfvEstimate {
    /// Data primes left minus 1.
    #[getter]
    fn level(&self) -> usize {
        self.limbs - 1
    }

    /// Components: 2, or more for a product.
    #[getter]
    fn size(&self) -> usize {
        self.size
    }

    fn __repr__(&self) -> String {
        format!("<BfvEstimate level={} size={}>", self.limbs - 1, self.size)
    }
}

/// Noise bounds of each operation for one parameter set; a bound fails with probability below 2^-failure_bits.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct BfvEstimator {
    estimator: Estimator,
    n: usize,
    limbs: usize,
    half_t: f64,
}

/// Bits of noise budget that `BfvDecryptor.decrypt_for_publication` takes at degree `n`.
#[pyfunction]
#[pyo3(signature = (n, *, security_bits=30, queries=1024))]
pub fn bfv_publication_bits(
    #[pyo3(from_py_with = number)] n: usize,
    #[pyo3(from_py_with = number)] security_bits: u32,
    #[pyo3(from_py_with = number)] queries: u64,
) -> f64 {
    let publication = Publication {
        noise_budget: 0.0,
        security_bits,
        queries,
    };
    publication.budget_needed(n)
}

#[pymethods]
impl BfvEstimator {
    #[new]
    #[pyo3(signature = (
        n, moduli, special, plain_modulus, *, dnum=None, secret="ternary", error="binomial:21",
        failure_bits=FAILURE_BITS
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python constructor"
    )]
    fn new(
        #[pyo3(from_py_with = number)] n: usize,
        #[pyo3(from_py_with = number)] moduli: Vec<u128>,
        #[pyo3(from_py_with = number)] special: Vec<u128>,
        #[pyo3(from_py_with = number)] plain_modulus: u64,
        #[pyo3(from_py_with = number)] dnum: Option<usize>,
        secret: &str,
        error: &str,
        #[pyo3(from_py_with = number)] failure_bits: u32,
    ) -> PyResult<Self> {
        let ring = RingArguments {
            n,
            moduli: &moduli,
            special: &special,
            dnum,
            secret,
            error,
        };
        let set = ring.literal::<u128>()?;
        let estimator = Estimator::of_numbers(&set, plain_modulus)
            .or_raise()?
            .with_failure_bits(failure_bits);
        Ok(Self {
            estimator,
            n,
            limbs: moduli.len(),
            half_t: plain_modulus as f64 / 2.0,
        })
    }

    /// Level of a fresh ciphertext.
    #[getter]
    fn max_level(&self) -> usize {
        self.limbs - 1
    }

    /// Encryption under the public key.
    fn encrypt_public(&self) -> BfvEstimate {
        let noise = self.estimator.fresh_public();
        BfvEstimate {
            noise,
            limbs: self.limbs,
            size: 2,
        }
    }

    /// Encryption under an extended public key.
    fn encrypt_extended(&self) -> PyResult<BfvEstimate> {
        let noise = self.estimator.fresh_extended().or_raise()?;
        Ok(BfvEstimate {
            noise,
            limbs: self.limbs,
            size: 2,
        })
    }

    /// Encryption under the secret key.
    fn encrypt_secret(&self) -> BfvEstimate {
        let noise = self.estimator.fresh_symmetric();
        BfvEstimate {
            noise,
            limbs: self.limbs,
            size: 2,
        }
    }

    /// Sum or difference.
    fn add(&self, a: &BfvEstimate, b: &BfvEstimate) -> PyResult<BfvEstimate> {
        let limbs = same_level(a, b)?;
        let noise = self.estimator.add(a.noise, b.noise);
        Ok(BfvEstimate {
            noise,
            limbs,
            size: a.size.max(b.size),
        })
    }

    /// Sum or difference with a plaintext.
    fn add_plain(&self, a: &BfvEstimate) -> BfvEstimate {
        let noise = self.estimator.add_plain(a.noise);
        BfvEstimate { noise, ..*a }
    }

    /// Product of two ciphertexts.
    fn multiply(&self, a: &BfvEstimate, b: &BfvEstimate) -> PyResult<BfvEstimate> {
        let limbs = same_level(a, b)?;
        let noise = self
            .estimator
            .multiply(a.noise, b.noise, [a.size, b.size], limbs)
            .or_raise()?;
        Ok(BfvEstimate {
            noise,
            limbs,
            size: a.size + b.size - 1,
        })
    }

    /// log2 of what the gain of a plaintext stays below for all but contrived values.
    #[getter]
    fn log2_random_gain(&self) -> f64 {
        Gain::random(self.n, self.half_t).log2
    }

    /// log2 of the largest gain of any plaintext.
    #[getter]
    fn log2_worst_gain(&self) -> f64 {
        Gain::worst_case(self.n, self.half_t).log2
    }

    /// Product with a plaintext: of known `log2_gain` (`BfvPlaintext.log2_gain`), else any whose coefficients are at
    /// most `bound` (default: t/2).
    #[pyo3(signature = (a, bound=None, *, log2_gain=None))]
    fn multiply_plain(
        &self,
        a: &BfvEstimate,
        #[pyo3(from_py_with = number)] bound: Option<f64>,
        #[pyo3(from_py_with = number)] log2_gain: Option<f64>,
    ) -> BfvEstimate {
        let bound = bound.unwrap_or(self.half_t).min(self.half_t);
        let gain = log2_gain.map_or(Gain::worst_case(self.n, bound), |log2| Gain { log2 });
        let noise = self.estimator.multiply_plain(a.noise, gain);
        BfvEstimate { noise, ..*a }
    }

    /// Product with a small integer: every slot times `value`.
    fn multiply_constant(
        &self,
        a: &BfvEstimate,
        #[pyo3(from_py_with = number)] value: i64,
    ) -> BfvEstimate {
        let factor = (value.unsigned_abs() as f64).max(1.0);
        BfvEstimate {
            noise: a.noise.scaled(factor.log2()),
            ..*a
        }
    }

    /// Back to two components from three: one key switch.
    fn relinearize(&self, a: &BfvEstimate) -> PyResult<BfvEstimate> {
        let size = a.size;
        if size == 2 {
            return Ok(*a);
        }
        if size > 3 {
            return Err(Kind::Input.error(format!(
                "relinearize: {size} components, 2 or 3 are needed; relinearize after each multiplication"
            )));
        }
        Ok(BfvEstimate {
            size: 2,
            ..self.rotate(a)?
        })
    }

    /// Rotation or row swap: one key switch.
    fn rotate(&self, a: &BfvEstimate) -> PyResult<BfvEstimate> {
        let noise = self.estimator.key_switch(a.noise, a.limbs).or_raise()?;
        Ok(BfvEstimate { noise, ..*a })
    }

    /// A linear transform: for each giant step whether it rotates, and for each of its terms whether it rotates and
    /// log2 of its plaintext's gain or None for no plaintext.
    fn linear_transform(
        &self,
        a: &BfvEstimate,
        giants: Vec<GiantFacts<f64>>,
    ) -> PyResult<BfvEstimate> {
        let term = |(rotates, gain): (bool, Option<f64>)| (rotates, gain.map(|log2| Gain { log2 }));
        let giant = |(rotates, terms): (bool, Vec<_>)| {
            (rotates, terms.into_iter().map(term).collect::<Vec<_>>())
        };
        let giants: Vec<_> = giants.into_iter().map(giant).collect();
        let noise = self
            .estimator
            .linear_transform(a.noise, &giants, a.limbs)
            .or_raise()?;
        Ok(BfvEstimate { noise, ..*a })
    }

    /// Division by the last prime.
    fn mod_switch(&self, a: &BfvEstimate) -> PyResult<BfvEstimate> {
        if a.limbs < 2 {
            return Err(Kind::Parameter.error("mod_switch: no prime is left to divide by"));
        }
        let noise = self
            .estimator
            .mod_switch(a.noise, a.limbs, a.size)
            .or_raise()?;
        Ok(BfvEstimate {
            noise,
            limbs: a.limbs - 1,
            ..*a
        })
    }

    /// Static noise bound of a circuit, with "none", "constants" or "all" plaintexts the worst possible: `bits` of
    /// noise budget of the poorest result, which is `step`; `overflow_bits` is -inf.
    #[pyo3(signature = (circuit, assume, guarantee="certain"))]
    fn bound<'py>(
        &self,
        py: Python<'py>,
        circuit: &Circuit,
        assume: &str,
        guarantee: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        circuit.bound(
            py,
            &::program::Estimator::Bfv(self.estimator.clone()),
            assume,
            guarantee,
        )
    }

    /// The noise of every result of a circuit whose guarantee is `bits`, for a program that takes them: log2 of the
    /// variance, factors of the secret, 0.
    fn results(
        &self,
        circuit: &Circuit,
        #[pyo3(from_py_with = number)] bits: f64,
    ) -> PyResult<Vec<(f64, f64, f64)>> {
        circuit.results(&::program::Estimator::Bfv(self.estimator.clone()), bits)
    }

    /// Bits of noise that may still be added; at 0 or below the result may decrypt wrongly.
    fn log2_budget(&self, a: &BfvEstimate) -> PyResult<f64> {
        self.estimator.budget(a.noise, a.limbs).or_raise()
    }
}

fn same_level(a: &BfvEstimate, b: &BfvEstimate) -> PyResult<usize> {
    if a.limbs == b.limbs {
        return Ok(a.limbs);
    }
    let (left, right) = (a.limbs - 1, b.limbs - 1);
    Err(Kind::Input.error(format!(
        "operands are at levels {left} and {right}; switch the higher one down first"
    )))
}
