// SPDX-License-Identifier: Apache-2.0
//! Encryption and decryption.

use crate::Error;
use crate::ciphertext::Ciphertext;
use crate::params::BfvParams;
use crate::plaintext::Plaintext;
use num_bigint::BigInt;
use num_traits::Signed;
use rlwe::sample::MAX_ETA;
use rlwe::{
    CpuEngine, KeyId, PolyEngine, PublicKey, Randomness, Sampler, SecretKey, Seed, small_poly,
    uniform_residues,
};
use rns::{Coeff, RnsPoly, Scratch};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::{Zeroize, Zeroizing};
use zq::Word;

enum Key<W: Word> {
    Public(Arc<PublicKey<W>>),
    Secret(Arc<SecretKey<W>>),
}

/// Encrypts under a public key, or under the secret key with a seed for the uniform half.
///
/// A given seed is bound to the parameter set, the role `bfv encrypt public` or `bfv encrypt secret` and the key; below it message
/// number i draws from `derive("encrypt", i)`: `u`, `e0`, `e1` (public key); `a`, `e` (secret key). The same seed and number give
/// the same bytes: one pair must never serve two messages. With [`Randomness::SYSTEM`] every encryption is new.
pub struct Encryptor<W: Word> {
    params: BfvParams<W>,
    key: Key<W>,
    randomness: Randomness,
    count: AtomicU64,
    engine: Arc<dyn PolyEngine<W>>,
}

impl<W: Word> Encryptor<W> {
    /// Encrypts under the public key.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    pub fn new(
        params: &BfvParams<W>,
        key: Arc<PublicKey<W>>,
        randomness: impl Into<Randomness>,
    ) -> Result<Self, Error> {
        params
            .rlwe()
            .check_fingerprint("the public key", key.fingerprint())?;
        Ok(Self::with_key(params, Key::Public(key), randomness.into()))
    }

    /// Encrypts under the secret key; such ciphertexts are half as long in bytes.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    pub fn symmetric(
        params: &BfvParams<W>,
        key: Arc<SecretKey<W>>,
        randomness: impl Into<Randomness>,
    ) -> Result<Self, Error> {
        params
            .rlwe()
            .check_fingerprint("the secret key", key.fingerprint())?;
        Ok(Self::with_key(params, Key::Secret(key), randomness.into()))
    }

    fn with_key(params: &BfvParams<W>, key: Key<W>, randomness: Randomness) -> Self {
        Self {
            params: params.clone(),
            key,
            randomness,
            count: AtomicU64::new(0),
            engine: Arc::new(CpuEngine),
        }
    }

    /// Hands the polynomial work to another engine.
    #[must_use]
    pub fn on(mut self, engine: Arc<dyn PolyEngine<W>>) -> Self {
        self.engine = engine;
        self
    }

    /// Encrypts the next message.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`]; the engine's own.
    pub fn encrypt(&self, message: &Plaintext) -> Result<Ciphertext<W>, Error> {
        self.encrypt_at(message, self.count.fetch_add(1, Ordering::Relaxed))
    }

    /// Encrypts message number `index`.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`].
    pub fn encrypt_at(&self, message: &Plaintext, index: u64) -> Result<Ciphertext<W>, Error> {
        self.params
            .check_fingerprint("the plaintext", message.fingerprint())?;
        let mut ct = self.zero_at(index)?;
        let level = self.params.level(ct.limbs())?;
        level.add_scaled(message.coefficients(), &mut ct.parts[0], false);
        Ok(ct)
    }

    /// An encryption of zero, message number `index`.
    ///
    /// # Errors
    /// Those of [`Randomness::seed`]; the engine's own.
    pub fn zero_at(&self, index: u64) -> Result<Ciphertext<W>, Error> {
        let seed = self.randomness.seed("the encryptor")?;
        let of = |role, key: &[u8]| {
            seed.bind(role, self.params.fingerprint(), key)
                .derive("encrypt", index)
        };
        match &self.key {
            Key::Public(key) => self.zero_public(key, &of("bfv encrypt public", &key.stamp())),
            Key::Secret(key) => self.zero_symmetric(key, &of("bfv encrypt secret", &key.id().0)),
        }
    }

    fn zero_public(&self, key: &PublicKey<W>, seed: &Seed) -> Result<Ciphertext<W>, Error> {
        let errors = self.params.rlwe().error_sampler();
        let u = self.small(&Sampler::Ternary, seed, "u")?;
        let e = [
            self.small(errors, seed, "e0")?,
            self.small(errors, seed, "e1")?,
        ];
        let parts = self.engine.encrypt_zero(key.parts(), u, e)?;
        Ok(Ciphertext::new(
            self.params.fingerprint(),
            key.id(),
            parts.into(),
        ))
    }

    fn zero_symmetric(&self, key: &SecretKey<W>, seed: &Seed) -> Result<Ciphertext<W>, Error> {
        let rlwe = self.params.rlwe();
        let grown = seed.derive("a", 0);
        let mut a = RnsPoly::zeros(rlwe.q());
        uniform_residues(rlwe, &grown, rlwe.data_primes(), false, a.data_mut());
        // e − a·s = −(−e + a·s)
        let mut parts = vec![self.small(rlwe.error_sampler(), seed, "e")?, a];
        parts[0].neg_assign();
        let mut c0 = self.engine.phase(&parts, key.eval())?;
        c0.neg_assign();
        parts[0].zeroize();
        parts[0] = c0;
        let mut ct = Ciphertext::new(self.params.fingerprint(), key.id(), parts);
        ct.seed = Some(grown);
        Ok(ct)
    }

    fn small(
        &self,
        sampler: &Sampler,
        seed: &Seed,
        label: &str,
    ) -> Result<RnsPoly<W, Coeff>, Error> {
        let mut values = Zeroizing::new(vec![0; self.params.n()]);
        sampler.fill(&mut seed.stream(label, 0), &mut values);
        Ok(small_poly(
            self.params.rlwe().q(),
            &values,
            u64::from(MAX_ETA),
        ))
    }
}

/// A plaintext as a ciphertext that hides nothing: (round(Q·m/t), 0). It goes with ciphertexts of any key.
///
/// # Errors
/// [`rlwe::Error::ParameterMismatch`].
pub(crate) fn trivial<W: Word>(
    params: &BfvParams<W>,
    message: &Plaintext,
) -> Result<Ciphertext<W>, Error> {
    params.check_fingerprint("the plaintext", message.fingerprint())?;
    let mut parts = vec![
        RnsPoly::zeros(params.rlwe().q()),
        RnsPoly::zeros(params.rlwe().q()),
    ];
    params.level(params.rlwe().data_primes())?.add_scaled(
        message.coefficients(),
        &mut parts[0],
        false,
    );
    Ok(Ciphertext::new(params.fingerprint(), KeyId::NONE, parts))
}

/// Decrypts with the secret key. A result is exact, yet whether it came out right depends on the noise: share results by
/// [`Decryptor::decrypt_for_publication`], see there.
pub struct Decryptor<W: Word> {
    pub(crate) params: BfvParams<W>,
    key: Arc<SecretKey<W>>,
    engine: Arc<dyn PolyEngine<W>>,
}

impl<W: Word> Decryptor<W> {
    /// A decryptor.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    pub fn new(params: &BfvParams<W>, key: Arc<SecretKey<W>>) -> Result<Self, Error> {
        params
            .rlwe()
            .check_fingerprint("the secret key", key.fingerprint())?;
        Ok(Self {
            params: params.clone(),
            key,
            engine: Arc::new(CpuEngine),
        })
    }

    /// Hands the polynomial work to another engine.
    #[must_use]
    pub fn on(mut self, engine: Arc<dyn PolyEngine<W>>) -> Self {
        self.engine = engine;
        self
    }

    /// Decrypts: round(t·(c_0 + c_1·s + …)/Q) modulo t. With the noise budget used up the result is wrong; see
    /// [`Decryptor::noise_budget`].
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`], [`rlwe::Error::KeyMismatch`]; the engine's own.
    pub fn decrypt(&self, ct: &Ciphertext<W>) -> Result<Plaintext, Error> {
        self.rounded(&Zeroizing::new(self.phase(ct)?), ct.limbs())
    }

    /// The plaintext nearest to a phase.
    pub(crate) fn rounded(
        &self,
        phase: &RnsPoly<W, Coeff>,
        limbs: usize,
    ) -> Result<Plaintext, Error> {
        let level = self.params.level(limbs)?;
        let mut out = Zeroizing::new(vec![W::ZERO; self.params.n()]);
        level
            .decrypt
            .scale_dropped_into(phase.data(), &mut out, &mut Scratch::new());
        let coefficients = out.iter().map(|x| x.low_u64()).collect();
        Ok(Plaintext::from_reduced(&self.params, coefficients))
    }

    /// c_0 + c_1·s + … modulo Q.
    pub(crate) fn phase(&self, ct: &Ciphertext<W>) -> Result<RnsPoly<W, Coeff>, Error> {
        self.params
            .check_fingerprint("the ciphertext", ct.fingerprint())?;
        self.key.id().join(ct.key_id(), "the ciphertext")?;
        Ok(self.engine.phase(ct.parts(), self.key.eval())?)
    }

    /// log2 of the largest noise coefficient |v|, from t·(c_0 + c_1·s + …) modulo Q; at least −log2 t.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn noise_bits(&self, ct: &Ciphertext<W>) -> Result<f64, Error> {
        let mut phase = self.phase(ct)?;
        phase.scalar_mul_assign(self.params.plain_modulus() as i64);
        let largest = phase
            .compose_centered()
            .iter()
            .map(BigInt::abs)
            .max()
            .unwrap_or_default();
        Ok(log2(&largest).max(0.0) - (self.params.plain_modulus() as f64).log2())
    }

    /// Whole bits the noise may still grow by before decryption fails: ⌊log2(Q/2t) − log2|v|⌋, at least 0.
    ///
    /// Noise beyond the limit wraps and then looks uniform, with a largest coefficient next to the limit: 0 bits.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn noise_budget(&self, ct: &Ciphertext<W>) -> Result<f64, Error> {
        let noise = self.noise_bits(ct)?;
        Ok(
            (crate::noise::log2_limit(&self.params, ct.limbs())? - noise)
                .floor()
                .max(0.0),
        )
    }
}

/// log2 of a non-negative big integer; −∞ for 0.
fn log2(x: &BigInt) -> f64 {
    let bits = x.bits();
    if bits == 0 {
        return f64::NEG_INFINITY;
    }
    let shift = bits.saturating_sub(64);
    let top: u64 = (x.magnitude() >> shift).try_into().unwrap_or(u64::MAX);
    (top as f64).log2() + shift as f64
}
