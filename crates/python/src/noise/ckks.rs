// SPDX-License-Identifier: Apache-2.0
//! Static error estimates, from plain numbers: no keys, no tables.

use crate::ckks::polynomial_of;
use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::params_args::RingArguments;
use crate::scheme::estimator_class;
use ckks::noise::{Estimate, Estimator};
use pyo3::prelude::*;

/// Noise estimate of a plaintext or ciphertext, made without any key.
#[pyclass(frozen, from_py_object, module = "ringsmith._native")]
#[derive(Clone, Copy)]
pub struct CkksEstimate {
    inner: Estimate,
}

/// Of a linear transform: whether it rotates, and its plaintext.
type Term = (bool, Option<CkksEstimate>);
type Giant = (bool, Vec<Term>);

#[pymethods]
impl CkksEstimate {
    /// Bound on the absolute value of every slot.
    #[getter]
    fn message(&self) -> f64 {
        self.inner.message
    }

    /// Scale.
    #[getter]
    fn scale(&self) -> f64 {
        self.inner.scale
    }

    /// Rescales left.
    #[getter]
    fn level(&self) -> usize {
        self.inner.level
    }

    /// Components: 1 for a plaintext, 2 for a ciphertext, 3 for a product.
    #[getter]
    fn size(&self) -> usize {
        self.inner.size
    }

    fn __repr__(&self) -> String {
        let e = &self.inner;
        format!(
            "<CkksEstimate message={:e} scale=2^{:.2} level={} size={}>",
            e.message,
            e.scale.log2(),
            e.level,
            e.size
        )
    }
}

fn wrap(inner: Estimate) -> CkksEstimate {
    CkksEstimate { inner }
}

/// Fails for a level above the top: an estimate of another chain.
fn check_level(estimator: &Estimator, level: usize) -> PyResult<()> {
    let top = estimator.max_level();
    if level <= top {
        return Ok(());
    }
    Err(Kind::Parameter.error(format!("level {level}; this chain's highest is {top}")))
}

fn estimator(ring: &RingArguments<'_>) -> PyResult<Estimator> {
    ring.refuse_wide("CKKS")?;
    let set = ring.literal::<u64>()?;
    let digits = if set.dnum == 0 { set.q.len() } else { set.dnum };
    Estimator::new(ring.n, set.secret, &set.error, &set.q, &set.p, digits).or_raise()
}

estimator_class! {
    /// Error bounds of each operation for one parameter set; a bound fails with probability below 2^-failure_bits.
    CkksEstimator over CkksEstimate in Ckks;
    new() |ring| estimator(ring);
    max_level |e| e.max_level();
    fresh(plaintext) {
        public |e| Ok(wrap(e.encrypt_public(&plaintext.inner)));
        extended |e| e.encrypt_extended(&plaintext.inner).map(wrap).or_raise();
        secret |e| Ok(wrap(e.encrypt_secret(&plaintext.inner)));
    }
    unary {
        /// Back to two components: one key switch.
        relinearize: |e, a| check_level(e, a.inner.level).map(|()| wrap(e.relinearize(&a.inner)));
        /// Back to two components and division by the last prime, rounded once.
        relinearize_rescale: |e, a| {
            check_level(e, a.inner.level)?;
            if a.inner.level == 0 {
                return Err(Kind::Parameter.error("relinearize_rescale: no prime is left to divide by"));
            }
            Ok(wrap(e.relinearize_rescale(&a.inner)))
        };
        /// Rotation or conjugation: one key switch.
        rotate: |e, a| check_level(e, a.inner.level).map(|()| wrap(e.rotate(&a.inner)));
        /// Division by the last prime.
        rescale: |e, a| {
            check_level(e, a.inner.level)?;
            e.rescale(&a.inner).map(wrap).or_raise()
        };
    }
    binary {
        /// Sum or difference.
        add: |e, a, b| Ok(wrap(e.add(&a.inner, &b.inner)));
        /// Product of two ciphertexts, or of a ciphertext and a plaintext.
        multiply: |e, a, b| Ok(wrap(e.multiply(&a.inner, &b.inner)));
    }
    bound {
        /// Static noise bound of a circuit, with "none", "constants" or "all" plaintexts the worst possible: `bits`,
        /// log2 of the largest error of a slot; `overflow_bits` by which the fullest `step` exceeds its modulus (below
        /// 0: room).
    }
    results {
        /// The noise of every result of a circuit whose guarantee is `bits`, for a program that takes them: log2 of the
        /// error, the magnitude with the author's promises and without those that leave out slots (error included).
    }
    more {
        /// Worst-case rounding error of a slot of any plaintext, times its scale.
        #[getter]
        fn worst_rounding(&self) -> f64 {
            self.estimator.log2_worst_rounding().exp2()
        }

        /// Bound on the rounding error of all plaintexts but contrived or few small values, times the scale.
        #[getter]
        fn random_rounding(&self) -> f64 {
            self.estimator.log2_random_rounding().exp2()
        }

        /// A plaintext with slots of at most `bound`; `rounding` (`CkksEncoder.rounding`) is the worst case unless
        /// given.
        #[pyo3(signature = (bound, level, scale, *, rounding=None))]
        fn encode(
            &self,
            #[pyo3(from_py_with = number)] bound: f64,
            #[pyo3(from_py_with = number)] level: usize,
            #[pyo3(from_py_with = number)] scale: f64,
            #[pyo3(from_py_with = number)] rounding: Option<f64>,
        ) -> PyResult<CkksEstimate> {
            check_level(&self.estimator, level)?;
            let log2_rounding = rounding.map_or(self.estimator.log2_worst_rounding(), f64::log2);
            Ok(wrap(self.estimator.encode_rounded(
                bound,
                level,
                scale,
                log2_rounding,
            )))
        }

        /// Product with a real constant, to the scale `scale`.
        fn multiply_constant(
            &self,
            a: &CkksEstimate,
            #[pyo3(from_py_with = number)] value: f64,
            #[pyo3(from_py_with = number)] scale: f64,
        ) -> CkksEstimate {
            wrap(self.estimator.multiply_constant(&a.inner, value, scale))
        }

        /// Sum with a real constant.
        fn add_constant(
            &self,
            a: &CkksEstimate,
            #[pyo3(from_py_with = number)] value: f64,
        ) -> CkksEstimate {
            wrap(self.estimator.add_constant(&a.inner, value))
        }

        /// A linear transform: for each giant step whether it rotates, and for each of its terms whether it rotates and
        /// its encoded plaintext or None.
        fn linear_transform(&self, a: &CkksEstimate, giants: Vec<Giant>) -> PyResult<CkksEstimate> {
            check_level(&self.estimator, a.inner.level)?;
            let term = |(rotates, plaintext): Term| (rotates, plaintext.map(|p| p.inner));
            let giant = |(rotates, terms): Giant| (rotates, terms.into_iter().map(term).collect());
            let giants: Vec<_> = giants.into_iter().map(giant).collect();
            Ok(wrap(self.estimator.linear_transform(&a.inner, &giants)))
        }

        /// The same value at a lower level.
        fn drop_to(
            &self,
            a: &CkksEstimate,
            #[pyo3(from_py_with = number)] level: usize,
        ) -> CkksEstimate {
            wrap(self.estimator.drop_to(&a.inner, level))
        }

        /// A polynomial with the very plan the evaluator follows.
        #[pyo3(signature = (a, coefficients, *, basis="monomial", scale=None))]
        fn polynomial(
            &self,
            a: &CkksEstimate,
            #[pyo3(from_py_with = number)] coefficients: Vec<f64>,
            basis: &str,
            #[pyo3(from_py_with = number)] scale: Option<f64>,
        ) -> PyResult<CkksEstimate> {
            let polynomial = polynomial_of(basis, &coefficients)?;
            check_level(&self.estimator, a.inner.level)?;
            self.estimator
                .polynomial(&a.inner, &polynomial, scale.unwrap_or(a.inner.scale))
                .map(wrap)
                .or_raise()
        }

        /// The same with the message bounded by `bound` too: a promise of the circuit's author.
        fn limit(&self, a: &CkksEstimate, #[pyo3(from_py_with = number)] bound: f64) -> CkksEstimate {
            wrap(Estimate {
                message: a.inner.message.min(bound),
                ..a.inner
            })
        }

        /// log2 of `slot_error`.
        fn log2_slot_error(&self, a: &CkksEstimate) -> f64 {
            self.estimator.log2_slot_error(&a.inner)
        }

        /// The bound on the error of a slot, in units of the message.
        fn slot_error(&self, a: &CkksEstimate) -> f64 {
            self.estimator.slot_error(&a.inner)
        }

        /// Fails unless message and error stay below half the modulus; `operation` names the place in the error.
        fn check_room(&self, operation: &str, a: &CkksEstimate) -> PyResult<()> {
            check_level(&self.estimator, a.inner.level)?;
            let room = self.estimator.check_room("evaluate", &a.inner);
            room.map_err(|error| Kind::Parameter.error(format!("{operation}: {error}")))
        }
    }
}

/// log2 of the factor by which `CkksDecryptor.decrypt_for_publication` raises the bound on a slot's error at degree
/// `n`, with its defaults and a failure probability of 2^-failure_bits.
#[pyfunction]
pub fn ckks_publication_bits(
    #[pyo3(from_py_with = number)] n: usize,
    #[pyo3(from_py_with = number)] failure_bits: u32,
) -> f64 {
    ::program::log2_publication(n, failure_bits)
}

/// Multiplications in a row that a polynomial needs.
#[pyfunction]
#[pyo3(signature = (coefficients, *, basis="monomial"))]
pub fn polynomial_depth(
    #[pyo3(from_py_with = number)] coefficients: Vec<f64>,
    basis: &str,
) -> PyResult<usize> {
    Ok(polynomial_of(basis, &coefficients)?.depth())
}
