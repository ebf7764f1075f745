// SPDX-License-Identifier: Apache-2.0
//! Estimators: what every operation does to the noise, from plain numbers.

/// An estimator class. Making the engine's estimator and each operation are given as closures over it and the
/// operands' estimates. `new` takes a number beside those of the ring where the scheme has one, `fresh` a plaintext's
/// estimate where the noise of an encryption depends on it.
macro_rules! estimator_class {
    (
        $(#[$doc:meta])*
        $class:ident over $estimate:ident in $scheme:ident;
        new($($number:ident: $number_type:ty)?) |$ring:ident| $make:expr;
        max_level |$le:ident| $max_level:expr;
        fresh($($plaintext:ident)?) {
            public |$pe:ident| $public:expr;
            extended |$xe:ident| $extended:expr;
            secret |$se:ident| $secret:expr;
        }
        unary { $($(#[$udoc:meta])* $u:ident: |$ue:ident, $ua:ident| $ubody:expr;)* }
        binary { $($(#[$bdoc:meta])* $b:ident: |$be:ident, $ba:ident, $bx:ident| $bbody:expr;)* }
        bound { $(#[$bound_doc:meta])* }
        results { $(#[$results_doc:meta])* }
        more { $($more:tt)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "ringsmith._native")]
        pub struct $class {
            estimator: Estimator,
        }

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (
                n, moduli, special, $($number,)? *, dnum=None, secret="ternary", error="binomial:21",
                failure_bits=rlwe::noise::FAILURE_BITS
            ))]
            #[allow(clippy::too_many_arguments, reason = "keyword arguments of a Python constructor")]
            fn new(
                #[pyo3(from_py_with = crate::numbers::number)] n: usize,
                #[pyo3(from_py_with = crate::numbers::number)] moduli: Vec<u128>,
                #[pyo3(from_py_with = crate::numbers::number)] special: Vec<u128>,
                $(#[pyo3(from_py_with = crate::numbers::number)] $number: $number_type,)?
                #[pyo3(from_py_with = crate::numbers::number)] dnum: Option<usize>,
                secret: &str,
                error: &str,
                #[pyo3(from_py_with = crate::numbers::number)] failure_bits: u32,
            ) -> PyResult<Self> {
                let $ring = &$crate::params_args::RingArguments {
                    n,
                    moduli: &moduli,
                    special: &special,
                    dnum,
                    secret,
                    error,
                };
                let estimator: PyResult<Estimator> = $make;
                Ok(Self { estimator: estimator?.with_failure_bits(failure_bits) })
            }

            /// Level of a fresh ciphertext.
            #[getter]
            fn max_level(&self) -> usize {
                let $le = &self.estimator;
                $max_level
            }

            /// Encryption under the public key.
            fn encrypt_public(&self, $($plaintext: &$estimate)?) -> PyResult<$estimate> {
                let $pe = &self.estimator;
                $public
            }

            /// Encryption under an extended public key.
            fn encrypt_extended(&self, $($plaintext: &$estimate)?) -> PyResult<$estimate> {
                let $xe = &self.estimator;
                $extended
            }

            /// Encryption under the secret key.
            fn encrypt_secret(&self, $($plaintext: &$estimate)?) -> PyResult<$estimate> {
                let $se = &self.estimator;
                $secret
            }

            $(
                $(#[$udoc])*
                fn $u(&self, a: &$estimate) -> PyResult<$estimate> {
                    let ($ue, $ua) = (&self.estimator, a);
                    $ubody
                }
            )*

            $(
                $(#[$bdoc])*
                fn $b(&self, a: &$estimate, b: &$estimate) -> PyResult<$estimate> {
                    let ($be, $ba, $bx) = (&self.estimator, a, b);
                    $bbody
                }
            )*

            $(#[$bound_doc])*
            #[pyo3(signature = (circuit, assume, guarantee="certain"))]
            fn bound<'py>(
                &self,
                py: Python<'py>,
                circuit: &$crate::program::Circuit,
                assume: &str,
                guarantee: &str,
            ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
                let estimator = ::program::Estimator::$scheme(self.estimator.clone());
                circuit.bound(py, &estimator, assume, guarantee)
            }

            $(#[$results_doc])*
            fn results(
                &self,
                circuit: &$crate::program::Circuit,
                #[pyo3(from_py_with = crate::numbers::number)] bits: f64,
            ) -> PyResult<Vec<(f64, f64, f64)>> {
                circuit.results(&::program::Estimator::$scheme(self.estimator.clone()), bits)
            }

            $($more)*
        }
    };
}

pub(crate) use estimator_class;
