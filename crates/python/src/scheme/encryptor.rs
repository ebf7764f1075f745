// SPDX-License-Identifier: Apache-2.0
//! Encryptors: messages numbered in order, by this machine or by a device.

/// An encryptor class. Making the engine's encryptor and encrypting one plaintext are given as closures. A message
/// takes the next number, also one that `more` encrypts.
macro_rules! encryptor_class {
    (
        $class:ident($encryptor:ty) in $context:ident over $cipher:ident, $plain:ident;
        new |$nc:ident, $nk:ident, $nr:ident| $make:expr;
        encrypt {
            $(#[$encrypt_doc:meta])*
            |$this:ident, $message:ident, $index:ident, $observer:ident| $encrypt:expr
        }
        more { $($more:tt)* }
    ) => {
        /// Encrypts under a public key, or under the secret key (half the bytes).
        ///
        /// Messages are numbered from 0: the same seed and order give the same ciphertexts. Without a seed every
        /// ciphertext is new. A seed serves the process it was given in: after a fork the child's calls raise
        /// `SeedError`. A `device` does the polynomial part, as far as it can; the ciphertexts are the same.
        #[pyclass(frozen, module = "ringsmith._native")]
        pub struct $class {
            context: Py<$context>,
            encryptor: $encryptor,
            device: Option<std::sync::Arc<dyn ::backend::Client>>,
            next: std::sync::atomic::AtomicU64,
        }

        impl $class {
            /// The number of the first of the next `count` messages.
            fn numbered(&self, count: usize) -> u64 {
                self.next.fetch_add(count as u64, std::sync::atomic::Ordering::Relaxed)
            }

            fn encrypted(
                &self,
                $message: &<$plain as $crate::scheme::Wrapped>::Inner,
                $index: u64,
                $observer: &dyn ::backend::Observer,
            ) -> PyResult<<$cipher as $crate::scheme::Wrapped>::Inner> {
                let $this = self;
                $encrypt
            }

            fn wrap(&self, py: Python<'_>, inner: <$cipher as $crate::scheme::Wrapped>::Inner) -> $cipher {
                $cipher { context: self.context.clone_ref(py), inner }
            }
        }

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (context, key, *, seed=None, device=None))]
            fn new(
                context: Py<$context>,
                key: $crate::keys::EncryptionKey,
                seed: Option<&[u8]>,
                device: Option<&$crate::backend::Backend>,
            ) -> PyResult<Self> {
                let ($nc, $nk, $nr) = (context.get(), key, $crate::keys::randomness(seed)?);
                let encryptor = $make?;
                let device = $crate::backend::client(device)?;
                Ok(Self { context, encryptor, device, next: std::sync::atomic::AtomicU64::new(0) })
            }

            $(#[$encrypt_doc])*
            fn encrypt(&self, py: Python<'_>, plaintext: &$plain) -> PyResult<$cipher> {
                let index = self.numbered(1);
                let inner = $crate::watch::watched(py, None, |watch| self.encrypted(&plaintext.inner, index, watch))?;
                Ok(self.wrap(py, inner))
            }

            /// Encrypts each plaintext; the same ciphertexts as one call after the other.
            fn encrypt_batch(&self, py: Python<'_>, plaintexts: Vec<Py<$plain>>) -> PyResult<Vec<$cipher>> {
                let numbered: Vec<_> = (self.numbered(plaintexts.len())..).zip(&plaintexts).collect();
                let all: Vec<_> = $crate::watch::watched(py, None, |watch| {
                    let one = |(index, plaintext): &(u64, &Py<$plain>)| {
                        self.encrypted(&plaintext.get().inner, *index, watch)
                    };
                    $crate::backend::spread(self.device.as_ref(), &numbered, one)
                })?;
                Ok(all.into_iter().map(|inner| self.wrap(py, inner)).collect())
            }

            $($more)*
        }
    };
}

pub(crate) use encryptor_class;
