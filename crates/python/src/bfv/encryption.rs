// SPDX-License-Identifier: Apache-2.0
//! BFV encryption and decryption.

use super::data::{BfvCiphertext, BfvPlaintext};
use crate::context::BfvContext;
use crate::errors::OrRaise;
use crate::keys::{EncryptionKey, SecretKey};
use crate::scheme::{decryptor_class, encryptor_class};
use crate::watch::watched;
use crate::word_width::{WordWidth, mismatch, try_map};
use ::backend::{Client, ClientWord, Observer};
use bfv::{Ciphertext, Decryptor, Encryptor, Phase, Publication};
use pyo3::prelude::*;
use rlwe::Randomness;
use std::sync::Arc;

/// An encryptor of either width.
type Encryption = WordWidth<Encryptor<u64>, Encryptor<u128>>;

/// A decryptor of either width.
type Decryption = WordWidth<Decryptor<u64>, Decryptor<u128>>;

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

fn encryptor(context: &BfvContext, key: &EncryptionKey, seed: Randomness) -> PyResult<Encryption> {
    Ok(match &context.params {
        WordWidth::W64(params) => WordWidth::W64(encryptor!(params, key, seed, W64)),
        WordWidth::W128(params) => WordWidth::W128(encryptor!(params, key, seed, W128)),
    })
}

encryptor_class! {
    BfvEncryptor(Encryption) in BfvContext over BfvCiphertext, BfvPlaintext;
    new |context, key, randomness| encryptor(context, &key, randomness);
    encrypt {
        /// Encrypts a plaintext.
        |this, plaintext, index, observer| match &this.device {
            None => try_map!(&this.encryptor, e => e.encrypt_at(plaintext, index)),
            Some(device) => try_map!(&this.encryptor, e => device.encrypt(e, plaintext, index, observer)),
        }
    }
    more {
        /// Encrypts zero.
        fn encrypt_zero(&self, py: Python<'_>) -> PyResult<BfvCiphertext> {
            let index = self.numbered(1);
            let inner = watched(py, None, |watch| match &self.device {
                None => try_map!(&self.encryptor, e => e.zero_at(index)),
                Some(device) => try_map!(&self.encryptor, e => device.zero(e, index, watch)),
            })?;
            Ok(self.wrap(py, inner))
        }
    }
}

fn decryptor(context: &BfvContext, key: &SecretKey) -> PyResult<Decryption> {
    match (&context.params, &key.key) {
        (WordWidth::W64(params), WordWidth::W64(key)) => Decryptor::new(params, Arc::clone(key))
            .or_raise()
            .map(WordWidth::W64),
        (WordWidth::W128(params), WordWidth::W128(key)) => Decryptor::new(params, Arc::clone(key))
            .or_raise()
            .map(WordWidth::W128),
        _ => Err(mismatch()),
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

decryptor_class! {
    /// Decrypts, exactly as long as the noise budget lasts. A `device` does the polynomial part, as far as it can.
    BfvDecryptor(Decryption) in BfvContext over BfvCiphertext, BfvPlaintext;
    new |context, key| decryptor(context, key.get());
    decrypt {
        /// Decrypts.
        |this, ciphertext, observer| of_phase!(this, ciphertext, observer, |d, _c, phase| d.rounded(&phase))
    }
    publish(noise_budget) {
        /// Decrypts with noise that hides the ciphertext's own, so that the result may be shared (IND-CPA-D).
        ///
        /// `noise_budget` is what the circuit that was evaluated is sure to leave (`BfvEstimator.log2_budget`), in
        /// bits; `security_bits` of statistical security over `queries` published decryptions.
        |this, ciphertext, publication, seed, observer| {
            of_phase!(this, ciphertext, observer, |d, c, phase| d.publish(c, phase, publication, seed))
        }
    }
    more {
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
}
