// SPDX-License-Identifier: Apache-2.0
//! Decryptors, for the owner of the secret key and for publication.

/// A decryptor class. Making the engine's decryptor, decrypting and publishing one ciphertext are given as closures;
/// `publish` names the bound that the engine's `Publication` needs.
macro_rules! decryptor_class {
    (
        $(#[$doc:meta])*
        $class:ident($decryptor:ty) in $context:ident over $cipher:ident, $plain:ident;
        new |$nc:ident, $nk:ident| $make:expr;
        decrypt { $(#[$decrypt_doc:meta])* |$this:ident, $message:ident, $observer:ident| $decrypt:expr }
        publish($bound:ident) {
            $(#[$publish_doc:meta])*
            |$ps:ident, $pc:ident, $publication:ident, $seed:ident, $po:ident| $publish:expr
        }
        more { $($more:tt)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "ringsmith._native")]
        pub struct $class {
            context: Py<$context>,
            decryptor: $decryptor,
            device: Option<std::sync::Arc<dyn ::backend::Client>>,
        }

        impl $class {
            fn decrypted(
                &self,
                $message: &<$cipher as $crate::scheme::Wrapped>::Inner,
                $observer: &dyn ::backend::Observer,
            ) -> PyResult<<$plain as $crate::scheme::Wrapped>::Inner> {
                let $this = self;
                $decrypt
            }

            fn wrap(&self, py: Python<'_>, inner: <$plain as $crate::scheme::Wrapped>::Inner) -> $plain {
                $plain { context: self.context.clone_ref(py), inner }
            }
        }

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (context, secret_key, *, device=None))]
            fn new(
                context: Py<$context>,
                secret_key: Py<$crate::keys::SecretKey>,
                device: Option<&$crate::backend::Backend>,
            ) -> PyResult<Self> {
                let ($nc, $nk) = (context.get(), secret_key);
                let decryptor = $make?;
                Ok(Self { context, decryptor, device: $crate::backend::client(device)? })
            }

            $(#[$decrypt_doc])*
            fn decrypt(&self, py: Python<'_>, ciphertext: &$cipher) -> PyResult<$plain> {
                let inner = $crate::watch::watched(py, None, |watch| self.decrypted(&ciphertext.inner, watch))?;
                Ok(self.wrap(py, inner))
            }

            /// Decrypts each ciphertext.
            fn decrypt_batch(&self, py: Python<'_>, ciphertexts: Vec<Py<$cipher>>) -> PyResult<Vec<$plain>> {
                let all: Vec<_> = $crate::watch::watched(py, None, |watch| {
                    let one = |ciphertext: &Py<$cipher>| self.decrypted(&ciphertext.get().inner, watch);
                    $crate::backend::spread(self.device.as_ref(), &ciphertexts, one)
                })?;
                Ok(all.into_iter().map(|inner| self.wrap(py, inner)).collect())
            }

            $(#[$publish_doc])*
            #[pyo3(signature = (ciphertext, $bound, *, security_bits=30, queries=1024, seed=None))]
            fn decrypt_for_publication(
                &self,
                py: Python<'_>,
                ciphertext: &$cipher,
                #[pyo3(from_py_with = crate::numbers::number)] $bound: f64,
                #[pyo3(from_py_with = crate::numbers::number)] security_bits: u32,
                #[pyo3(from_py_with = crate::numbers::number)] queries: u64,
                seed: Option<&[u8]>,
            ) -> PyResult<$plain> {
                let $publication = &Publication { $bound, security_bits, queries };
                let $seed = &$crate::keys::seed_or_entropy(seed)?;
                let inner = $crate::watch::watched(py, None, |watch| {
                    let ($ps, $pc, $po) = (self, &ciphertext.inner, watch);
                    $publish
                })?;
                Ok(self.wrap(py, inner))
            }

            $($more)*
        }
    };
}

pub(crate) use decryptor_class;
