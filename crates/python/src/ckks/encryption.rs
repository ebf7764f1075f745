// SPDX-License-Identifier: Apache-2.0
//! CKKS encryption and decryption.

use super::data::{CkksCiphertext, CkksPlaintext};
use super::evaluate::narrow;
use crate::context::CkksContext;
use crate::errors::OrRaise;
use crate::keys::{EncryptionKey, SecretKey, randomness, seed_or_entropy};
use crate::operations::cores;
use crate::work::Work;
use ckks::{Ciphertext, Decryptor, Encoder, Encryptor, Plaintext, Publication};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Encrypts under a public key, or under the secret key (half the bytes).
///
/// Messages are numbered from 0: the same seed and order give the same ciphertexts. Without a seed every ciphertext is
/// new. A seed serves the process it was given in: after a fork the child's calls raise `SeedError`.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct CkksEncryptor {
    context: Py<CkksContext>,
    encryptor: Encryptor,
    key: EncryptionKey,
    next: AtomicU64,
}

impl CkksEncryptor {
    fn run(&self, plaintext: &Plaintext, index: u64) -> PyResult<Ciphertext> {
        match &self.key {
            EncryptionKey::Public(key) => {
                self.encryptor
                    .encrypt(plaintext, narrow(&key.get().key)?, index)
            }
            EncryptionKey::Secret(key) => {
                self.encryptor
                    .encrypt_secret(plaintext, narrow(&key.get().key)?, index)
            }
        }
        .or_raise()
    }

    fn wrap(&self, py: Python<'_>, inner: Ciphertext) -> CkksCiphertext {
        CkksCiphertext {
            context: self.context.clone_ref(py),
            inner,
        }
    }
}

#[pymethods]
impl CkksEncryptor {
    #[new]
    #[pyo3(signature = (context, key, *, seed=None))]
    fn new(context: Py<CkksContext>, key: EncryptionKey, seed: Option<&[u8]>) -> PyResult<Self> {
        let encryptor = Encryptor::new(&context.get().params, randomness(seed)?);
        Ok(Self {
            context,
            encryptor,
            key,
            next: AtomicU64::new(0),
        })
    }

    /// Encrypts a plaintext at its level and scale.
    fn encrypt(&self, py: Python<'_>, plaintext: &CkksPlaintext) -> PyResult<CkksCiphertext> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(self.wrap(py, py.work(|| self.run(&plaintext.inner, index))?))
    }

    /// Encrypts each plaintext; the same ciphertexts as one call after the other.
    fn encrypt_batch(
        &self,
        py: Python<'_>,
        plaintexts: Vec<Py<CkksPlaintext>>,
    ) -> PyResult<Vec<CkksCiphertext>> {
        let first = self
            .next
            .fetch_add(plaintexts.len() as u64, Ordering::Relaxed);
        let numbered: Vec<_> = (first..).zip(&plaintexts).collect();
        let one = |(i, p): &(u64, &Py<CkksPlaintext>)| self.run(&p.get().inner, *i);
        let all: Vec<Ciphertext> = py.work(|| cores()?.try_map(&numbered, one))?;
        Ok(all.into_iter().map(|inner| self.wrap(py, inner)).collect())
    }

    /// Encrypts zero at a level and scale (defaults: those of a fresh ciphertext).
    #[pyo3(signature = (*, level=None, scale=None))]
    fn encrypt_zero(
        &self,
        py: Python<'_>,
        level: Option<usize>,
        scale: Option<f64>,
    ) -> PyResult<CkksCiphertext> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let params = &self.context.get().params;
        let (level, scale) = (
            level.unwrap_or(params.max_level()),
            scale.unwrap_or(params.scale()),
        );
        let inner = py.work(|| {
            let zero = Encoder::new(params)
                .encode_real(&[], level, scale)
                .or_raise()?;
            self.run(&zero, index)
        })?;
        Ok(self.wrap(py, inner))
    }
}

/// Decrypts. The exact result is for the owner of the secret key: share it by `decrypt_for_publication` only.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct CkksDecryptor {
    context: Py<CkksContext>,
    key: Py<SecretKey>,
}

impl CkksDecryptor {
    fn with<T>(&self, work: impl FnOnce(&Decryptor<'_>) -> Result<T, ckks::Error>) -> PyResult<T> {
        let decryptor =
            Decryptor::new(&self.context.get().params, narrow(&self.key.get().key)?).or_raise()?;
        work(&decryptor).or_raise()
    }

    fn wrap(&self, py: Python<'_>, inner: Plaintext) -> CkksPlaintext {
        CkksPlaintext {
            context: self.context.clone_ref(py),
            inner,
        }
    }
}

#[pymethods]
impl CkksDecryptor {
    #[new]
    fn new(context: Py<CkksContext>, secret_key: Py<SecretKey>) -> PyResult<Self> {
        let made = Self {
            context,
            key: secret_key,
        };
        made.with(|_| Ok(()))?;
        Ok(made)
    }

    /// Decrypts; the result carries the error of the computation.
    fn decrypt(&self, py: Python<'_>, ciphertext: &CkksCiphertext) -> PyResult<CkksPlaintext> {
        Ok(self.wrap(py, py.work(|| self.with(|d| d.decrypt(&ciphertext.inner)))?))
    }

    /// Decrypts each ciphertext.
    fn decrypt_batch(
        &self,
        py: Python<'_>,
        ciphertexts: Vec<Py<CkksCiphertext>>,
    ) -> PyResult<Vec<CkksPlaintext>> {
        let one = |c: &Py<CkksCiphertext>| self.with(|d| d.decrypt(&c.get().inner));
        let all: Vec<Plaintext> = py.work(|| cores()?.try_map(&ciphertexts, one))?;
        Ok(all.into_iter().map(|inner| self.wrap(py, inner)).collect())
    }

    /// Decrypts and floods the error, so that the result may be shared (IND-CPA-D).
    ///
    /// `slot_error` bounds the error of a slot of the circuit that was evaluated (`CkksEstimator.slot_error`);
    /// `security_bits` of statistical security over `queries` published decryptions.
    #[pyo3(signature = (ciphertext, slot_error, *, security_bits=30, queries=1024, seed=None))]
    fn decrypt_for_publication(
        &self,
        py: Python<'_>,
        ciphertext: &CkksCiphertext,
        slot_error: f64,
        security_bits: u32,
        queries: u64,
        seed: Option<&[u8]>,
    ) -> PyResult<CkksPlaintext> {
        let publication = Publication {
            slot_error,
            security_bits,
            queries,
        };
        let seed = seed_or_entropy(seed)?;
        let flooded =
            |d: &Decryptor<'_>| d.decrypt_for_publication(&ciphertext.inner, &publication, &seed);
        Ok(self.wrap(py, py.work(|| self.with(flooded))?))
    }
}
