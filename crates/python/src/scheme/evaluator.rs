// SPDX-License-Identifier: Apache-2.0
//! Evaluators: each operation for one ciphertext, and for a list spread over the threads.

use crate::errors::Kind;
use pyo3::PyResult;

/// Fails unless two lists of a batch are equally long.
pub fn same_length(left: usize, right: usize) -> PyResult<()> {
    if left == right {
        return Ok(());
    }
    Err(Kind::Input.error(format!(
        "a batch of {left} against one of {right}; both need the same length"
    )))
}

/// An evaluator class. Each operation is given as a closure over the engine's evaluator and its operands; from it come
/// the method for one ciphertext and the one for a list, both without the GIL.
macro_rules! evaluator_class {
    (
        $(#[$doc:meta])*
        $class:ident($engine:ty) in $context:ident over $cipher:ident, $plain:ident;
        new |$new:ident, $threads:ident| $make:expr;
        unary { $($(#[$udoc:meta])* $u:ident, $ub:ident: |$ue:ident, $ua:ident| $ubody:expr;)* }
        binary { $($(#[$bdoc:meta])* $b:ident, $bb:ident: |$be:ident, $ba:ident, $bx:ident| $bbody:expr;)* }
        plain { $($(#[$pdoc:meta])* $p:ident, $pb:ident: |$pe:ident, $pa:ident, $px:ident| $pbody:expr;)* }
        relin { |$re:ident, $ra:ident, $rk:ident| $rbody:expr }
        rotate { |$oe:ident, $oa:ident, $os:ident, $ok:ident| $obody:expr }
        more { $($more:tt)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "ringsmith._native")]
        pub struct $class {
            context: Py<$context>,
            /// Splits one operation over the threads.
            engine: $engine,
            /// Does one operation on one thread, for batches.
            single: $engine,
            threads: rlwe::Threads,
        }

        impl $class {
            fn engine_on($new: &$context, $threads: &rlwe::Threads) -> $engine {
                $make
            }

            /// An operation on each item, the items spread over the threads, without the GIL.
            fn each_of<T: Sync>(
                &self,
                py: Python<'_>,
                items: &[T],
                operation: impl Fn(&T) -> PyResult<<$cipher as $crate::scheme::Wrapped>::Inner> + Send + Sync,
            ) -> PyResult<Vec<$cipher>> {
                Ok(self.wrap_all(py, $crate::work::Work::work(py, || self.threads.try_map(items, operation))?))
            }

            fn wrap(&self, py: Python<'_>, inner: <$cipher as $crate::scheme::Wrapped>::Inner) -> $cipher {
                $cipher { context: self.context.clone_ref(py), inner }
            }

            fn wrap_all(
                &self,
                py: Python<'_>,
                all: Vec<<$cipher as $crate::scheme::Wrapped>::Inner>,
            ) -> Vec<$cipher> {
                all.into_iter().map(|inner| self.wrap(py, inner)).collect()
            }
        }

        #[pymethods]
        impl $class {
            /// `threads` share the work (default: one per core); results do not depend on their number.
            #[new]
            #[pyo3(signature = (context, *, threads=None))]
            fn new(context: Py<$context>, #[pyo3(from_py_with = crate::numbers::number)] threads: Option<usize>) -> PyResult<Self> {
                let threads = $crate::threads::threads_or_all(threads)?;
                let engine = Self::engine_on(context.get(), &threads);
                let single = Self::engine_on(context.get(), &rlwe::Threads::ONE);
                Ok(Self { context, engine, single, threads })
            }

            $(
                $(#[$udoc])*
                fn $u(&self, py: Python<'_>, a: &$cipher) -> PyResult<$cipher> {
                    let ($ue, $ua) = (&self.engine, &a.inner);
                    Ok(self.wrap(py, $crate::work::Work::work(py, || $ubody)?))
                }

                /// The same for each ciphertext of a list.
                fn $ub(&self, py: Python<'_>, a: Vec<Py<$cipher>>) -> PyResult<Vec<$cipher>> {
                    let $ue = &self.single;
                    self.each_of(py, &a, |a| { let $ua = &a.get().inner; $ubody })
                }
            )*

            $(
                $(#[$bdoc])*
                fn $b(&self, py: Python<'_>, a: &$cipher, b: &$cipher) -> PyResult<$cipher> {
                    let ($be, $ba, $bx) = (&self.engine, &a.inner, &b.inner);
                    Ok(self.wrap(py, $crate::work::Work::work(py, || $bbody)?))
                }

                /// The same for each pair of two equally long lists.
                fn $bb(&self, py: Python<'_>, a: Vec<Py<$cipher>>, b: Vec<Py<$cipher>>) -> PyResult<Vec<$cipher>> {
                    $crate::scheme::same_length(a.len(), b.len())?;
                    let $be = &self.single;
                    let pairs: Vec<_> = a.iter().zip(&b).collect();
                    self.each_of(py, &pairs, |(a, b)| {
                        let ($ba, $bx) = (&a.get().inner, &b.get().inner);
                        $bbody
                    })
                }
            )*

            $(
                $(#[$pdoc])*
                fn $p(&self, py: Python<'_>, a: &$cipher, b: &$plain) -> PyResult<$cipher> {
                    let ($pe, $pa, $px) = (&self.engine, &a.inner, &b.inner);
                    Ok(self.wrap(py, $crate::work::Work::work(py, || $pbody)?))
                }

                /// The same for each pair of two equally long lists.
                fn $pb(&self, py: Python<'_>, a: Vec<Py<$cipher>>, b: Vec<Py<$plain>>) -> PyResult<Vec<$cipher>> {
                    $crate::scheme::same_length(a.len(), b.len())?;
                    let $pe = &self.single;
                    let pairs: Vec<_> = a.iter().zip(&b).collect();
                    self.each_of(py, &pairs, |(a, b)| {
                        let ($pa, $px) = (&a.get().inner, &b.get().inner);
                        $pbody
                    })
                }
            )*

            /// Back to two components after a multiplication.
            fn relinearize(&self, py: Python<'_>, a: &$cipher, key: &RelinKey) -> PyResult<$cipher> {
                let ($re, $ra, $rk) = (&self.engine, &a.inner, &key.key);
                Ok(self.wrap(py, $crate::work::Work::work(py, || $rbody)?))
            }

            /// The same for each ciphertext of a list.
            fn relinearize_batch(&self, py: Python<'_>, a: Vec<Py<$cipher>>, key: &RelinKey) -> PyResult<Vec<$cipher>> {
                let ($re, $rk) = (&self.single, &key.key);
                self.each_of(py, &a, |a| { let $ra = &a.get().inner; $rbody })
            }

            /// Slots rotated left by `steps` (negative: right).
            fn rotate(&self, py: Python<'_>, a: &$cipher, #[pyo3(from_py_with = crate::numbers::number)] steps: i64, keys: &GaloisKeys) -> PyResult<$cipher> {
                let ($oe, $oa, $os, $ok) = (&self.engine, &a.inner, steps, &keys.key);
                Ok(self.wrap(py, $crate::work::Work::work(py, || $obody)?))
            }

            /// The same for each ciphertext of a list.
            fn rotate_batch(
                &self,
                py: Python<'_>,
                a: Vec<Py<$cipher>>,
                #[pyo3(from_py_with = crate::numbers::number)] steps: i64,
                keys: &GaloisKeys,
            ) -> PyResult<Vec<$cipher>> {
                let ($oe, $os, $ok) = (&self.single, steps, &keys.key);
                self.each_of(py, &a, |a| { let $oa = &a.get().inner; $obody })
            }

            $($more)*
        }
    };
}

pub(crate) use evaluator_class;
