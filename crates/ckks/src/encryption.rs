// SPDX-License-Identifier: Apache-2.0
//! Encryption and decryption.

use crate::{Ciphertext, CkksParams, Encoder, Error, Plaintext};
use rlwe::wire::Fingerprint;
use rlwe::{
    KeyId, ParameterSet, PublicKey, Randomness, SecretKey, Seed, SignedPoly, sampling,
    uniform_residues,
};
use rns::{Eval, RnsBasis, RnsPoly};
use zeroize::Zeroizing;
use zq::AlignedVec;

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
        let basis = self.check(plaintext, key.fingerprint())?;
        let message = &plaintext.poly;
        let parts = if key.is_extended() {
            let seed = self.seed("ckks encrypt extended", &key.stamp(), index)?;
            let level = self.params.rlwe().level(basis.len())?;
            let sums = self.zero(&seed, key, (level.qp(), basis.len()), None);
            let [mut c0, c1] = sums.map(|sum| level.mod_down_eval(sum));
            c0.add_assign(message);
            [c0, c1]
        } else {
            let seed = self.seed("ckks encrypt public", &key.stamp(), index)?;
            self.zero(&seed, key, (&basis, basis.len()), Some(message))
        };
        Ok(fresh(plaintext, parts.into(), key.id(), None))
    }

    /// `(b u + e0 + m, a u + e1)` over a basis of so many data primes, the key's special ones perhaps after them.
    fn zero(
        &self,
        seed: &Seed,
        key: &PublicKey<u64>,
        (basis, limbs): (&RnsBasis<u64>, usize),
        message: Option<&RnsPoly<u64, Eval>>,
    ) -> [RnsPoly<u64, Eval>; 2] {
        let errors = self.params.rlwe().error_sampler();
        let error = |label| samples(basis, |out| errors.fill(&mut seed.stream(label, 0), out));
        let u = samples(basis, |out| {
            sampling::ternary(&mut seed.stream("u", 0), out)
        });
        let [e0, e1] = ["e0", "e1"].map(error);
        // Limb by limb, so that u and what is made of it stay in the second cache level.
        let n = basis.n();
        let mut u_limb = Zeroizing::new(AlignedVec::for_overwrite(n));
        let mut parts = [(); 2].map(|()| AlignedVec::for_overwrite(basis.len() * n));
        for ((i, plan), keys) in basis.plans().iter().enumerate().zip(key.limbs_at(limbs)) {
            let (q, limb) = (plan.modulus(), i * n..(i + 1) * n);
            u.transform(plan, &mut u_limb);
            for ((part, e), key) in parts.iter_mut().zip([&e0, &e1]).zip(keys) {
                let out = &mut part[limb.clone()];
                e.transform(plan, out);
                q.mul_add_assign(out, &u_limb, key);
            }
            if let Some(message) = message {
                q.add_assign(&mut parts[0][limb], message.limb(i));
            }
        }
        parts.map(|data| RnsPoly::from_data(basis, data))
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
        let seed = self.seed("ckks encrypt secret", &key.id().0, index)?;
        let public = seed.derive("a", 0);
        let a = seeded_component(&self.params, &basis, &public);
        let errors = self.params.rlwe().error_sampler();
        let e = samples(&basis, |out| errors.fill(&mut seed.stream("e", 0), out));
        let n = basis.n();
        let mut c0 = AlignedVec::for_overwrite(basis.len() * n);
        let mut product = Zeroizing::new(AlignedVec::for_overwrite(n));
        for ((i, plan), out) in basis.plans().iter().enumerate().zip(c0.chunks_exact_mut(n)) {
            let q = plan.modulus();
            e.transform(plan, out);
            q.add_assign(out, plaintext.poly.limb(i));
            q.mul_into(&mut product, a.limb(i), key.eval().limb(i));
            q.sub_assign(out, &product);
        }
        let c0 = RnsPoly::from_data(&basis, c0);
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

/// A sampled polynomial.
fn samples(basis: &RnsBasis<u64>, fill: impl FnOnce(&mut [i64])) -> SignedPoly {
    SignedPoly::new(basis.n(), u64::from(sampling::MAX_ETA), fill)
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
        let mut poly = Zeroizing::new(highest.clone());
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
