// SPDX-License-Identifier: Apache-2.0
//! Key generation.

use super::{
    GaloisKeys, KeyId, KeySwitchKey, MAX_SAMPLE, PublicKey, RelinKey, SecretKey, UniformHalf,
    uniform_residues,
};
use crate::params::{ParameterSet, RlweParams};
use crate::sampling::{Randomness, Seed};
use crate::signed_poly::signed_poly;
use crate::wire::Fingerprint;
use crate::{Error, Threads};
use rns::{Automorphism, Eval, RnsPoly};
use zeroize::{Zeroize, Zeroizing};
use zq::Word;

/// Makes keys: the same ones on every machine from a given seed, new ones at every call from [`Randomness::SYSTEM`].
///
/// The seed is bound to the parameter set and a role: `secret key`, below it the streams `secret` and `key-id`;
/// `public key`, `extended public key`, `relin key`, `galois key`, bound to the identity of the secret key too, below
/// them the seeds `a` and `e` (index: the Galois element, else 0); below a switching key's two seeds `digit` d for its
/// uniform component, `digit` d for its error. Those of [`EncapsulationKeys`](super::EncapsulationKeys) are `sparse
/// secret` and `key from the sparse secret`.
pub struct KeyGenerator<W: Word> {
    pub(super) params: RlweParams<W>,
    set: Fingerprint,
    randomness: Randomness,
}

/// A Galois element, its automorphism and its key.
type GaloisKey<W> = (u64, (Automorphism, KeySwitchKey<W>));

/// The components of one encryption of zero under the secret key, evaluation form.
pub(super) struct ZeroPair<W: Word> {
    pub b: RnsPoly<W, Eval>,
    pub a: RnsPoly<W, Eval>,
}

impl<W: Word> KeyGenerator<W> {
    /// A generator for `params`: a scheme's set, or a ring-LWE set alone, whose keys then serve every scheme over it.
    pub fn new(params: &impl ParameterSet<Word = W>, randomness: impl Into<Randomness>) -> Self {
        Self {
            params: params.rlwe().clone(),
            set: params.fingerprint(),
            randomness: randomness.into(),
        }
    }

    pub(super) fn seed(&self, role: &str, about: &[u8]) -> Result<Seed, Error> {
        let seed = self.randomness.seed("the key generator")?;
        Ok(seed.bind(role, self.set, about))
    }

    /// The seeds of the uniform components and of the errors of a key that belongs to `secret`.
    pub(super) fn component_seeds(
        &self,
        role: &str,
        secret: &SecretKey<W>,
        index: u64,
    ) -> Result<(Seed, Seed), Error> {
        let seed = self.seed(role, &secret.id.0)?;
        Ok((seed.derive("a", index), seed.derive("e", index)))
    }

    /// The secret key.
    ///
    /// # Errors
    /// Those of [`Randomness::seed`], as everywhere below.
    #[inline(never)]
    pub fn secret_key(&self) -> Result<SecretKey<W>, Error> {
        let seed = self.seed("secret key", &[])?;
        let mut coefficients = Zeroizing::new(vec![0; self.params.n()]);
        self.params
            .secret_sampler()
            .fill(&mut seed.stream("secret", 0), &mut coefficients);
        let mut id = [0; 16];
        seed.stream("key-id", 0).fill(&mut id);
        SecretKey::from_coefficients(&self.params, KeyId(id), coefficients)
    }

    /// The public key of `secret`, over Q.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] when the secret belongs to another set.
    #[inline(never)]
    pub fn public_key(&self, secret: &SecretKey<W>) -> Result<PublicKey<W>, Error> {
        self.public("public key", secret, false)
    }

    /// The extended public key of `secret`, over Q·P: it encrypts with less noise ([`NoiseModel::fresh_extended`]).
    ///
    /// # Errors
    /// As [`KeyGenerator::public_key`], and [`Error::NoSpecialPrimes`].
    ///
    /// [`NoiseModel::fresh_extended`]: crate::noise::NoiseModel::fresh_extended
    #[inline(never)]
    pub fn extended_public_key(&self, secret: &SecretKey<W>) -> Result<PublicKey<W>, Error> {
        self.public("extended public key", secret, true)
    }

    /// The roles differ, or both keys would have one stamp and encryptions under them the same u.
    fn public(
        &self,
        role: &str,
        secret: &SecretKey<W>,
        extended: bool,
    ) -> Result<PublicKey<W>, Error> {
        self.params
            .check_fingerprint("the secret key", secret.params)?;
        let limbs = self.params.data_primes();
        let mut a = RnsPoly::zeros(PublicKey::basis(&self.params, extended)?);
        let (seed, errors) = self.component_seeds(role, secret, 0)?;
        uniform_residues(&self.params, &seed, limbs, extended, a.data_mut());
        let ZeroPair { b, a } = zero_pair(&self.params, secret, a, limbs, &errors)?;
        Ok(PublicKey {
            params: secret.params,
            id: secret.id,
            seed,
            seeded: true,
            limbs,
            b,
            a,
        })
    }

    /// The relinearisation key, from s² to s, for ciphertexts over the first `limbs` data primes or fewer.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`]; [`Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    #[inline(never)]
    pub fn relin_key(&self, secret: &SecretKey<W>, limbs: usize) -> Result<RelinKey<W>, Error> {
        let seeds = self.component_seeds("relin key", secret, 0)?;
        let mut square = secret.eval.mul(&secret.eval);
        let key = self.switch_key(secret, &square, limbs, seeds);
        square.zeroize();
        Ok(RelinKey(key?))
    }

    /// Keys for the automorphisms x -> x^g, g odd and below 2n, for ciphertexts over the first `limbs` primes or
    /// fewer.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`]; [`Error::Shape`]; [`Error::Rns`] for an even or too large element.
    #[inline(never)]
    pub fn galois_keys(
        &self,
        secret: &SecretKey<W>,
        elements: &[u64],
        limbs: usize,
    ) -> Result<GaloisKeys<W>, Error> {
        let keys = elements.iter().map(|g| self.galois_key(secret, *g, limbs));
        self.gathered(secret, limbs, keys)
    }

    /// [`KeyGenerator::galois_keys`] without their uniform halves in memory, on several threads; `made` is called
    /// after each key, on any of them.
    ///
    /// # Errors
    /// As [`KeyGenerator::galois_keys`].
    #[inline(never)]
    pub fn galois_keys_grown(
        &self,
        secret: &SecretKey<W>,
        elements: &[u64],
        limbs: usize,
        threads: &Threads,
        made: &(dyn Fn() + Sync),
    ) -> Result<GaloisKeys<W>, Error> {
        let keys = threads.try_map(elements, |g| {
            let (g, (auto, mut key)) = self.galois_key(secret, *g, limbs)?;
            key.set_uniform(&self.params, UniformHalf::Grown)?;
            made();
            Ok::<_, Error>((g, (auto, key)))
        })?;
        self.gathered(secret, limbs, keys.into_iter().map(Ok))
    }

    fn galois_key(
        &self,
        secret: &SecretKey<W>,
        g: u64,
        limbs: usize,
    ) -> Result<GaloisKey<W>, Error> {
        let auto = galois_automorphism(self.params.n(), g)?;
        let seeds = self.component_seeds("galois key", secret, g)?;
        let mut image = secret.eval.automorphism(&auto);
        let key = self.switch_key(secret, &image, limbs, seeds);
        image.zeroize();
        Ok((g, (auto, key?)))
    }

    fn gathered(
        &self,
        secret: &SecretKey<W>,
        limbs: usize,
        keys: impl Iterator<Item = Result<GaloisKey<W>, Error>>,
    ) -> Result<GaloisKeys<W>, Error> {
        Ok(GaloisKeys {
            params: secret.params,
            id: secret.id,
            limbs,
            keys: keys.collect::<Result<_, _>>()?,
        })
    }

    /// A key from `source` (over Q·P) to `secret`; `seeds` are those of the uniform components and of the errors, and
    /// must serve no other source or secret: the difference of two such keys tells that of the sources.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`]; [`Error::Shape`].
    #[inline(never)]
    pub fn switch_key(
        &self,
        secret: &SecretKey<W>,
        source: &RnsPoly<W, Eval>,
        limbs: usize,
        seeds: (Seed, Seed),
    ) -> Result<KeySwitchKey<W>, Error> {
        self.params
            .check_fingerprint("the secret key", secret.params)?;
        // The set has that number of data primes: checked before memory for their digits is taken.
        self.params.qp_prefix(limbs)?;
        let (seed, errors) = seeds;
        let digits = self.params.digits_at(limbs);
        let (mut masked, mut uniform) = (Vec::with_capacity(digits), Vec::with_capacity(digits));
        for d in 0..digits {
            let a = KeySwitchKey::uniform_component(&self.params, &seed, d, limbs)?;
            let mut pair = zero_pair(
                &self.params,
                secret,
                a,
                limbs,
                &errors.derive("digit", d as u64),
            )?;
            self.add_gadget(&mut pair.b, source, d, limbs);
            masked.push(pair.b);
            uniform.push(pair.a);
        }
        Ok(KeySwitchKey {
            params: secret.params,
            id: secret.id,
            seed: Some(seed),
            limbs,
            masked,
            uniform: Some(uniform),
        })
    }

    /// `b += g_d·source`: P times the source in the digit's limbs.
    fn add_gadget(
        &self,
        b: &mut RnsPoly<W, Eval>,
        source: &RnsPoly<W, Eval>,
        d: usize,
        limbs: usize,
    ) {
        let len = self.params.digit_len();
        for j in d * len..limbs.min((d + 1) * len) {
            self.add_special_multiple(b, source, j);
        }
    }
}

impl<W: Word> KeyGenerator<W> {
    /// A key from `source` (over Q·P) to `secret` of a single digit, for polynomials whose coefficients are small
    /// numbers and not only residues: `b = −a·s + e + P·source` modulo every prime. `seeds` as for
    /// [`KeyGenerator::switch_key`].
    pub(super) fn one_digit_key(
        &self,
        secret: &SecretKey<W>,
        source: &RnsPoly<W, Eval>,
        (seed, errors): (Seed, Seed),
    ) -> Result<KeySwitchKey<W>, Error> {
        let limbs = self.params.data_primes();
        let a = KeySwitchKey::uniform_component(&self.params, &seed, 0, limbs)?;
        let mut pair = zero_pair(&self.params, secret, a, limbs, &errors.derive("digit", 0))?;
        for j in 0..limbs {
            self.add_special_multiple(&mut pair.b, source, j);
        }
        Ok(KeySwitchKey {
            params: secret.params,
            id: secret.id,
            seed: Some(seed),
            limbs,
            masked: vec![pair.b],
            uniform: Some(vec![pair.a]),
        })
    }

    /// `b += P·source` modulo data prime j.
    fn add_special_multiple(&self, b: &mut RnsPoly<W, Eval>, source: &RnsPoly<W, Eval>, j: usize) {
        let m = *b.basis().modulus(j);
        let special = self.params.p().map_or(&[][..], |p| p.moduli());
        let p = special
            .iter()
            .fold(m.reduce(W::ONE), |acc, x| m.mul(acc, m.reduce(x.value())));
        m.scalar_mul_add_assign(b.limb_mut(j), source.limb(j), p);
    }
}

/// The automorphism of a Galois element given by a user.
pub(crate) fn galois_automorphism(n: usize, g: u64) -> Result<Automorphism, Error> {
    let g = usize::try_from(g).unwrap_or(usize::MAX);
    Ok(Automorphism::new(n, g)?)
}

/// (−a·s + e, a) over the basis of `a`: the first `limbs` data primes, then the special primes or nothing.
fn zero_pair<W: Word>(
    params: &RlweParams<W>,
    secret: &SecretKey<W>,
    a: RnsPoly<W, Eval>,
    limbs: usize,
    error_seed: &Seed,
) -> Result<ZeroPair<W>, Error> {
    let mut e = Zeroizing::new(vec![0; params.n()]);
    params
        .error_sampler()
        .fill(&mut error_seed.stream("e", 0), &mut e);
    let basis = a.basis().clone();
    let mut b = signed_poly(&basis, &e, MAX_SAMPLE).to_eval();
    let mut product = a.clone();
    for (i, limb) in product.limbs_mut().enumerate() {
        let index = if i < limbs {
            i
        } else {
            params.data_primes() + i - limbs
        };
        basis.modulus(i).mul_assign(limb, secret.eval.limb(index));
    }
    b.sub_assign(&product);
    product.zeroize();
    Ok(ZeroPair { b, a })
}
