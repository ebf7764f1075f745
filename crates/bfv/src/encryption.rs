// SPDX-License-Identifier: Apache-2.0
//! Encryption and decryption.

use crate::Error;
use crate::ciphertext::Ciphertext;
use crate::params::BfvParams;
use crate::plaintext::Plaintext;
use crate::zero::ZeroDraw;
use num_bigint::BigInt;
use num_traits::Signed;
use rlwe::sampling::MAX_ETA;
use rlwe::{
    KeyId, ParameterSet, PublicKey, Randomness, SecretKey, Seed, SignedPoly, ZeroSample,
    uniform_residues,
};
use rns::{Coeff, Eval, RnsPoly, Scratch};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;
use zq::{AlignedVec, Word};

enum Key<W: Word> {
    Public(Arc<PublicKey<W>>),
    Secret(Arc<SecretKey<W>>),
}

/// Encrypts under a public key, or under the secret key with a seed for the uniform component.
///
/// A given seed is bound to the parameter set, the role `bfv encrypt public`, `bfv encrypt extended` or
/// `bfv encrypt secret` and the key; below it message number i draws from `derive("encrypt", i)`: `u`, `e0`, `e1`
/// (public key); `a`, `e` (secret key). The same seed and number give the same bytes: one pair must never serve two
/// messages. With [`Randomness::SYSTEM`] every encryption is new.
pub struct Encryptor<W: Word> {
    params: BfvParams<W>,
    key: Key<W>,
    randomness: Randomness,
    count: AtomicU64,
}

impl<W: Word> Encryptor<W> {
    /// Encrypts under the public key; with less noise under an extended one.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
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
    #[inline(never)]
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
        }
    }

    /// Encrypts the next message.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`]; those of [`Randomness::seed`].
    #[inline(never)]
    pub fn encrypt(&self, message: &Plaintext) -> Result<Ciphertext<W>, Error> {
        self.encrypt_at(message, self.count.fetch_add(1, Ordering::Relaxed))
    }

    /// Encrypts message number `index`.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`].
    #[inline(never)]
    pub fn encrypt_at(&self, message: &Plaintext, index: u64) -> Result<Ciphertext<W>, Error> {
        self.encrypt_by(message, index, |draw| draw.parts())
    }

    /// As [`Encryptor::encrypt_at`], with the parts of the encryption of zero computed elsewhere: as
    /// [`ZeroDraw::parts`] does.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`], and those of `parts`.
    pub fn encrypt_by<E: From<Error>>(
        &self,
        message: &Plaintext,
        index: u64,
        parts: impl FnOnce(&ZeroDraw<'_, W>) -> Result<[RnsPoly<W, Coeff>; 2], E>,
    ) -> Result<Ciphertext<W>, E> {
        self.params
            .check_fingerprint("the plaintext", message.fingerprint())
            .map_err(Error::from)?;
        let mut ct = self.zero_by(index, parts)?;
        let level = self.params.level(ct.limbs())?;
        level.add_scaled(message.coefficients(), &mut ct.parts[0], false);
        Ok(ct)
    }

    /// An encryption of zero, message number `index`.
    ///
    /// # Errors
    /// Those of [`Randomness::seed`].
    #[inline(never)]
    pub fn zero_at(&self, index: u64) -> Result<Ciphertext<W>, Error> {
        self.zero_by(index, |draw| draw.parts())
    }

    /// As [`Encryptor::zero_at`], with its parts computed elsewhere.
    ///
    /// # Errors
    /// As [`Encryptor::zero_at`], and those of `parts`.
    pub fn zero_by<E: From<Error>>(
        &self,
        index: u64,
        parts: impl FnOnce(&ZeroDraw<'_, W>) -> Result<[RnsPoly<W, Coeff>; 2], E>,
    ) -> Result<Ciphertext<W>, E> {
        let (id, (draw, grown)) = match &self.key {
            Key::Public(key) => {
                let seed = self.public_seed(key, index)?;
                (key.id(), (self.draw_public(key, &seed), None))
            }
            Key::Secret(key) => {
                let seed = self.seed("bfv encrypt secret", &key.id().0, index)?;
                (key.id(), self.draw_secret(key, &seed))
            }
        };
        let mut parts = parts(&draw)?;
        if let Key::Public(key) = &self.key
            && key.is_extended()
        {
            let rlwe = self.params.rlwe();
            let level = rlwe.level(rlwe.data_primes()).map_err(Error::from)?;
            parts = parts.map(|part| level.mod_down(part));
        }
        let mut ct = Ciphertext::new(self.params.fingerprint(), id, parts.into());
        ct.seed = grown;
        Ok(ct)
    }

    /// The seed of message number `index` under a key.
    fn seed(&self, role: &str, key: &[u8], index: u64) -> Result<Seed, Error> {
        let seed = self.randomness.seed("the encryptor")?;
        let bound = seed.bind(role, self.params.fingerprint(), key);
        Ok(bound.derive("encrypt", index))
    }

    fn public_seed(&self, key: &PublicKey<W>, index: u64) -> Result<Seed, Error> {
        let role = match key.is_extended() {
            false => "bfv encrypt public",
            true => "bfv encrypt extended",
        };
        self.seed(role, &key.stamp(), index)
    }

    /// A random polynomial of message number `index` under a public key.
    ///
    /// # Errors
    /// Those of [`Randomness::seed`].
    #[inline(never)]
    pub fn sample(
        &self,
        key: &PublicKey<W>,
        index: u64,
        sample: ZeroSample,
    ) -> Result<SignedPoly, Error> {
        let seed = self.public_seed(key, index)?;
        Ok(sample.draw(self.params.rlwe(), &seed))
    }

    fn draw_public<'k>(&self, key: &'k PublicKey<W>, seed: &Seed) -> ZeroDraw<'k, W> {
        let (rlwe, parts) = (self.params.rlwe(), key.parts());
        let residues = |sample: ZeroSample| {
            let poly = sample.draw(rlwe, seed).residues(parts[0].basis());
            Zeroizing::new(poly)
        };
        ZeroDraw::Public {
            key: parts,
            u: residues(ZeroSample::U),
            errors: [ZeroSample::E0, ZeroSample::E1].map(residues),
        }
    }

    /// With the seed that a grows from.
    fn draw_secret<'k>(
        &self,
        key: &'k SecretKey<W>,
        seed: &Seed,
    ) -> (ZeroDraw<'k, W>, Option<Seed>) {
        let rlwe = self.params.rlwe();
        let grown = seed.derive("a", 0);
        let mut a = RnsPoly::zeros(rlwe.q());
        uniform_residues(rlwe, &grown, rlwe.data_primes(), false, a.data_mut());
        let error = SignedPoly::new(rlwe.n(), u64::from(MAX_ETA), |out| {
            rlwe.error_sampler().fill(&mut seed.stream("e", 0), out);
        });
        let draw = ZeroDraw::Secret {
            key: key.eval(),
            a,
            error: error.residues(rlwe.q()).into(),
        };
        (draw, Some(grown))
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

/// c_0 + c_1·s + … modulo Q of a ciphertext: its message and its noise. Wiped when dropped.
pub struct Phase<W: Word>(pub(crate) Zeroizing<RnsPoly<W, Coeff>>);

/// Decrypts with the secret key. A result is exact, yet whether it came out right depends on the noise: share results
/// by [`Decryptor::decrypt_for_publication`], see there.
pub struct Decryptor<W: Word> {
    pub(crate) params: BfvParams<W>,
    key: Arc<SecretKey<W>>,
}

impl<W: Word> Decryptor<W> {
    /// A decryptor.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn new(params: &BfvParams<W>, key: Arc<SecretKey<W>>) -> Result<Self, Error> {
        params
            .rlwe()
            .check_fingerprint("the secret key", key.fingerprint())?;
        Ok(Self {
            params: params.clone(),
            key,
        })
    }

    /// Decrypts: round(t·(c_0 + c_1·s + …)/Q) modulo t. With the noise budget used up the result is wrong; see
    /// [`Decryptor::noise_budget`].
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`], [`rlwe::Error::KeyMismatch`].
    #[inline(never)]
    pub fn decrypt(&self, ct: &Ciphertext<W>) -> Result<Plaintext, Error> {
        self.rounded(&self.phase(ct)?)
    }

    /// The plaintext nearest to a phase.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] for a phase of a longer set.
    #[inline(never)]
    pub fn rounded(&self, phase: &Phase<W>) -> Result<Plaintext, Error> {
        let level = self.params.level(phase.0.limb_count())?;
        let mut out = Zeroizing::new(AlignedVec::for_overwrite(self.params.n()));
        level
            .decrypt
            .scale_dropped_into(phase.0.data(), &mut out, &mut Scratch::new());
        let coefficients = out.iter().map(|x| x.low_u64()).collect();
        Ok(Plaintext::from_reduced(&self.params, coefficients))
    }

    /// The phase of a ciphertext.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    #[inline(never)]
    pub fn phase(&self, ct: &Ciphertext<W>) -> Result<Phase<W>, Error> {
        self.phase_by(ct, |parts, key| Ok(rlwe::phase(parts, key)?))
    }

    /// The phase, computed elsewhere of the parts and the secret: as [`rlwe::phase`] does.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`], and those of `compute`.
    pub fn phase_by<E: From<Error>>(
        &self,
        ct: &Ciphertext<W>,
        compute: impl FnOnce(&[RnsPoly<W, Coeff>], &RnsPoly<W, Eval>) -> Result<RnsPoly<W, Coeff>, E>,
    ) -> Result<Phase<W>, E> {
        self.params
            .check_fingerprint("the ciphertext", ct.fingerprint())
            .map_err(Error::from)?;
        self.key
            .id()
            .join(ct.key_id(), "the ciphertext")
            .map_err(Error::from)?;
        Ok(Phase(compute(ct.parts(), self.key.eval())?.into()))
    }

    /// log2 of the largest noise coefficient |v|, from t·(c_0 + c_1·s + …) modulo Q; at least −log2 t.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    #[inline(never)]
    pub fn noise_bits(&self, ct: &Ciphertext<W>) -> Result<f64, Error> {
        self.noise_bits_of(&self.phase(ct)?)
    }

    /// log2 of the largest noise coefficient of the ciphertext that a phase is of.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] for a phase of a longer set.
    #[inline(never)]
    pub fn noise_bits_of(&self, phase: &Phase<W>) -> Result<f64, Error> {
        let mut phase = phase.0.clone();
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
    #[inline(never)]
    pub fn noise_budget(&self, ct: &Ciphertext<W>) -> Result<f64, Error> {
        self.noise_budget_of(&self.phase(ct)?)
    }

    /// The noise budget of the ciphertext that a phase is of.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] for a phase of a longer set.
    #[inline(never)]
    pub fn noise_budget_of(&self, phase: &Phase<W>) -> Result<f64, Error> {
        let limit = crate::noise::log2_limit(&self.params, phase.0.limb_count())?;
        Ok((limit - self.noise_bits_of(phase)?).floor().max(0.0))
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
