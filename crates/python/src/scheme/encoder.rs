// SPDX-License-Identifier: Apache-2.0
//! Encoders: vectors into plaintexts and back, one or a matrix of them.

/// An encoder class. `slots`, `encode` and `decode` are given as closures over the context, the engine's encoder and
/// what they work on; `encode` takes a row of either type of elements and options, which Python may leave out.
macro_rules! encoder_class {
    (
        $(#[$doc:meta])*
        $class:ident($encoder:ty) in $context:ident over $plain:ident;
        new |$new:ident| $make:expr;
        slots { $(#[$slots_doc:meta])* |$sc:ident, $se:ident| $slots:expr }
        encode {
            $(#[$encode_doc:meta])*
            $types:literal ($first:ty, $second:ty) $(options { $($option:ident: $kind:ty;)+ })?
            |$ec:ident, $ee:ident, $row:ident| $encode:expr
        }
        decode {
            $(#[$decode_doc:meta])*
            $decode:ident,
            $(#[$batch_doc:meta])*
            $decode_batch:ident -> $element:ty: |$dc:ident, $de:ident, $dp:ident| $decoded:expr
        }
        more { $($more:tt)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "ringsmith._native")]
        pub struct $class {
            context: Py<$context>,
            encoder: $encoder,
        }

        impl $class {
            fn encoded(
                &self,
                $row: $crate::arrays::Row<'_, $first, $second>,
                $($($option: Option<$kind>,)+)?
            ) -> PyResult<<$plain as $crate::scheme::Wrapped>::Inner> {
                let ($ec, $ee) = (self.context.get(), &self.encoder);
                $encode
            }

            fn decoded(&self, $dp: &<$plain as $crate::scheme::Wrapped>::Inner) -> PyResult<Vec<$element>> {
                let ($dc, $de) = (self.context.get(), &self.encoder);
                $decoded
            }

            fn wrap(&self, py: Python<'_>, inner: <$plain as $crate::scheme::Wrapped>::Inner) -> $plain {
                $plain { context: self.context.clone_ref(py), inner }
            }
        }

        #[pymethods]
        impl $class {
            #[new]
            fn new(context: Py<$context>) -> PyResult<Self> {
                let $new = context.get();
                let encoder = $make?;
                Ok(Self { context, encoder })
            }

            $(#[$slots_doc])*
            #[getter]
            fn slots(&self) -> usize {
                let ($sc, $se) = (self.context.get(), &self.encoder);
                $slots
            }

            $(#[$encode_doc])*
            #[pyo3(signature = (values $(, *, $($option = None),+)?))]
            fn encode(
                &self,
                py: Python<'_>,
                values: &Bound<'_, PyAny>,
                $($(#[pyo3(from_py_with = crate::numbers::number)] $option: Option<$kind>,)+)?
            ) -> PyResult<$plain> {
                let values = $crate::arrays::Array::<$first, $second>::of(values, $types)?;
                $crate::arrays::one_vector(values.shape())?;
                let (length, all) = (values.shape()[0], values.elements());
                let inner = $crate::work::Work::work(py, || self.encoded(all.row(0, length), $($($option),+)?))?;
                Ok(self.wrap(py, inner))
            }

            /// Encodes each row of a matrix.
            #[pyo3(signature = (values $(, *, $($option = None),+)?))]
            fn encode_batch(
                &self,
                py: Python<'_>,
                values: &Bound<'_, PyAny>,
                $($(#[pyo3(from_py_with = crate::numbers::number)] $option: Option<$kind>,)+)?
            ) -> PyResult<Vec<$plain>> {
                let values = $crate::arrays::Array::<$first, $second>::of(values, $types)?;
                let (rows, columns) = $crate::arrays::rows_and_columns(values.shape())?;
                let (rows, all) = ((0..rows).collect::<Vec<_>>(), values.elements());
                let one = |row: &usize| self.encoded(all.row(*row, columns), $($($option),+)?);
                let made: Vec<_> = $crate::work::Work::work(py, || $crate::threads::cores()?.try_map(&rows, one))?;
                Ok(made.into_iter().map(|inner| self.wrap(py, inner)).collect())
            }

            $(#[$decode_doc])*
            fn $decode<'py>(&self, py: Python<'py>, plaintext: &$plain) -> PyResult<Bound<'py, numpy::PyArray1<$element>>> {
                let values = $crate::work::Work::work(py, || self.decoded(&plaintext.inner))?;
                Ok(numpy::PyArray1::from_vec(py, values))
            }

            $(#[$batch_doc])*
            fn $decode_batch<'py>(
                &self,
                py: Python<'py>,
                plaintexts: Vec<Py<$plain>>,
            ) -> PyResult<Bound<'py, numpy::PyArray2<$element>>> {
                let one = |plaintext: &Py<$plain>| self.decoded(&plaintext.get().inner);
                let rows: Vec<Vec<$element>> =
                    $crate::work::Work::work(py, || $crate::threads::cores()?.try_map(&plaintexts, one))?;
                Ok(numpy::PyArray2::from_vec2(py, &rows)?)
            }

            $($more)*
        }
    };
}

pub(crate) use encoder_class;
