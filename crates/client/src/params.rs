// SPDX-License-Identifier: Apache-2.0
//! Parameter sets: checked for what this crate can do.
//! Whether a set is secure is judged where it is chosen, by the engine.

use crate::modulus::Modulus;
use crate::ntt::smallest_root;
use crate::stream::ETA;
use core::fmt;
use sha2::{Digest, Sha256};

/// Largest ring degree.
pub const MAX_N: usize = 8192;
/// Most primes of a set, special ones included.
pub const MAX_PRIMES: usize = 8;
/// Lengths of primes in bits.
const PRIME_BITS: core::ops::RangeInclusive<u32> = 32..=60;

/// Errors of the client; none reveals a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A set beyond this crate's limits, or that is none.
    Parameters(&'static str),
    /// Bytes of another parameter set.
    OtherParameters,
    /// Bytes of another secret key.
    OtherKey,
    /// Bytes that are no such object, or damaged.
    Bytes(&'static str),
    /// A message of another length, or with a coefficient out of range.
    Message(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(what) => write!(f, "parameters: {what}"),
            Self::OtherParameters => f.write_str("made for another parameter set"),
            Self::OtherKey => f.write_str("made for another secret key"),
            Self::Bytes(what) => write!(f, "bytes of an object: {what}"),
            Self::Message(what) => write!(f, "message: {what}"),
        }
    }
}

impl core::error::Error for Error {}

/// The scheme of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// BFV with the plaintext modulus t, below 2^31 and every prime.
    Bfv {
        /// t.
        t: u64,
    },
    /// CKKS with the scale of fresh ciphertexts.
    Ckks {
        /// Δ.
        scale: f64,
    },
}

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
    /// [`Error::Parameters`].
    pub fn new(
        n: usize,
        data: &[u64],
        special: &[u64],
        dnum: u32,
        scheme: Scheme,
    ) -> Result<Self, Error> {
        if !n.is_power_of_two() || !(16..=MAX_N).contains(&n) {
            return Err(Error::Parameters(
                "a degree that is no power of two from 16 to 8192",
            ));
        }
        if data.is_empty() || data.len() + special.len() > MAX_PRIMES {
            return Err(Error::Parameters("1 data prime or more, 8 primes at most"));
        }
        let mut primes = [Modulus::new(3); MAX_PRIMES];
        let mut roots = [0; MAX_PRIMES];
        for (i, value) in data.iter().enumerate() {
            if !PRIME_BITS.contains(&(64 - value.leading_zeros())) || value % 2 == 0 {
                return Err(Error::Parameters("a prime that is not of 32 to 60 bits"));
            }
            primes[i] = Modulus::new(*value);
            roots[i] = smallest_root(&primes[i], n)
                .ok_or(Error::Parameters("a prime that is not 1 modulo 2n"))?;
        }
        match scheme {
            Scheme::Bfv { t } if !(2..1 << 31).contains(&t) => {
                return Err(Error::Parameters(
                    "a plaintext modulus that is not from 2 to 2^31",
                ));
            }
            Scheme::Ckks { scale } if !(scale >= 1.0 && scale < (1u64 << 60) as f64) => {
                return Err(Error::Parameters("a scale that is not from 1 to 2^60"));
            }
            _ => {}
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
