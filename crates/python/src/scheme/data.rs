// SPDX-License-Identifier: Apache-2.0
//! Plaintexts and ciphertexts.

/// A Python class around an object of the engine.
pub trait Wrapped {
    /// The engine's type.
    type Inner;
}

/// A class around a plaintext or ciphertext: bytes in and out, and pickling with its context.
macro_rules! data_class {
    (
        $(#[$doc:meta])*
        $class:ident($inner:ty) in $context:ident;
        from_bytes |$fc:ident, $fd:ident| $read:expr;
        to_bytes |$tc:ident, $ti:ident| $write:expr;
        more { $($more:tt)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "ringsmith._native")]
        pub struct $class {
            pub(crate) context: Py<$context>,
            pub(crate) inner: $inner,
        }

        impl $crate::scheme::Wrapped for $class {
            type Inner = $inner;
        }

        #[pymethods]
        impl $class {
            /// Reads `to_bytes`; the object must belong to the context.
            #[staticmethod]
            fn from_bytes(py: Python<'_>, context: Py<$context>, data: &[u8]) -> PyResult<Self> {
                let ($fc, $fd) = (context.get(), data);
                let inner = $crate::work::Work::work(py, || $read)?;
                Ok(Self { context, inner })
            }

            /// The object in the byte format.
            fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
                let ($tc, $ti) = (self.context.get(), &self.inner);
                $crate::work::written(py, || { let _ = $tc; $write })
            }

            fn __reduce__<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<(Bound<'py, PyAny>, (Py<$context>, Bound<'py, pyo3::types::PyBytes>))> {
                Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.context.clone_ref(py), self.to_bytes(py)?)))
            }

            $($more)*
        }
    };
}

pub(crate) use data_class;
