// SPDX-License-Identifier: Apache-2.0
//! Encryption and decryption.

use crate::{Ciphertext, CkksParams, Encoder, Error, Plaintext};
use rlwe::wire::Fingerprint;
use rlwe::{KeyId, PublicKey, SecretKey, Seed, sample, small_poly, uniform_residues};
use rns::{Eval, RnsBasis, RnsPoly};
use zeroize::{Zeroize, Zeroizing};

/// Encrypts under a public or a secret key. Message number `index` under a seed always gives the same ciphertext.
///
/// Labels below the seed: `ckks-public` and `ckks-secret` derive the message's seed from `index`; below it the streams `u`,
/// `e0`, `e1` (public) or the public seed `a` and the stream `e` (secret).
#[derive(Clone, Debug)]
pub struct Encryptor {
    params: CkksParams,
    seed: Seed,
}

impl Encryptor {
    /// An encryptor that draws all randomness from `seed`. The same (seed, index) must never encrypt two messages.
    pub fn new(params: &CkksParams, seed: Seed) -> Self {
        Self {
            params: params.clone(),
            seed,
        }
    }

    fn check(&self, plaintext: &Plaintext, key: Fingerprint) -> Result<RnsBasis<u64>, Error> {
        self.params
            .check_fingerprint("plaintext", plaintext.params)?;
        self.params
            .rlwe()
            .check_fingerprint("the encryption key", key)?;
        self.params.basis(plaintext.level())
    }

    /// Encrypts under the public key at the plaintext's level: `(b u + e0 + m, a u + e1)`, u ternary.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a plaintext or key of other parameters.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        key: &PublicKey<u64>,
        index: u64,
    ) -> Result<Ciphertext, Error> {
        let basis = self.check(plaintext, key.fingerprint())?;
        let seed = self.seed.derive("ckks-public", index);
        let mut u = sampled(&basis, |out| sample::ternary(&mut seed.stream("u", 0), out));
        let errors = self.params.rlwe().error_sampler();
        let half = |label, part: &RnsPoly<u64, Eval>| {
            let mut c = sampled(&basis, |out| errors.fill(&mut seed.stream(label, 0), out));
            for (i, q) in basis.moduli().iter().enumerate() {
                q.mul_add_assign(c.limb_mut(i), u.limb(i), part.limb(i));
            }
            Ok::<_, Error>(c)
        };
        let [b, a] = key.parts();
        let mut c0 = half("e0", b)?;
        let c1 = half("e1", a)?;
        u.zeroize();
        c0.add_assign(&plaintext.poly);
        Ok(fresh(plaintext, vec![c0, c1], key.id(), None))
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
        let basis = self.check(plaintext, key.fingerprint())?;
        let seed = self.seed.derive("ckks-secret", index);
        let public = seed.derive("a", 0);
        let a = seeded_half(&self.params, &basis, &public);
        let errors = self.params.rlwe().error_sampler();
        let mut c0 = sampled(&basis, |out| errors.fill(&mut seed.stream("e", 0), out));
        c0.add_assign(&plaintext.poly);
        let mut product = a.clone();
        for ((limb, s), q) in product
            .limbs_mut()
            .zip(key.eval().limbs())
            .zip(basis.moduli())
        {
            q.mul_assign(limb, s);
        }
        c0.sub_assign(&product);
        product.zeroize();
        Ok(fresh(plaintext, vec![c0, a], key.id(), Some(public)))
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

/// The uniform half that a public seed stands for.
pub(crate) fn seeded_half(
    params: &CkksParams,
    basis: &RnsBasis<u64>,
    seed: &Seed,
) -> RnsPoly<u64, Eval> {
    let mut a = RnsPoly::zeros(basis);
    uniform_residues(params.rlwe(), seed, basis.len(), false, a.data_mut());
    a
}

/// Largest absolute value that a sampler of errors or secrets may return.
const MAX_SAMPLE: u64 = 20_808;

/// A polynomial with sampled coefficients, in evaluation form; the samples are wiped.
fn sampled(basis: &RnsBasis<u64>, fill: impl FnOnce(&mut [i64])) -> RnsPoly<u64, Eval> {
    let mut coefficients = Zeroizing::new(vec![0i64; basis.n()]);
    fill(&mut coefficients);
    small_poly(basis, &coefficients, MAX_SAMPLE).to_eval()
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
    /// For the owner of the secret key only: whoever sees the exact result and knows the message learns the error, and
    /// with it the key (Li and Micciancio, ePrint 2020/1533).
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a ciphertext of other parameters or another key.
    pub fn decrypt(&self, ct: &Ciphertext) -> Result<Plaintext, Error> {
        self.params.check_fingerprint("ciphertext", ct.params)?;
        ct.key.join(self.key.id(), "ciphertext")?;
        let mut parts = ct.parts.iter().rev();
        // Horner in s, from the highest part down. A ciphertext has two parts at least.
        let Some(highest) = parts.next() else {
            return Err(Error::Size {
                operation: "decrypt",
                given: 0,
                needed: "2 or 3",
                remedy: "",
            });
        };
        let mut poly = highest.clone();
        let basis = poly.basis().clone();
        for part in parts {
            for (i, q) in basis.moduli().iter().enumerate() {
                let limb = poly.limb_mut(i);
                q.mul_assign(limb, self.key.eval().limb(i));
                q.add_assign(limb, part.limb(i));
            }
        }
        Ok(Plaintext {
            poly,
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
