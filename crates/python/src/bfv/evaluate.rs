// SPDX-License-Identifier: Apache-2.0
//! BFV operations on ciphertexts.

use super::data::{BfvCiphertext, BfvPlaintext};
use crate::context::BfvContext;
use crate::errors::OrRaise;
use crate::keys::{GaloisKeys, RelinKey};
use crate::numbers::number;
use crate::scheme::evaluator_class;
use crate::word_width::{WordWidth, mismatch, try_map, try_zip};
use crate::work::Work;
use bfv::Evaluator;
use pyo3::prelude::*;
use rlwe::Threads;

/// An evaluator of either width.
type Engine = WordWidth<Evaluator<u64>, Evaluator<u128>>;

/// The evaluator of a context on some threads.
fn make(context: &BfvContext, threads: &Threads) -> Engine {
    match &context.params {
        WordWidth::W64(params) => {
            WordWidth::W64(Evaluator::new(params).with_threads(threads.clone()))
        }
        WordWidth::W128(params) => {
            WordWidth::W128(Evaluator::new(params).with_threads(threads.clone()))
        }
    }
}

/// An operation of the evaluator on two things of its width.
macro_rules! on_two {
    ($engine:expr, $a:expr, $b:expr, |$e:ident, $x:ident, $y:ident| $body:expr) => {
        match ($engine, $a, $b) {
            (WordWidth::W64($e), WordWidth::W64($x), WordWidth::W64($y)) => {
                $body.or_raise().map(WordWidth::W64)
            }
            (WordWidth::W128($e), WordWidth::W128($x), WordWidth::W128($y)) => {
                $body.or_raise().map(WordWidth::W128)
            }
            _ => Err(mismatch()),
        }
    };
}

evaluator_class! {
    /// Operations on BFV ciphertexts; nothing is inserted, and the secret key is never needed.
    BfvEvaluator(Engine) in BfvContext over BfvCiphertext, BfvPlaintext;
    new |context, threads| make(context, threads);
    unary {
        /// The negative.
        negate, negate_batch: |e, a| try_zip!(e, a, (e, x) => e.negate(x));
        /// The square, three components.
        square, square_batch: |e, a| try_zip!(e, a, (e, x) => e.square(x));
        /// Division by the last prime: one level less, the same plaintext.
        mod_switch, mod_switch_batch: |e, a| try_zip!(e, a, (e, x) => e.mod_switch(x));
    }
    binary {
        /// Sum.
        add, add_batch: |e, a, b| on_two!(e, a, b, |e, x, y| e.add(x, y));
        /// Difference.
        sub, sub_batch: |e, a, b| on_two!(e, a, b, |e, x, y| e.sub(x, y));
        /// Product; relinearise to come back to two components.
        multiply, multiply_batch: |e, a, b| on_two!(e, a, b, |e, x, y| e.multiply(x, y));
    }
    plain {
        /// Sum with a plaintext.
        add_plain, add_plain_batch: |e, a, m| try_zip!(e, a, (e, x) => e.add_plain(x, m));
        /// Difference with a plaintext.
        sub_plain, sub_plain_batch: |e, a, m| try_zip!(e, a, (e, x) => e.sub_plain(x, m));
        /// Product with a plaintext.
        multiply_plain, multiply_plain_batch: |e, a, m| try_zip!(e, a, (e, x) => e.multiply_plain(x, m));
    }
    relin { |e, a, key| on_two!(e, a, key, |e, x, k| e.relinearize(x, k)) }
    rotate { |e, a, steps, keys| on_two!(e, a, keys, |e, x, k| e.rotate_rows(x, steps, k)) }
    more {
        /// Both rows exchanged.
        fn swap_rows(&self, py: Python<'_>, a: &BfvCiphertext, keys: &GaloisKeys) -> PyResult<BfvCiphertext> {
            let swapped = py.work(|| on_two!(&self.engine, &a.inner, &keys.key, |e, x, k| e.swap_rows(x, k)));
            Ok(self.wrap(py, swapped?))
        }

        /// The image under x -> x^element, which permutes slots; `keys` has a key for it.
        fn automorphism(&self, py: Python<'_>, a: &BfvCiphertext, #[pyo3(from_py_with = number)] element: u64, keys: &GaloisKeys) -> PyResult<BfvCiphertext> {
            let image = py.work(|| on_two!(&self.engine, &a.inner, &keys.key, |e, x, k| e.automorphism(x, element, k)));
            Ok(self.wrap(py, image?))
        }

        /// Rotations of one ciphertext by each of `steps`; the decomposition is done once.
        fn rotate_hoisted(
            &self,
            py: Python<'_>,
            a: &BfvCiphertext,
            #[pyo3(from_py_with = number)] steps: Vec<i64>,
            keys: &GaloisKeys,
        ) -> PyResult<Vec<BfvCiphertext>> {
            let all = py.work(|| match (&self.engine, &a.inner, &keys.key) {
                (WordWidth::W64(e), WordWidth::W64(x), WordWidth::W64(k)) => {
                    e.rotate_rows_many(x, &steps, k).or_raise().map(|all| all.into_iter().map(WordWidth::W64).collect())
                }
                (WordWidth::W128(e), WordWidth::W128(x), WordWidth::W128(k)) => {
                    e.rotate_rows_many(x, &steps, k).or_raise().map(|all| all.into_iter().map(WordWidth::W128).collect())
                }
                _ => Err(mismatch()),
            });
            Ok(self.wrap_all(py, all?))
        }

        /// A ciphertext that hides nothing: a plaintext where a ciphertext is wanted.
        fn trivial(&self, py: Python<'_>, plaintext: &BfvPlaintext) -> PyResult<BfvCiphertext> {
            Ok(self.wrap(py, py.work(|| try_map!(&self.engine, e => e.trivial(&plaintext.inner)))?))
        }
    }
}
