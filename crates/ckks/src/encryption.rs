// SPDX-License-Identifier: Apache-2.0
//! Encryption and decryption.

use crate::zero::{Draw, ZeroDraw};
use crate::{Ciphertext, CkksParams, Encoder, Error, Plaintext};
use rlwe::wire::Fingerprint;
use rlwe::{
    KeyId, ParameterSet, PublicKey, Randomness, SecretKey, Seed, SignedPoly, ZeroSample, sampling,
    uniform_residues,
};
use rns::{Eval, RnsBasis, RnsPoly};

/// The key of an encryption.
#[derive(Clone, Copy)]
pub enum EncryptionKey<'k> {
    /// Perhaps an extended one.
    Public(&'k PublicKey<u64>),
    /// The uniform component is then grown from a seed that replaces it in bytes.
    Secret(&'k SecretKey<u64>),
}

impl EncryptionKey<'_> {
    fn id(self) -> KeyId {
        match self {
            Self::Public(key) => key.id(),
            Self::Secret(key) => key.id(),
        }
    }

    fn fingerprint(self) -> Fingerprint {
        match self {
            Self::Public(key) => key.fingerprint(),
            Self::Secret(key) => key.fingerprint(),
        }
    }
}

/// Encrypts under a public or a secret key. Message number `index` under a given seed always gives the same ciphertext;
/// with [`Randomness::SYSTEM`] every encryption is new.
///
/// A given seed is bound to the parameter set, the role `ckks encrypt public`, `ckks encrypt extended` or
/// `ckks encrypt secret` and the key; below it `derive("encrypt", index)` is the message's seed, and below that the
/// streams `u`, `e0`, `e1` (public) or the public seed `a` and the stream `e` (secret).
#[derive(Clone, Debug)]
pub struct Encryptor {
    params: CkksParams,
    randomness: Randomness,
}

impl Encryptor {
    /// An encryptor that draws from the system, or from a seed: the same (seed, index) must never encrypt two messages.
    pub fn new(params: &CkksParams, randomness: impl Into<Randomness>) -> Self {
        Self {
            params: params.clone(),
            randomness: randomness.into(),
        }
    }

    /// The seed of message number `index` under a key.
    fn seed(&self, role: &str, key: &[u8], index: u64) -> Result<Seed, Error> {
        let seed = self.randomness.seed("the encryptor")?;
        let bound = seed.bind(role, self.params.fingerprint(), key);
        Ok(bound.derive("encrypt", index))
    }

    fn check(&self, plaintext: &Plaintext, key: Fingerprint) -> Result<RnsBasis<u64>, Error> {
        self.params
            .check_fingerprint("plaintext", plaintext.params)?;
        self.params
            .rlwe()
            .check_fingerprint("the encryption key", key)?;
        self.params.basis(plaintext.level())
    }

    fn public_seed(&self, key: &PublicKey<u64>, index: u64) -> Result<Seed, Error> {
        let role = match key.is_extended() {
            false => "ckks encrypt public",
            true => "ckks encrypt extended",
        };
        self.seed(role, &key.stamp(), index)
    }

    /// A random polynomial of message number `index` under a public key.
    ///
    /// # Errors
    /// Those of [`Randomness::seed`].
    pub fn sample(
        &self,
        key: &PublicKey<u64>,
        index: u64,
        sample: ZeroSample,
    ) -> Result<SignedPoly, Error> {
        let seed = self.public_seed(key, index)?;
        Ok(sample.draw(self.params.rlwe(), &seed))
    }

    /// Encrypts under the public key at the plaintext's level: `(b u + e0 + m, a u + e1)`, u ternary. Under an extended
    /// key the sums are over Q·P and divided by P before m is added.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a plaintext or key of other parameters, and those of [`Randomness::seed`].
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        key: &PublicKey<u64>,
        index: u64,
    ) -> Result<Ciphertext, Error> {
        self.encrypt_by(plaintext, EncryptionKey::Public(key), index, |draw| {
            Ok(draw.parts())
        })
    }

    /// Encrypts under the secret key: `(-a s + e + m, a)`, a grown from a seed that replaces it in bytes.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`].
    pub fn encrypt_secret(
        &self,
        plaintext: &Plaintext,
        key: &SecretKey<u64>,
        index: u64,
    ) -> Result<Ciphertext, Error> {
        self.encrypt_by(plaintext, EncryptionKey::Secret(key), index, |draw| {
            Ok(draw.parts())
        })
    }

    /// As [`Encryptor::encrypt`] or [`Encryptor::encrypt_secret`], with the parts computed elsewhere: as
    /// [`Draw::parts`] does.
    ///
    /// # Errors
    /// As [`Encryptor::encrypt`], and those of `parts`.
    pub fn encrypt_by<E: From<Error>>(
        &self,
        plaintext: &Plaintext,
        key: EncryptionKey<'_>,
        index: u64,
        parts: impl FnOnce(Draw<'_>) -> Result<[RnsPoly<u64, Eval>; 2], E>,
    ) -> Result<Ciphertext, E> {
        let basis = self.check(plaintext, key.fingerprint())?;
        let message = Some(&*plaintext.poly);
        let (parts, grown) = match key {
            EncryptionKey::Public(key) if key.is_extended() => {
                let level = self.params.rlwe().level(basis.len()).map_err(Error::from)?;
                let zero = self.draw_public(key, basis.len(), index)?;
                let sums = parts(Draw {
                    basis: level.qp().clone(),
                    message: None,
                    zero,
                })?;
                let [mut c0, c1] = sums.map(|sum| level.mod_down_eval(sum));
                c0.add_assign(&plaintext.poly);
                ([c0, c1], None)
            }
            EncryptionKey::Public(key) => {
                let zero = self.draw_public(key, basis.len(), index)?;
                let draw = Draw {
                    basis,
                    message,
                    zero,
                };
                (parts(draw)?, None)
            }
            EncryptionKey::Secret(key) => {
                let (zero, grown) = self.draw_secret(key, &basis, index)?;
                let draw = Draw {
                    basis,
                    message,
                    zero,
                };
                (parts(draw)?, Some(grown))
            }
        };
        Ok(fresh(plaintext, parts.into(), key.id(), grown))
    }

    /// For a ciphertext of `limbs` data primes.
    fn draw_public<'k>(
        &self,
        key: &'k PublicKey<u64>,
        limbs: usize,
        index: u64,
    ) -> Result<ZeroDraw<'k>, Error> {
        let seed = self.public_seed(key, index)?;
        let draw = |sample: ZeroSample| sample.draw(self.params.rlwe(), &seed);
        Ok(ZeroDraw::Public {
            key: key.limbs_at(limbs).collect(),
            u: draw(ZeroSample::U),
            errors: [ZeroSample::E0, ZeroSample::E1].map(draw),
        })
    }

    /// With the seed that a grows from.
    fn draw_secret<'k>(
        &self,
        key: &'k SecretKey<u64>,
        basis: &RnsBasis<u64>,
        index: u64,
    ) -> Result<(ZeroDraw<'k>, Seed), Error> {
        let seed = self.seed("ckks encrypt secret", &key.id().0, index)?;
        let grown = seed.derive("a", 0);
        let errors = self.params.rlwe().error_sampler();
        let error = SignedPoly::new(basis.n(), u64::from(sampling::MAX_ETA), |out| {
            errors.fill(&mut seed.stream("e", 0), out);
        });
        let zero = ZeroDraw::Secret {
            key: key.eval(),
            a: seeded_component(&self.params, basis, &grown),
            error,
        };
        Ok((zero, grown))
    }
}

fn fresh(
    plaintext: &Plaintext,
    parts: Vec<RnsPoly<u64, Eval>>,
    key: KeyId,
    seed: Option<Seed>,
) -> Ciphertext {
    Ciphertext {
        parts,
        scale: plaintext.scale,
        slots: plaintext.slots,
        params: plaintext.params,
        key,
        seed,
    }
}

/// The uniform component that a public seed stands for.
pub(crate) fn seeded_component(
    params: &CkksParams,
    basis: &RnsBasis<u64>,
    seed: &Seed,
) -> RnsPoly<u64, Eval> {
    let mut a = RnsPoly::zeros(basis);
    uniform_residues(params.rlwe(), seed, basis.len(), false, a.data_mut());
    a
}

/// `c_0 + c_1·s + …` by Horner's rule, from the highest part down; the secret may be over a longer basis.
fn phase(parts: &[RnsPoly<u64, Eval>], key: &RnsPoly<u64, Eval>) -> RnsPoly<u64, Eval> {
    let mut parts = parts.iter().rev();
    let mut sum = parts.next().expect("a ciphertext has parts").clone();
    let basis = sum.basis().clone();
    for part in parts {
        for (i, q) in basis.moduli().iter().enumerate() {
            let limb = sum.limb_mut(i);
            q.mul_assign(limb, key.limb(i));
            q.add_assign(limb, part.limb(i));
        }
    }
    sum
}

/// Decrypts. The result carries the error of the computation: share it only through
/// [`Decryptor::decrypt_for_publication`].
pub struct Decryptor<'k> {
    pub(crate) params: CkksParams,
    key: &'k SecretKey<u64>,
}

impl std::fmt::Debug for Decryptor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decryptor")
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

impl<'k> Decryptor<'k> {
    /// The decryptor of a secret key.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a key of other parameters.
    pub fn new(params: &CkksParams, key: &'k SecretKey<u64>) -> Result<Self, Error> {
        params
            .rlwe()
            .check_fingerprint("the secret key", key.fingerprint())?;
        Ok(Self {
            params: params.clone(),
            key,
        })
    }

    /// `c0 + c1 s (+ c2 s²)`, a plaintext at the ciphertext's level and scale.
    ///
    /// For the owner of the secret key only: an attacker who sees the exact result and knows the message learns the
    /// error, and with it the key (Li and Micciancio, ePrint 2020/1533).
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a ciphertext of other parameters or another key.
    pub fn decrypt(&self, ct: &Ciphertext) -> Result<Plaintext, Error> {
        self.decrypt_by(ct, |parts, key| Ok(phase(parts, key)))
    }

    /// As [`Decryptor::decrypt`], `c0 + c1 s (+ c2 s²)` computed elsewhere of the parts and the secret, which is over
    /// more primes.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`], and those of `compute`.
    pub fn decrypt_by<E: From<Error>>(
        &self,
        ct: &Ciphertext,
        compute: impl FnOnce(
            &[RnsPoly<u64, Eval>],
            &RnsPoly<u64, Eval>,
        ) -> Result<RnsPoly<u64, Eval>, E>,
    ) -> Result<Plaintext, E> {
        let checked = || -> Result<(), Error> {
            self.params.check_fingerprint("ciphertext", ct.params)?;
            ct.key.join(self.key.id(), "ciphertext")?;
            match ct.parts.len() {
                0 => Err(Error::Size {
                    operation: "decrypt",
                    given: 0,
                    needed: "2 or 3",
                    remedy: "",
                }),
                _ => Ok(()),
            }
        };
        checked()?;
        Ok(Plaintext {
            poly: compute(&ct.parts, self.key.eval())?.into(),
            scale: ct.scale,
            slots: ct.slots,
            params: ct.params,
        })
    }

    /// Decrypts and decodes.
    ///
    /// # Errors
    /// As [`Decryptor::decrypt`].
    pub fn decrypt_slots(&self, ct: &Ciphertext) -> Result<Vec<num_complex::Complex64>, Error> {
        Encoder::new(&self.params).decode(&self.decrypt(ct)?)
    }
}
