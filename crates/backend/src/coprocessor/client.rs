// SPDX-License-Identifier: Apache-2.0
//! A client on a co-processor.

use super::Coprocessor;
use crate::lower::client;
use crate::{Error, Observer};
use bfv::{Ciphertext, Decryptor, Encryptor, Phase, Plaintext};
use ckks::EncryptionKey;
use zq::Word;

impl Coprocessor {
    /// [`Encryptor::encrypt_at`], its polynomial part on the device.
    ///
    /// # Errors
    /// The encryptor's, the device's, and [`Error::Cancelled`].
    pub fn encrypt<W: Word>(
        &self,
        encryptor: &Encryptor<W>,
        message: &Plaintext,
        index: u64,
        observer: &dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        encryptor.encrypt_by(message, index, |draw| {
            client::bfv::zero_parts(self, draw, observer)
        })
    }

    /// [`Encryptor::zero_at`], its polynomial part on the device.
    ///
    /// # Errors
    /// As [`Coprocessor::encrypt`].
    pub fn zero<W: Word>(
        &self,
        encryptor: &Encryptor<W>,
        index: u64,
        observer: &dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        encryptor.zero_by(index, |draw| client::bfv::zero_parts(self, draw, observer))
    }

    /// [`Decryptor::phase`] by the device.
    ///
    /// # Errors
    /// The decryptor's, the device's, and [`Error::Cancelled`].
    pub fn phase<W: Word>(
        &self,
        decryptor: &Decryptor<W>,
        ciphertext: &Ciphertext<W>,
        observer: &dyn Observer,
    ) -> Result<Phase<W>, Error> {
        decryptor.phase_by(ciphertext, |parts, key| {
            client::bfv::phase(self, parts, key, observer)
        })
    }

    /// [`ckks::Encryptor::encrypt`] or [`ckks::Encryptor::encrypt_secret`], its polynomial part on the device.
    ///
    /// # Errors
    /// The encryptor's, the device's, and [`Error::Cancelled`].
    pub fn encrypt_ckks(
        &self,
        encryptor: &ckks::Encryptor,
        message: &ckks::Plaintext,
        key: EncryptionKey<'_>,
        index: u64,
        observer: &dyn Observer,
    ) -> Result<ckks::Ciphertext, Error> {
        encryptor.encrypt_by(message, key, index, |draw| {
            client::ckks::parts(self, draw, observer)
        })
    }

    /// [`ckks::Decryptor::decrypt`] by the device.
    ///
    /// # Errors
    /// The decryptor's, the device's, and [`Error::Cancelled`].
    pub fn decrypt_ckks(
        &self,
        decryptor: &ckks::Decryptor<'_>,
        ciphertext: &ckks::Ciphertext,
        observer: &dyn Observer,
    ) -> Result<ckks::Plaintext, Error> {
        decryptor.decrypt_by(ciphertext, |parts, key| {
            client::ckks::phase(self, parts, key, observer)
        })
    }
}
