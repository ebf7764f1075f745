// SPDX-License-Identifier: Apache-2.0
//! BFV encryption and decryption.

use super::data::{BfvCiphertext, BfvPlaintext, Cipher};
use crate::backend::{Backend, client, spread};
use crate::context::BfvContext;
use crate::errors::OrRaise;
use crate::keys::{EncryptionKey, SecretKey, randomness, seed_or_entropy};
use crate::numbers::number;
use crate::watch::watched;
use crate::word_width::{WordWidth, mismatch, try_map};
use ::backend::{Client, ClientWord, Observer};
use bfv::{Ciphertext, Decryptor, Encryptor, Phase, Plaintext, Publication};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An encryptor of one width under either kind of key.
macro_rules! encryptor {
    ($params:expr, $key:expr, $seed:expr, $width:ident) => {
        match $key {
            EncryptionKey::Public(key) => match &key.get().key {
                WordWidth::$width(key) => Encryptor::new($params, Arc::clone(key), $seed),
                _ => return Err(mismatch()),
            },
            EncryptionKey::Secret(key) => match &key.get().key {
                WordWidth::$width(key) => Encryptor::symmetric($params, Arc::clone(key), $seed),
                _ => return Err(mismatch()),
            },
        }
        .or_raise()?
    };
}

/// Encrypts under a public key, or under the secret key (half the bytes).
///
/// Messages are numbered from 0: the same seed and order give the same ciphertexts. Without a seed every ciphertext is
/// new. A seed serves the process it was given in: after a fork the child's calls raise `SeedError`. A `device` does
/// the polynomial part, as far as it can; the ciphertexts are the same.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct BfvEncryptor {
    context: Py<BfvContext>,
    encryptor: WordWidth<Encryptor<u64>, Encryptor<u128>>,
    device: Option<Arc<dyn Client>>,
    next: AtomicU64,
}

impl BfvEncryptor {
    fn run(&self, plaintext: &Plaintext, index: u64, observer: &dyn Observer) -> PyResult<Cipher> {
        match &self.device {
            None => try_map!(&self.encryptor, e => e.encrypt_at(plaintext, index)),
            Some(device) => {
                try_map!(&self.encryptor, e => device.encrypt(e, plaintext, index, observer))
            }
        }
    }

    fn zero(&self, index: u64, observer: &dyn Observer) -> PyResult<Cipher> {
        match &self.device {
            None => try_map!(&self.encryptor, e => e.zero_at(index)),
            Some(device) => try_map!(&self.encryptor, e => device.zero(e, index, observer)),
        }
    }

    fn wrap(&self, py: Python<'_>, inner: Cipher) -> BfvCiphertext {
        BfvCiphertext {
            context: self.context.clone_ref(py),
            inner,
        }
    }
}

#[pymethods]
impl BfvEncryptor {
    #[new]
    #[pyo3(signature = (context, key, *, seed=None, device=None))]
    fn new(
        context: Py<BfvContext>,
        key: EncryptionKey,
        seed: Option<&[u8]>,
        device: Option<&Backend>,
    ) -> PyResult<Self> {
        let seed = randomness(seed)?;
        let set = context.get();
        let encryptor = match &set.params {
            WordWidth::W64(params) => WordWidth::W64(encryptor!(params, &key, seed, W64)),
            WordWidth::W128(params) => WordWidth::W128(encryptor!(params, &key, seed, W128)),
        };
        Ok(Self {
            context,
            encryptor,
            device: client(device)?,
            next: AtomicU64::new(0),
        })
    }

    /// Encrypts a plaintext.
    fn encrypt(&self, py: Python<'_>, plaintext: &BfvPlaintext) -> PyResult<BfvCiphertext> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let inner = watched(py, None, |watch| self.run(&plaintext.inner, index, watch))?;
        Ok(self.wrap(py, inner))
    }

    /// Encrypts each plaintext; the same ciphertexts as one call after the other.
    fn encrypt_batch(
        &self,
        py: Python<'_>,
        plaintexts: Vec<Py<BfvPlaintext>>,
    ) -> PyResult<Vec<BfvCiphertext>> {
        let first = self
            .next
            .fetch_add(plaintexts.len() as u64, Ordering::Relaxed);
        let numbered: Vec<_> = (first..).zip(&plaintexts).collect();
        let all: Vec<Cipher> = watched(py, None, |watch| {
            spread(self.device.as_ref(), &numbered, |(i, p)| {
                self.run(&p.get().inner, *i, watch)
            })
        })?;
        Ok(all.into_iter().map(|inner| self.wrap(py, inner)).collect())
    }

    /// Encrypts zero.
    fn encrypt_zero(&self, py: Python<'_>) -> PyResult<BfvCiphertext> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(self.wrap(py, watched(py, None, |watch| self.zero(index, watch))?))
    }
}

/// The phase of a ciphertext, by a device if there is one.
fn phase<W: ClientWord>(
    device: Option<&Arc<dyn Client>>,
    decryptor: &Decryptor<W>,
    ciphertext: &Ciphertext<W>,
    observer: &dyn Observer,
) -> PyResult<Phase<W>> {
    match device {
        None => decryptor.phase(ciphertext).or_raise(),
        Some(device) => device.phase(decryptor, ciphertext, observer).or_raise(),
    }
}

/// An expression of either width, of the decryptor, a ciphertext and its phase.
macro_rules! of_phase {
    ($self:expr, $ciphertext:expr, $observer:expr, |$d:ident, $c:ident, $phase:ident| $body:expr) => {{
        let device = $self.device.as_ref();
        match (&$self.decryptor, $ciphertext) {
            (WordWidth::W64($d), WordWidth::W64($c)) => {
                let $phase = phase(device, $d, $c, $observer)?;
                $body.or_raise()
            }
            (WordWidth::W128($d), WordWidth::W128($c)) => {
                let $phase = phase(device, $d, $c, $observer)?;
                $body.or_raise()
            }
            _ => Err(mismatch()),
        }
    }};
}

/// Decrypts, exactly as long as the noise budget lasts. A `device` does the polynomial part, as far as it can.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct BfvDecryptor {
    context: Py<BfvContext>,
    decryptor: WordWidth<Decryptor<u64>, Decryptor<u128>>,
    device: Option<Arc<dyn Client>>,
}

impl BfvDecryptor {
    fn run(&self, ciphertext: &Cipher, observer: &dyn Observer) -> PyResult<Plaintext> {
        of_phase!(self, ciphertext, observer, |d, c, phase| d.rounded(&phase))
    }

    fn wrap(&self, py: Python<'_>, inner: Plaintext) -> BfvPlaintext {
        BfvPlaintext {
            context: self.context.clone_ref(py),
            inner,
        }
    }
}

#[pymethods]
impl BfvDecryptor {
    #[new]
    #[pyo3(signature = (context, secret_key, *, device=None))]
    fn new(
        context: Py<BfvContext>,
        secret_key: &SecretKey,
        device: Option<&Backend>,
    ) -> PyResult<Self> {
        let decryptor = match (&context.get().params, &secret_key.key) {
            (WordWidth::W64(params), WordWidth::W64(key)) => {
                WordWidth::W64(Decryptor::new(params, Arc::clone(key)).or_raise()?)
            }
            (WordWidth::W128(params), WordWidth::W128(key)) => {
                WordWidth::W128(Decryptor::new(params, Arc::clone(key)).or_raise()?)
            }
            _ => return Err(mismatch()),
        };
        Ok(Self {
            context,
            decryptor,
            device: client(device)?,
        })
    }

    /// Decrypts.
    fn decrypt(&self, py: Python<'_>, ciphertext: &BfvCiphertext) -> PyResult<BfvPlaintext> {
        let inner = watched(py, None, |watch| self.run(&ciphertext.inner, watch))?;
        Ok(self.wrap(py, inner))
    }

    /// Decrypts each ciphertext.
    fn decrypt_batch(
        &self,
        py: Python<'_>,
        ciphertexts: Vec<Py<BfvCiphertext>>,
    ) -> PyResult<Vec<BfvPlaintext>> {
        let all: Vec<Plaintext> = watched(py, None, |watch| {
            spread(self.device.as_ref(), &ciphertexts, |c| {
                self.run(&c.get().inner, watch)
            })
        })?;
        Ok(all.into_iter().map(|inner| self.wrap(py, inner)).collect())
    }

    /// Decrypts with noise that hides the ciphertext's own, so that the result may be shared (IND-CPA-D).
    ///
    /// `noise_budget` is what the circuit that was evaluated is sure to leave (`BfvEstimator.log2_budget`), in bits;
    /// `security_bits` of statistical security over `queries` published decryptions.
    #[pyo3(signature = (ciphertext, noise_budget, *, security_bits=30, queries=1024, seed=None))]
    fn decrypt_for_publication(
        &self,
        py: Python<'_>,
        ciphertext: &BfvCiphertext,
        #[pyo3(from_py_with = number)] noise_budget: f64,
        #[pyo3(from_py_with = number)] security_bits: u32,
        #[pyo3(from_py_with = number)] queries: u64,
        seed: Option<&[u8]>,
    ) -> PyResult<BfvPlaintext> {
        let p = Publication {
            noise_budget,
            security_bits,
            queries,
        };
        let seed = seed_or_entropy(seed)?;
        let inner = watched(py, None, |watch| {
            of_phase!(self, &ciphertext.inner, watch, |d, c, phase| d
                .publish(c, phase, &p, &seed))
        })?;
        Ok(self.wrap(py, inner))
    }

    /// log2 of the largest noise coefficient; decryption fails at log2(q/2t).
    fn noise_bits(&self, py: Python<'_>, ciphertext: &BfvCiphertext) -> PyResult<f64> {
        watched(py, None, |watch| {
            of_phase!(self, &ciphertext.inner, watch, |d, c, phase| d
                .noise_bits_of(&phase))
        })
    }

    /// Bits of noise that may still be added before decryption fails; 0 when it may have failed.
    fn noise_budget(&self, py: Python<'_>, ciphertext: &BfvCiphertext) -> PyResult<f64> {
        watched(py, None, |watch| {
            of_phase!(self, &ciphertext.inner, watch, |d, c, phase| d
                .noise_budget_of(&phase))
        })
    }
}
