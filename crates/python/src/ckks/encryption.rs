// SPDX-License-Identifier: Apache-2.0
//! CKKS encryption and decryption.

use super::data::{CkksCiphertext, CkksPlaintext};
use super::evaluate::narrow;
use crate::backend::{Backend, client, spread};
use crate::context::CkksContext;
use crate::errors::OrRaise;
use crate::keys::{EncryptionKey, SecretKey, randomness, seed_or_entropy};
use crate::numbers::number;
use crate::watch::watched;
use ::backend::{Client, Observer};
use ckks::{Ciphertext, Decryptor, Encoder, Encryptor, Plaintext, Publication};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Encrypts under a public key, or under the secret key (half the bytes).
///
/// Messages are numbered from 0: the same seed and order give the same ciphertexts. Without a seed every ciphertext is
/// new. A seed serves the process it was given in: after a fork the child's calls raise `SeedError`. A `device` does
/// the polynomial part, as far as it can; the ciphertexts are the same.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct CkksEncryptor {
    context: Py<CkksContext>,
    encryptor: Encryptor,
    key: EncryptionKey,
    device: Option<Arc<dyn Client>>,
    next: AtomicU64,
}

impl CkksEncryptor {
    fn run(
        &self,
        plaintext: &Plaintext,
        index: u64,
        observer: &dyn Observer,
    ) -> PyResult<Ciphertext> {
        let key = match &self.key {
            EncryptionKey::Public(key) => ckks::EncryptionKey::Public(narrow(&key.get().key)?),
            EncryptionKey::Secret(key) => ckks::EncryptionKey::Secret(narrow(&key.get().key)?),
        };
        match &self.device {
            None => {
                let parts = |draw: ckks::Draw<'_>| Ok::<_, ckks::Error>(draw.parts());
                let made = self.encryptor.encrypt_by(plaintext, key, index, parts);
                made.or_raise()
            }
            Some(device) => device
                .encrypt_ckks(&self.encryptor, plaintext, key, index, observer)
                .or_raise(),
        }
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
    #[pyo3(signature = (context, key, *, seed=None, device=None))]
    fn new(
        context: Py<CkksContext>,
        key: EncryptionKey,
        seed: Option<&[u8]>,
        device: Option<&Backend>,
    ) -> PyResult<Self> {
        let encryptor = Encryptor::new(&context.get().params, randomness(seed)?);
        Ok(Self {
            context,
            encryptor,
            key,
            device: client(device)?,
            next: AtomicU64::new(0),
        })
    }

    /// Encrypts a plaintext at its level and scale.
    fn encrypt(&self, py: Python<'_>, plaintext: &CkksPlaintext) -> PyResult<CkksCiphertext> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let inner = watched(py, None, |watch| self.run(&plaintext.inner, index, watch))?;
        Ok(self.wrap(py, inner))
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
        let all: Vec<Ciphertext> = watched(py, None, |watch| {
            spread(self.device.as_ref(), &numbered, |(i, p)| {
                self.run(&p.get().inner, *i, watch)
            })
        })?;
        Ok(all.into_iter().map(|inner| self.wrap(py, inner)).collect())
    }

    /// Encrypts zero at a level and scale (defaults: those of a fresh ciphertext).
    #[pyo3(signature = (*, level=None, scale=None))]
    fn encrypt_zero(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] level: Option<usize>,
        #[pyo3(from_py_with = number)] scale: Option<f64>,
    ) -> PyResult<CkksCiphertext> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let params = &self.context.get().params;
        let (level, scale) = (
            level.unwrap_or(params.max_level()),
            scale.unwrap_or(params.scale()),
        );
        let inner = watched(py, None, |watch| {
            let zero = Encoder::new(params)
                .encode_real(&[], level, scale)
                .or_raise()?;
            self.run(&zero, index, watch)
        })?;
        Ok(self.wrap(py, inner))
    }
}

/// Decrypts. The exact result is for the owner of the secret key: share it by `decrypt_for_publication` only.
/// A `device` does the polynomial part, as far as it can.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct CkksDecryptor {
    context: Py<CkksContext>,
    key: Py<SecretKey>,
    device: Option<Arc<dyn Client>>,
}

impl CkksDecryptor {
    fn decryptor(&self) -> PyResult<Decryptor<'_>> {
        Decryptor::new(&self.context.get().params, narrow(&self.key.get().key)?).or_raise()
    }

    fn run(&self, ciphertext: &Ciphertext, observer: &dyn Observer) -> PyResult<Plaintext> {
        let decryptor = self.decryptor()?;
        match &self.device {
            None => decryptor.decrypt(ciphertext).or_raise(),
            Some(device) => device
                .decrypt_ckks(&decryptor, ciphertext, observer)
                .or_raise(),
        }
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
    #[pyo3(signature = (context, secret_key, *, device=None))]
    fn new(
        context: Py<CkksContext>,
        secret_key: Py<SecretKey>,
        device: Option<&Backend>,
    ) -> PyResult<Self> {
        let made = Self {
            context,
            key: secret_key,
            device: client(device)?,
        };
        made.decryptor()?;
        Ok(made)
    }

    /// Decrypts; the result carries the error of the computation.
    fn decrypt(&self, py: Python<'_>, ciphertext: &CkksCiphertext) -> PyResult<CkksPlaintext> {
        let inner = watched(py, None, |watch| self.run(&ciphertext.inner, watch))?;
        Ok(self.wrap(py, inner))
    }

    /// Decrypts each ciphertext.
    fn decrypt_batch(
        &self,
        py: Python<'_>,
        ciphertexts: Vec<Py<CkksCiphertext>>,
    ) -> PyResult<Vec<CkksPlaintext>> {
        let all: Vec<Plaintext> = watched(py, None, |watch| {
            spread(self.device.as_ref(), &ciphertexts, |c| {
                self.run(&c.get().inner, watch)
            })
        })?;
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
        #[pyo3(from_py_with = number)] slot_error: f64,
        #[pyo3(from_py_with = number)] security_bits: u32,
        #[pyo3(from_py_with = number)] queries: u64,
        seed: Option<&[u8]>,
    ) -> PyResult<CkksPlaintext> {
        let publication = Publication {
            slot_error,
            security_bits,
            queries,
        };
        let seed = seed_or_entropy(seed)?;
        let inner = watched(py, None, |watch| {
            let opened = self.run(&ciphertext.inner, watch)?;
            self.decryptor()?
                .publish(&ciphertext.inner, opened, &publication, &seed)
                .or_raise()
        })?;
        Ok(self.wrap(py, inner))
    }
}
