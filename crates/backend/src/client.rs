// SPDX-License-Identifier: Apache-2.0
//! The polynomial part of a client, on a backend. Sampling, scaling, encoding and rounding stay with the scheme.

use crate::{Error, Observer};
use bfv::{Ciphertext, Decryptor, Encryptor, Phase, Plaintext, ZeroDraw};
use ckks::{Draw, EncryptionKey};
use rns::{Coeff, Eval, RnsPoly};
use zq::Word;

/// Both parts of a BFV encryption of zero.
pub type Zero<W> = [RnsPoly<W, Coeff>; 2];

/// A backend's part of a client, of any scheme and word width.
pub trait Client: Send + Sync {
    /// [`ZeroDraw::parts`] over 64-bit words.
    ///
    /// # Errors
    /// The backend's, and [`Error::Cancelled`]; so for the others.
    fn zero_narrow(
        &self,
        draw: &ZeroDraw<'_, u64>,
        observer: &dyn Observer,
    ) -> Result<Zero<u64>, Error>;

    /// [`ZeroDraw::parts`] over 128-bit words.
    fn zero_wide(
        &self,
        draw: &ZeroDraw<'_, u128>,
        observer: &dyn Observer,
    ) -> Result<Zero<u128>, Error>;

    /// [`rlwe::phase`] of coefficients over 64-bit words.
    fn phase_narrow(
        &self,
        parts: &[RnsPoly<u64, Coeff>],
        key: &RnsPoly<u64, Eval>,
        observer: &dyn Observer,
    ) -> Result<RnsPoly<u64, Coeff>, Error>;

    /// [`rlwe::phase`] of coefficients over 128-bit words.
    fn phase_wide(
        &self,
        parts: &[RnsPoly<u128, Coeff>],
        key: &RnsPoly<u128, Eval>,
        observer: &dyn Observer,
    ) -> Result<RnsPoly<u128, Coeff>, Error>;

    /// [`Draw::parts`].
    fn ckks_parts(
        &self,
        draw: Draw<'_>,
        observer: &dyn Observer,
    ) -> Result<[RnsPoly<u64, Eval>; 2], Error>;

    /// The phase of values.
    fn ckks_phase(
        &self,
        parts: &[RnsPoly<u64, Eval>],
        key: &RnsPoly<u64, Eval>,
        observer: &dyn Observer,
    ) -> Result<RnsPoly<u64, Eval>, Error>;
}

/// The words of a BFV client.
pub trait ClientWord: Word {
    /// The parts of an encryption of zero.
    ///
    /// # Errors
    /// The client's.
    fn zero(
        client: &dyn Client,
        draw: &ZeroDraw<'_, Self>,
        observer: &dyn Observer,
    ) -> Result<Zero<Self>, Error>;

    /// The phase of a ciphertext's parts.
    ///
    /// # Errors
    /// The client's.
    fn phase(
        client: &dyn Client,
        parts: &[RnsPoly<Self, Coeff>],
        key: &RnsPoly<Self, Eval>,
        observer: &dyn Observer,
    ) -> Result<RnsPoly<Self, Coeff>, Error>;
}

macro_rules! client_word {
    ($word:ty, $zero:ident, $phase:ident) => {
        impl ClientWord for $word {
            fn zero(
                client: &dyn Client,
                draw: &ZeroDraw<'_, Self>,
                observer: &dyn Observer,
            ) -> Result<Zero<Self>, Error> {
                client.$zero(draw, observer)
            }

            fn phase(
                client: &dyn Client,
                parts: &[RnsPoly<Self, Coeff>],
                key: &RnsPoly<Self, Eval>,
                observer: &dyn Observer,
            ) -> Result<RnsPoly<Self, Coeff>, Error> {
                client.$phase(parts, key, observer)
            }
        }
    };
}
client_word!(u64, zero_narrow, phase_narrow);
client_word!(u128, zero_wide, phase_wide);

impl dyn Client {
    /// [`Encryptor::encrypt_at`], its polynomial part on the backend.
    ///
    /// # Errors
    /// The encryptor's, the backend's, and [`Error::Cancelled`].
    pub fn encrypt<W: ClientWord>(
        &self,
        encryptor: &Encryptor<W>,
        message: &Plaintext,
        index: u64,
        observer: &dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        encryptor.encrypt_by(message, index, |draw| W::zero(self, draw, observer))
    }

    /// [`Encryptor::zero_at`], its polynomial part on the backend.
    ///
    /// # Errors
    /// As [`Self::encrypt`].
    pub fn zero<W: ClientWord>(
        &self,
        encryptor: &Encryptor<W>,
        index: u64,
        observer: &dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        encryptor.zero_by(index, |draw| W::zero(self, draw, observer))
    }

    /// [`Decryptor::phase`] by the backend.
    ///
    /// # Errors
    /// The decryptor's, the backend's, and [`Error::Cancelled`].
    pub fn phase<W: ClientWord>(
        &self,
        decryptor: &Decryptor<W>,
        ciphertext: &Ciphertext<W>,
        observer: &dyn Observer,
    ) -> Result<Phase<W>, Error> {
        decryptor.phase_by(ciphertext, |parts, key| {
            W::phase(self, parts, key, observer)
        })
    }

    /// [`ckks::Encryptor::encrypt`] or [`ckks::Encryptor::encrypt_secret`], its polynomial part on the backend.
    ///
    /// # Errors
    /// The encryptor's, the backend's, and [`Error::Cancelled`].
    pub fn encrypt_ckks(
        &self,
        encryptor: &ckks::Encryptor,
        message: &ckks::Plaintext,
        key: EncryptionKey<'_>,
        index: u64,
        observer: &dyn Observer,
    ) -> Result<ckks::Ciphertext, Error> {
        encryptor.encrypt_by(message, key, index, |draw| self.ckks_parts(draw, observer))
    }

    /// [`ckks::Decryptor::decrypt`] by the backend.
    ///
    /// # Errors
    /// The decryptor's, the backend's, and [`Error::Cancelled`].
    pub fn decrypt_ckks(
        &self,
        decryptor: &ckks::Decryptor<'_>,
        ciphertext: &ckks::Ciphertext,
        observer: &dyn Observer,
    ) -> Result<ckks::Plaintext, Error> {
        decryptor.decrypt_by(ciphertext, |parts, key| {
            self.ckks_phase(parts, key, observer)
        })
    }
}
