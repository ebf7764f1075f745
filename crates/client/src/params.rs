// SPDX-License-Identifier: Apache-2.0
//! Parameter sets: checked for what this crate can do, by the rules of `rules`.

use crate::error::Error;
use crate::modulus::Modulus;
use crate::ntt::smallest_root;
use crate::rules::{self, MAX_PRIMES, ParamsLiteral, Scheme};
use crate::stream::ETA;
use sha2::{Digest, Sha256};

/// A checked set, with ternary secrets and errors of η = 21. It holds no table: 8 primes and two hashes.
#[derive(Clone, Debug)]
pub struct Params {
    pub(crate) n: usize,
    pub(crate) scheme: Scheme,
    /// Data primes, then zeros.
    pub(crate) primes: [Modulus; MAX_PRIMES],
    pub(crate) roots: [u64; MAX_PRIMES],
    /// Data primes.
    pub(crate) limbs: usize,
    /// Fingerprints of the ring-LWE set, and of the scheme's set.
    pub(crate) ring: [u8; 16],
    pub(crate) set: [u8; 16],
}

impl Params {
    /// A set of 128 bits of security.
    ///
    /// # Errors
    /// [`Error::Parameters`]; [`Error::Insecure`] below 128 bits.
    pub fn new(literal: &ParamsLiteral<'_>) -> Result<Self, Error> {
        rules::check(literal)?;
        match rules::secure(literal) {
            true => Self::checked(literal),
            false => Err(Error::Insecure),
        }
    }

    /// A set of any security: for tests and for sets that were judged elsewhere.
    ///
    /// # Errors
    /// [`Error::Parameters`].
    pub fn insecure(literal: &ParamsLiteral<'_>) -> Result<Self, Error> {
        rules::check(literal)?;
        Self::checked(literal)
    }

    /// Finds the roots of a literal that keeps the rules.
    fn checked(literal: &ParamsLiteral<'_>) -> Result<Self, Error> {
        let (mut primes, mut roots) = ([Modulus::new(3); MAX_PRIMES], [0; MAX_PRIMES]);
        for (i, value) in literal.data.iter().enumerate() {
            primes[i] = Modulus::new(*value);
            roots[i] = smallest_root(&primes[i], literal.n).ok_or(rules::NO_PRIMES)?;
        }
        let (ring, set) = fingerprints(literal);
        Ok(Self {
            n: literal.n,
            scheme: literal.scheme,
            primes,
            roots,
            limbs: literal.data.len(),
            ring,
            set,
        })
    }

    /// The data primes.
    pub(crate) fn data(&self) -> &[Modulus] {
        &self.primes[..self.limbs]
    }
}

/// Identity of the ring-LWE set and of the scheme's, as the engine has them.
fn fingerprints(literal: &ParamsLiteral<'_>) -> ([u8; 16], [u8; 16]) {
    let mut hash = Sha256::new();
    hash.update([64, literal.n.trailing_zeros() as u8, 0]);
    hash.update(0u64.to_le_bytes());
    hash.update([2]);
    hash.update(u64::from(ETA).to_le_bytes());
    hash.update(literal.dnum.to_le_bytes());
    hash.update((literal.data.len() as u32).to_le_bytes());
    hash.update((literal.special.len() as u32).to_le_bytes());
    for prime in literal.primes() {
        hash.update(u128::from(prime).to_le_bytes());
    }
    let ring = first_half(hash.clone());
    match literal.scheme {
        Scheme::Bfv { t } => {
            hash.update(t.to_le_bytes());
            hash.update(0u32.to_le_bytes());
        }
        Scheme::Ckks { scale } => hash.update(scale.to_bits().to_le_bytes()),
    }
    (ring, first_half(hash))
}

fn first_half(hash: Sha256) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&hash.finalize()[..16]);
    half
}
