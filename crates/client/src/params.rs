// SPDX-License-Identifier: Apache-2.0
//! Parameter sets: checked for what this crate can do, by the rules of `rules`.

use crate::error::Error;
use crate::modulus::Modulus;
use crate::ntt::smallest_root;
use crate::rules::{self, MAX_PRIMES, Scheme};
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
    /// A set of degree `n` with data primes `data`, special primes `special` and `dnum` digits: those of the engine's
    /// set, since what is encrypted names it.
    ///
    /// # Errors
    /// [`Error::Parameters`]; [`Error::Insecure`] below 128 bits of security.
    pub fn new(
        n: usize,
        data: &[u64],
        special: &[u64],
        dnum: u32,
        scheme: Scheme,
    ) -> Result<Self, Error> {
        let params = Self::insecure(n, data, special, dnum, scheme)?;
        match rules::secure(n, data.iter().chain(special).copied()) {
            true => Ok(params),
            false => Err(Error::Insecure),
        }
    }

    /// The same, of any security: for tests and for sets that were judged elsewhere.
    ///
    /// # Errors
    /// [`Error::Parameters`].
    pub fn insecure(
        n: usize,
        data: &[u64],
        special: &[u64],
        dnum: u32,
        scheme: Scheme,
    ) -> Result<Self, Error> {
        rules::shape(n, data, special, dnum)?;
        rules::primes(data.iter().chain(special).copied())?;
        rules::scheme(scheme, data)?;
        let (mut primes, mut roots) = ([Modulus::new(3); MAX_PRIMES], [0; MAX_PRIMES]);
        let broken =
            Error::Parameters("data and special primes have to be primes that are 1 modulo 2n");
        for (i, value) in data.iter().enumerate() {
            primes[i] = rules::prime(*value, n).ok_or(broken)?;
            roots[i] = smallest_root(&primes[i], n).ok_or(broken)?;
        }
        for value in special {
            rules::prime(*value, n).ok_or(broken)?;
        }
        let mut hash = Sha256::new();
        hash.update([64, n.trailing_zeros() as u8, 0]);
        hash.update(0u64.to_le_bytes());
        hash.update([2]);
        hash.update(u64::from(ETA).to_le_bytes());
        hash.update(dnum.to_le_bytes());
        hash.update((data.len() as u32).to_le_bytes());
        hash.update((special.len() as u32).to_le_bytes());
        for prime in data.iter().chain(special) {
            hash.update(u128::from(*prime).to_le_bytes());
        }
        let ring = first_half(hash.clone());
        match scheme {
            Scheme::Bfv { t } => {
                hash.update(t.to_le_bytes());
                hash.update(0u32.to_le_bytes());
            }
            Scheme::Ckks { scale } => hash.update(scale.to_bits().to_le_bytes()),
        }
        let set = first_half(hash);
        Ok(Self {
            n,
            scheme,
            primes,
            roots,
            limbs: data.len(),
            ring,
            set,
        })
    }

    /// The data primes.
    pub(crate) fn data(&self) -> &[Modulus] {
        &self.primes[..self.limbs]
    }
}

fn first_half(hash: Sha256) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&hash.finalize()[..16]);
    half
}
