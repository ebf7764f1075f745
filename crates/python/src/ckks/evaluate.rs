// SPDX-License-Identifier: Apache-2.0
//! CKKS operations on ciphertexts.

use super::data::{CkksCiphertext, CkksPlaintext};
use crate::context::CkksContext;
use crate::errors::{Kind, OrRaise};
use crate::keys::{GaloisKeys, RelinKey};
use crate::numbers::number;
use crate::scheme::evaluator_class;
use crate::word_width::{WordWidth, mismatch};
use crate::work::Work;
use ckks::{Basis, Evaluator, Polynomial};
use num_complex::Complex64;
use pyo3::prelude::*;

/// A key over 64-bit words, as CKKS needs it.
pub fn narrow<A, B>(key: &WordWidth<A, B>) -> PyResult<&A> {
    match key {
        WordWidth::W64(key) => Ok(key),
        WordWidth::W128(_) => Err(mismatch()),
    }
}

evaluator_class! {
    /// Operations on CKKS ciphertexts; nothing is inserted, and the secret key is never needed.
    CkksEvaluator(Evaluator) in CkksContext over CkksCiphertext, CkksPlaintext;
    new |context, threads| Evaluator::new(&context.params).with_threads(threads.clone());
    unary {
        /// The negative.
        negate, negate_batch: |e, a| e.negate(a).or_raise();
        /// The square, three components.
        square, square_batch: |e, a| e.square(a).or_raise();
        /// Division by the last prime: one level and its bits of scale less.
        rescale, rescale_batch: |e, a| e.rescale(a).or_raise();
    }
    binary {
        /// Sum; the scales have to agree, the lower level wins.
        add, add_batch: |e, a, b| e.add(a, b).or_raise();
        /// Difference; as `add`.
        sub, sub_batch: |e, a, b| e.sub(a, b).or_raise();
        /// Product, three components, scales multiplied.
        multiply, multiply_batch: |e, a, b| e.multiply(a, b).or_raise();
    }
    plain {
        /// Sum with a plaintext of the same scale.
        add_plain, add_plain_batch: |e, a, b| e.add_plain(a, b).or_raise();
        /// Difference with a plaintext of the same scale.
        sub_plain, sub_plain_batch: |e, a, b| e.sub_plain(a, b).or_raise();
        /// Product with a plaintext, scales multiplied.
        multiply_plain, multiply_plain_batch: |e, a, b| e.multiply_plain(a, b).or_raise();
    }
    relin { |e, a, key| e.relinearize(a, narrow(key)?).or_raise() }
    rotate { |e, a, steps, keys| e.rotate(a, steps, narrow(keys)?).or_raise() }
    more {
        /// Rotations of one ciphertext by each of `steps`; the decomposition is done once.
        fn rotate_hoisted(
            &self,
            py: Python<'_>,
            a: &CkksCiphertext,
            #[pyo3(from_py_with = number)] steps: Vec<i64>,
            keys: &GaloisKeys,
        ) -> PyResult<Vec<CkksCiphertext>> {
            let keys = narrow(&keys.key)?;
            Ok(self.wrap_all(py, py.work(|| self.engine.rotate_many(&a.inner, &steps, keys))?))
        }

        /// Complex conjugates of the slots.
        fn conjugate(&self, py: Python<'_>, a: &CkksCiphertext, keys: &GaloisKeys) -> PyResult<CkksCiphertext> {
            let keys = narrow(&keys.key)?;
            Ok(self.wrap(py, py.work(|| self.engine.conjugate(&a.inner, keys))?))
        }

        /// The image under x -> x^element, which permutes and conjugates slots; `keys` has a key for it.
        fn automorphism(&self, py: Python<'_>, a: &CkksCiphertext, #[pyo3(from_py_with = number)] element: u64, keys: &GaloisKeys) -> PyResult<CkksCiphertext> {
            let keys = narrow(&keys.key)?;
            Ok(self.wrap(py, py.work(|| self.engine.automorphism(&a.inner, element, keys))?))
        }

        /// The same value at a lower level.
        fn drop_to(&self, py: Python<'_>, a: &CkksCiphertext, #[pyo3(from_py_with = number)] level: usize) -> PyResult<CkksCiphertext> {
            Ok(self.wrap(py, py.work(|| self.engine.drop_to(&a.inner, level))?))
        }

        /// Each slot plus a constant.
        fn add_constant(&self, py: Python<'_>, a: &CkksCiphertext, value: Complex64) -> PyResult<CkksCiphertext> {
            Ok(self.wrap(py, py.work(|| self.engine.add_constant(&a.inner, value))?))
        }

        /// Each slot times a constant; the scale of the result is `scale` (default: ready for one rescale).
        #[pyo3(signature = (a, value, *, scale=None))]
        fn multiply_constant(
            &self,
            py: Python<'_>,
            a: &CkksCiphertext,
            value: Complex64,
            #[pyo3(from_py_with = number)] scale: Option<f64>,
        ) -> PyResult<CkksCiphertext> {
            let product = py.work(|| match scale {
                Some(scale) => self.engine.multiply_constant_to_scale(&a.inner, value, scale),
                None => self.engine.multiply_constant(&a.inner, value),
            });
            Ok(self.wrap(py, product?))
        }

        /// Each slot times a small integer; scale and level stay.
        fn multiply_integer(&self, py: Python<'_>, a: &CkksCiphertext, #[pyo3(from_py_with = number)] value: i64) -> PyResult<CkksCiphertext> {
            Ok(self.wrap(py, py.work(|| self.engine.multiply_integer(&a.inner, value))?))
        }

        /// A polynomial of the slots, coefficients lowest first in the basis "monomial" or "chebyshev" (over -1..1).
        #[pyo3(signature = (a, coefficients, key, *, basis="monomial", scale=None))]
        fn polynomial(
            &self,
            py: Python<'_>,
            a: &CkksCiphertext,
            #[pyo3(from_py_with = number)] coefficients: Vec<f64>,
            key: &RelinKey,
            basis: &str,
            #[pyo3(from_py_with = number)] scale: Option<f64>,
        ) -> PyResult<CkksCiphertext> {
            let polynomial = polynomial_of(basis, &coefficients)?;
            let key = narrow(&key.key)?;
            let scale = scale.unwrap_or(a.inner.scale());
            let value = py.work(|| self.engine.polynomial_to_scale(&a.inner, &polynomial, scale, key));
            Ok(self.wrap(py, value?))
        }
    }
}

pub fn polynomial_of(basis: &str, coefficients: &[f64]) -> PyResult<Polynomial> {
    let basis = match basis {
        "monomial" => Basis::Monomial,
        "chebyshev" => Basis::Chebyshev,
        _ => {
            return Err(Kind::Input.error(format!(
                "no polynomial basis {basis:?}; there are monomial, chebyshev"
            )));
        }
    };
    Polynomial::new(basis, coefficients).or_raise()
}
