// SPDX-License-Identifier: Apache-2.0
//! Contexts: checked parameter sets, from numbers or from bytes.

/// A context class. `each` names the macro that binds the set whatever the width of its words; `new` takes the number
/// that the scheme adds to those of the ring, and options; `read` is a closure over bytes, a policy and limits.
macro_rules! context_class {
    (
        $(#[$doc:meta])*
        $class:ident($params:ty) by $each:ident;
        new($number:ident: $number_type:ty) $(options { $($option:ident: $kind:ty = ($($default:tt)+);)+ })? {
            $(#[$new_doc:meta])*
            |$py:ident, $ring:ident, $policy:ident| $make:expr
        }
        read |$data:ident, $read_policy:ident, $limits:ident| $read:expr;
        fingerprint { $(#[$fingerprint_doc:meta])* }
        more { $($more:tt)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "ringsmith._native")]
        pub struct $class {
            pub(crate) params: $params,
        }

        #[pymethods]
        impl $class {
            $(#[$new_doc])*
            #[new]
            #[pyo3(signature = (
                n, moduli, special, $number, *, dnum=None, secret="ternary", error="binomial:21",
                $($($option = $($default)+,)+)? security=128, table="2024-classical", allow_insecure=false
            ))]
            #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python constructor")]
            fn new(
                py: Python<'_>,
                #[pyo3(from_py_with = crate::numbers::number)] n: usize,
                #[pyo3(from_py_with = crate::numbers::number)] moduli: Vec<u128>,
                #[pyo3(from_py_with = crate::numbers::number)] special: Vec<u128>,
                #[pyo3(from_py_with = crate::numbers::number)] $number: $number_type,
                #[pyo3(from_py_with = crate::numbers::number)] dnum: Option<usize>,
                secret: &str,
                error: &str,
                $($(#[pyo3(from_py_with = crate::numbers::number)] $option: $kind,)+)?
                #[pyo3(from_py_with = crate::numbers::number)] security: u32,
                table: &str,
                allow_insecure: bool,
            ) -> PyResult<Self> {
                let ring = $crate::params_args::RingArguments {
                    n,
                    moduli: &moduli,
                    special: &special,
                    dnum,
                    secret,
                    error,
                };
                let policy = || $crate::params_args::policy(security, table, allow_insecure);
                let ($py, $ring, $policy) = (py, &ring, policy);
                Ok(Self { params: $make? })
            }

            /// Reads `to_bytes`; the reader's own security policy applies. A degree above `max_degree` and tables of
            /// more than `max_memory` bytes are refused before anything is built.
            #[staticmethod]
            #[pyo3(signature = (
                data, security=128, table="2024-classical", allow_insecure=false,
                max_degree=rlwe::Limits::default().degree, max_memory=rlwe::Limits::default().memory
            ))]
            fn from_bytes(
                py: Python<'_>,
                data: &[u8],
                #[pyo3(from_py_with = crate::numbers::number)] security: u32,
                table: &str,
                allow_insecure: bool,
                #[pyo3(from_py_with = crate::numbers::number)] max_degree: usize,
                #[pyo3(from_py_with = crate::numbers::number)] max_memory: u64,
            ) -> PyResult<Self> {
                let policy = $crate::params_args::policy(security, table, allow_insecure)?;
                let limits = rlwe::Limits { degree: max_degree, memory: max_memory };
                let ($data, $read_policy, $limits) = (data, policy, &limits);
                Ok(Self { params: $crate::work::Work::work(py, || $read)? })
            }

            /// The set in the byte format.
            fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, pyo3::types::PyBytes> {
                pyo3::types::PyBytes::new(py, &$each!(&self.params, params => params.to_bytes()))
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, $crate::params_args::Recipe<'py>)> {
                let policy = $each!(&self.params, params => params.rlwe().security().policy);
                let recipe = $crate::params_args::recipe(self.to_bytes(py), policy);
                Ok((py.get_type::<Self>().getattr("from_bytes")?, recipe))
            }

            fn __eq__(&self, other: &Self) -> bool {
                self.fingerprint() == other.fingerprint()
            }

            fn __hash__(&self) -> u64 {
                let first = |h, b: &u8| h << 8 | u64::from(*b);
                $each!(&self.params, params => params.fingerprint().0.iter().take(8).fold(0, first))
            }

            fn __repr__(&self) -> String {
                $each!(&self.params, params => format!("{params:?}"))
            }

            /// Ring degree.
            #[getter]
            fn n(&self) -> usize {
                $each!(&self.params, params => params.n())
            }

            /// Data primes.
            #[getter]
            fn moduli(&self) -> Vec<u128> {
                $each!(&self.params, params => $crate::params_args::primes(Some(params.rlwe().q())))
            }

            /// Special primes.
            #[getter]
            fn special(&self) -> Vec<u128> {
                $each!(&self.params, params => $crate::params_args::primes(params.rlwe().p()))
            }

            $($more)*

            /// Distribution of the secret.
            #[getter]
            fn secret(&self) -> String {
                $each!(&self.params, params => $crate::params_args::secret_name(params.rlwe().secret()))
            }

            /// Distribution of errors.
            #[getter]
            fn error(&self) -> String {
                $each!(&self.params, params => $crate::params_args::error_name(params.rlwe().error()))
            }

            /// Digits of key switching.
            #[getter]
            fn dnum(&self) -> usize {
                $each!(&self.params, params => params.rlwe().dnum())
            }

            /// Level of a fresh ciphertext: data primes minus 1.
            #[getter]
            fn max_level(&self) -> usize {
                $each!(&self.params, params => params.rlwe().data_primes() - 1)
            }

            /// The security estimate of the set.
            #[getter]
            fn security(&self) -> $crate::security::SecurityFields {
                $each!(&self.params, params => params.rlwe().security().into())
            }

            $(#[$fingerprint_doc])*
            #[getter]
            fn fingerprint(&self) -> String {
                $each!(&self.params, params => params.fingerprint().to_string())
            }
        }
    };
}

pub(crate) use context_class;
