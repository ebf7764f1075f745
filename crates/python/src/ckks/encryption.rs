// SPDX-License-Identifier: Apache-2.0
//! CKKS encryption and decryption.

use super::data::{CkksCiphertext, CkksPlaintext};
use super::evaluate::narrow;
use crate::context::CkksContext;
use crate::errors::OrRaise;
use crate::keys::{EncryptionKey, SecretKey};
use crate::numbers::number;
use crate::scheme::{decryptor_class, encryptor_class};
use crate::watch::watched;
use ckks::{Decryptor, Encoder, Encryptor, Publication};
use pyo3::prelude::*;

/// An encryptor with the key that it encrypts under.
struct Encryption {
    encryptor: Encryptor,
    key: EncryptionKey,
}

impl Encryption {
    fn key(&self) -> PyResult<ckks::EncryptionKey<'_>> {
        Ok(match &self.key {
            EncryptionKey::Public(key) => ckks::EncryptionKey::Public(narrow(&key.get().key)?),
            EncryptionKey::Secret(key) => ckks::EncryptionKey::Secret(narrow(&key.get().key)?),
        })
    }
}

encryptor_class! {
    CkksEncryptor(Encryption) in CkksContext over CkksCiphertext, CkksPlaintext;
    new |context, key, randomness| {
        let encryptor = Encryptor::new(&context.params, randomness);
        PyResult::Ok(Encryption { encryptor, key })
    };
    encrypt {
        /// Encrypts a plaintext at its level and scale.
        |this, plaintext, index, observer| {
            let (encryptor, key) = (&this.encryptor.encryptor, this.encryptor.key()?);
            match &this.device {
                None => {
                    let parts = |draw: ckks::Draw<'_>| Ok::<_, ckks::Error>(draw.parts());
                    encryptor.encrypt_by(plaintext, key, index, parts).or_raise()
                }
                Some(device) => device.encrypt_ckks(encryptor, plaintext, key, index, observer).or_raise(),
            }
        }
    }
    more {
        /// Encrypts zero at a level and scale (defaults: those of a fresh ciphertext).
        #[pyo3(signature = (*, level=None, scale=None))]
        fn encrypt_zero(
            &self,
            py: Python<'_>,
            #[pyo3(from_py_with = number)] level: Option<usize>,
            #[pyo3(from_py_with = number)] scale: Option<f64>,
        ) -> PyResult<CkksCiphertext> {
            let (index, params) = (self.numbered(1), &self.context.get().params);
            let (level, scale) = (level.unwrap_or(params.max_level()), scale.unwrap_or(params.scale()));
            let inner = watched(py, None, |watch| {
                let zero = Encoder::new(params).encode_real(&[], level, scale).or_raise()?;
                self.encrypted(&zero, index, watch)
            })?;
            Ok(self.wrap(py, inner))
        }
    }
}

fn decryptor<'a>(context: &'a CkksContext, key: &'a Py<SecretKey>) -> PyResult<Decryptor<'a>> {
    Decryptor::new(&context.params, narrow(&key.get().key)?).or_raise()
}

decryptor_class! {
    /// Decrypts. The exact result is for the owner of the secret key: share it by `decrypt_for_publication` only.
    /// A `device` does the polynomial part, as far as it can.
    CkksDecryptor(Py<SecretKey>) in CkksContext over CkksCiphertext, CkksPlaintext;
    new |context, key| decryptor(context, &key).map(drop).map(|()| key);
    decrypt {
        /// Decrypts; the result carries the error of the computation.
        |this, ciphertext, observer| {
            let decryptor = decryptor(this.context.get(), &this.decryptor)?;
            match &this.device {
                None => decryptor.decrypt(ciphertext).or_raise(),
                Some(device) => device.decrypt_ckks(&decryptor, ciphertext, observer).or_raise(),
            }
        }
    }
    publish(slot_error) {
        /// Decrypts and floods the error, so that the result may be shared (IND-CPA-D).
        ///
        /// `slot_error` bounds the error of a slot of the circuit that was evaluated (`CkksEstimator.slot_error`);
        /// `security_bits` of statistical security over `queries` published decryptions.
        |this, ciphertext, publication, seed, observer| {
            let opened = this.decrypted(ciphertext, observer)?;
            let decryptor = decryptor(this.context.get(), &this.decryptor)?;
            decryptor.publish(ciphertext, opened, publication, seed).or_raise()
        }
    }
    more {}
}
