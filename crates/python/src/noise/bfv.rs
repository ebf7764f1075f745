// SPDX-License-Identifier: Apache-2.0
//! Static noise estimates.

use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::scheme::estimator_class;
use bfv::Publication;
use bfv::noise::Estimator;
use pyo3::prelude::*;
use rlwe::noise::{Gain, GiantFacts, Noise};

/// Noise estimate of a ciphertext, made without any key.
#[pyclass(frozen, skip_from_py_object, module = "ringsmith._native")]
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

impl BfvEstimate {
    /// Of a fresh ciphertext.
    fn fresh(noise: Noise, estimator: &Estimator) -> Self {
        Self {
            noise,
            limbs: estimator.data_primes(),
            size: 2,
        }
    }

    /// After one key switch.
    fn switched(self, estimator: &Estimator) -> PyResult<Self> {
        let noise = estimator.key_switch(self.noise, self.limbs).or_raise()?;
        Ok(Self { noise, ..self })
    }
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

estimator_class! {
    /// Noise bounds of each operation for one parameter set; a bound fails with probability below 2^-failure_bits.
    BfvEstimator over BfvEstimate in Bfv;
    new(plain_modulus: u64) |ring| Estimator::of_numbers(&ring.literal::<u128>()?, plain_modulus).or_raise();
    max_level |e| e.data_primes() - 1;
    fresh() {
        public |e| Ok(BfvEstimate::fresh(e.fresh_public(), e));
        extended |e| Ok(BfvEstimate::fresh(e.fresh_extended().or_raise()?, e));
        secret |e| Ok(BfvEstimate::fresh(e.fresh_symmetric(), e));
    }
    unary {
        /// Sum or difference with a plaintext.
        add_plain: |e, a| Ok(BfvEstimate { noise: e.add_plain(a.noise), ..*a });
        /// Back to two components from three: one key switch.
        relinearize: |e, a| match a.size {
            2 => Ok(*a),
            3 => Ok(BfvEstimate { size: 2, ..a.switched(e)? }),
            size => Err(Kind::Input.error(format!(
                "relinearize: {size} components, 2 or 3 are needed; relinearize after each multiplication"
            ))),
        };
        /// Rotation or row swap: one key switch.
        rotate: |e, a| a.switched(e);
        /// Division by the last prime.
        mod_switch: |e, a| {
            if a.limbs < 2 {
                return Err(Kind::Parameter.error("mod_switch: no prime is left to divide by"));
            }
            let noise = e.mod_switch(a.noise, a.limbs, a.size).or_raise()?;
            Ok(BfvEstimate { noise, limbs: a.limbs - 1, ..*a })
        };
    }
    binary {
        /// Sum or difference.
        add: |e, a, b| {
            let (limbs, size) = (same_level(a, b)?, a.size.max(b.size));
            Ok(BfvEstimate { noise: e.add(a.noise, b.noise), limbs, size })
        };
        /// Product of two ciphertexts.
        multiply: |e, a, b| {
            let (limbs, size) = (same_level(a, b)?, a.size + b.size - 1);
            let noise = e.multiply(a.noise, b.noise, [a.size, b.size], limbs).or_raise()?;
            Ok(BfvEstimate { noise, limbs, size })
        };
    }
    bound {
        /// Static noise bound of a circuit, with "none", "constants" or "all" plaintexts the worst possible: `bits` of
        /// noise budget of the poorest result, which is `step`; `overflow_bits` is -inf.
    }
    results {
        /// The noise of every result of a circuit whose guarantee is `bits`, for a program that takes them: log2 of the
        /// variance, factors of the secret, 0.
    }
    more {
        /// log2 of what the gain of a plaintext stays below for all but contrived values.
        #[getter]
        fn log2_random_gain(&self) -> f64 {
            self.estimator.random_plaintext().log2
        }

        /// log2 of the largest gain of any plaintext.
        #[getter]
        fn log2_worst_gain(&self) -> f64 {
            self.estimator.any_plaintext().log2
        }

        /// Product with a plaintext: of known `log2_gain` (`BfvPlaintext.log2_gain`), else any whose coefficients are
        /// at most `bound` (default: t/2).
        #[pyo3(signature = (a, bound=None, *, log2_gain=None))]
        fn multiply_plain(
            &self,
            a: &BfvEstimate,
            #[pyo3(from_py_with = number)] bound: Option<f64>,
            #[pyo3(from_py_with = number)] log2_gain: Option<f64>,
        ) -> BfvEstimate {
            let half = self.estimator.half_plain_modulus();
            let worst = Gain::worst_case(self.estimator.n(), bound.map_or(half, |bound| bound.min(half)));
            let gain = log2_gain.map_or(worst, |log2| Gain { log2 });
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

        /// Bits of noise that may still be added; at 0 or below the result may decrypt wrongly.
        fn log2_budget(&self, a: &BfvEstimate) -> PyResult<f64> {
            self.estimator.budget(a.noise, a.limbs).or_raise()
        }
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
