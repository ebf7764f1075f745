// SPDX-License-Identifier: Apache-2.0
//! Secret, public and key-switching keys, and how they are generated.

mod codec;
mod encapsulate;
mod generate;
mod halves;
mod switch;

pub use encapsulate::EncapsulationKeys;
pub use generate::KeyGenerator;
pub use switch::{GaloisKeys, KeySwitchKey, RelinKey, UniformHalf};

use crate::Error;
use crate::params::RlweParams;
use crate::sampling::{self, Seed};
use crate::signed_poly::signed_poly;
use crate::wire::Fingerprint;
use rns::{Eval, RnsPoly};
use zeroize::{Zeroize, Zeroizing};
use zq::Word;

/// Largest absolute value of a secret's or an error's coefficient.
const MAX_SAMPLE: u64 = sampling::MAX_ETA as u64;

/// Identifies the secret key an object belongs to. Derived one-way from the seed of the secret, it reveals nothing of
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct KeyId(pub [u8; 16]);

impl std::fmt::Display for KeyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0[..6].iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl KeyId {
    /// Belongs to no key: ciphertexts that hide nothing.
    pub const NONE: Self = Self([0; 16]);

    /// The common owner of two objects; one that belongs to no key goes with any.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] when they have different owners.
    pub fn join(self, other: Self, what: &'static str) -> Result<Self, Error> {
        match (self == Self::NONE, other == Self::NONE) {
            (true, _) => Ok(other),
            (_, true) => Ok(self),
            _ if self == other => Ok(self),
            _ => Err(Error::KeyMismatch {
                what,
                got: other.to_string(),
                expected: self.to_string(),
            }),
        }
    }
}

/// The secret polynomial s. Wiped on drop; never printed.
pub struct SecretKey<W: Word> {
    pub(crate) params: Fingerprint,
    pub(crate) id: KeyId,
    pub(crate) coefficients: Zeroizing<Vec<i64>>,
    /// s over Q·P.
    pub(crate) eval: RnsPoly<W, Eval>,
}

impl<W: Word> Drop for SecretKey<W> {
    fn drop(&mut self) {
        self.eval.zeroize();
    }
}

impl<W: Word> std::fmt::Debug for SecretKey<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl<W: Word> SecretKey<W> {
    #[inline(never)]
    pub(crate) fn from_coefficients(
        params: &RlweParams<W>,
        id: KeyId,
        coefficients: Zeroizing<Vec<i64>>,
    ) -> Result<Self, Error> {
        let eval = signed_poly(params.qp(), &coefficients, MAX_SAMPLE).to_eval();
        Ok(Self {
            params: params.fingerprint(),
            id,
            coefficients,
            eval,
        })
    }

    /// The key set's identity.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The parameter set's identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.params
    }

    /// The coefficients of s. Secret.
    pub fn coefficients(&self) -> &[i64] {
        &self.coefficients
    }

    /// s over Q·P in evaluation form. Secret.
    pub fn eval(&self) -> &RnsPoly<W, Eval> {
        &self.eval
    }
}

/// A public encryption key (b, a) with b = −a·s + e, in evaluation form: over Q, or extended, over Q·P. What an
/// extended key encrypts is divided by P and rounded, which leaves hardly more noise than the rounding makes.
#[derive(Clone, Debug)]
pub struct PublicKey<W: Word> {
    pub(crate) params: Fingerprint,
    pub(crate) id: KeyId,
    /// Grows `a`; of a key whose halves were given, a digest of `a`.
    pub(crate) seed: Seed,
    pub(crate) seeded: bool,
    /// Data primes of the set.
    pub(crate) limbs: usize,
    pub(crate) b: RnsPoly<W, Eval>,
    pub(crate) a: RnsPoly<W, Eval>,
}

impl<W: Word> PublicKey<W> {
    /// The key set's identity.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The parameter set's identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.params
    }

    /// Distinguishes the keys of one owner: identity and seed, or digest, of a. Encryptions draw from a seed bound to
    /// it, or two keys under one seed would share u.
    pub fn stamp(&self) -> [u8; 48] {
        let mut stamp = [0; 48];
        stamp[..16].copy_from_slice(&self.id.0);
        stamp[16..].copy_from_slice(self.seed.as_bytes());
        stamp
    }

    /// Whether it is over Q·P.
    pub fn is_extended(&self) -> bool {
        self.b.limb_count() > self.limbs
    }

    /// The two components (b, a).
    pub fn parts(&self) -> [&RnsPoly<W, Eval>; 2] {
        [&self.b, &self.a]
    }

    /// The limbs of both components for a ciphertext over `limbs` data primes: these, then the special ones of an
    /// extended key.
    pub fn limbs_at(&self, limbs: usize) -> impl Iterator<Item = [&[W]; 2]> + '_ {
        (0..limbs)
            .chain(self.limbs..self.b.limb_count())
            .map(|i| [self.b.limb(i), self.a.limb(i)])
    }
}

/// A uniform polynomial grown from a public seed, bound to the set: limb j is stream ("uniform", index of its prime in
/// the set's Q·P).
///
/// `limbs` data primes, then all special primes if `special`. The residues are uniform in either domain.
#[inline(never)]
pub fn uniform_residues<W: Word>(
    params: &RlweParams<W>,
    seed: &Seed,
    limbs: usize,
    special: bool,
    out: &mut [W],
) {
    let all = params.qp();
    let special = if special {
        params.data_primes()..all.len()
    } else {
        0..0
    };
    for (index, limb) in (0..limbs)
        .chain(special)
        .zip(out.chunks_exact_mut(params.n()))
    {
        uniform_limb(
            seed,
            params.fingerprint(),
            (all.modulus(index), index),
            limb,
        );
    }
}

/// Limb `index` of [`uniform_residues`], of the set with this fingerprint.
fn uniform_limb<W: Word>(
    seed: &Seed,
    set: Fingerprint,
    (modulus, index): (&zq::Modulus<W>, usize),
    limb: &mut [W],
) {
    let mut stream = seed
        .bind("uniform", set, &[])
        .stream("uniform", index as u64);
    sampling::uniform(&mut stream, modulus, limb);
}
