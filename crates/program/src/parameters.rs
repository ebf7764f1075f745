// SPDX-License-Identifier: Apache-2.0
//! The parameter set of a program, of either scheme.

use crate::Error;
use bfv::BfvParams;
use ckks::CkksParams;
use rlwe::SecurityPolicy;
use rlwe::wire::{Fingerprint, HEADER_LEN, Tag, inspect};

/// A checked parameter set of BFV (one- or two-word primes) or CKKS.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameters {
    /// BFV over primes below 2^62.
    Bfv(BfvParams<u64>),
    /// BFV over primes below 2^126.
    BfvWide(BfvParams<u128>),
    /// CKKS.
    Ckks(CkksParams),
}

impl Parameters {
    /// `"bfv"` or `"ckks"`.
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Bfv(_) | Self::BfvWide(_) => "bfv",
            Self::Ckks(_) => "ckks",
        }
    }

    /// Ring degree.
    pub fn n(&self) -> usize {
        match self {
            Self::Bfv(p) => p.n(),
            Self::BfvWide(p) => p.n(),
            Self::Ckks(p) => p.n(),
        }
    }

    /// Values in a ciphertext: n in BFV, n/2 in CKKS. Slot s is number s mod `row_width` of row ⌊s / `row_width`⌋;
    /// where the set has none ([`Parameters::has_slots`]) it is the coefficient of X^s.
    pub fn slots(&self) -> usize {
        self.rows() * self.row_width()
    }

    /// Whether messages are slots, multiplied one by one. In BFV that takes a plaintext modulus t with a 2n-th root of
    /// unity; under any other a message is a polynomial modulo (X^n + 1, t).
    pub fn has_slots(&self) -> bool {
        match self {
            Self::Bfv(p) => p.batching().is_some(),
            Self::BfvWide(p) => p.batching().is_some(),
            Self::Ckks(_) => true,
        }
    }

    /// Rows of slots, which rotations turn alike: 2 in BFV, 1 in CKKS.
    pub fn rows(&self) -> usize {
        match self {
            Self::Bfv(_) | Self::BfvWide(_) => 2,
            Self::Ckks(_) => 1,
        }
    }

    /// Slots of a row, and the length of a rotation's cycle: n/2.
    pub fn row_width(&self) -> usize {
        self.n() / 2
    }

    /// The data primes, first prime first.
    pub fn primes(&self) -> Vec<u128> {
        match self {
            Self::Bfv(p) => p.rlwe().q().values().iter().map(|&q| q.into()).collect(),
            Self::BfvWide(p) => p.rlwe().q().values(),
            Self::Ckks(p) => p.rlwe().q().values().iter().map(|&q| q.into()).collect(),
        }
    }

    /// Number of special primes.
    pub fn special_primes(&self) -> usize {
        match self {
            Self::Bfv(p) => p.rlwe().special_primes(),
            Self::BfvWide(p) => p.rlwe().special_primes(),
            Self::Ckks(p) => p.rlwe().special_primes(),
        }
    }

    /// The plaintext modulus of BFV.
    pub fn plain_modulus(&self) -> Option<u64> {
        match self {
            Self::Bfv(p) => Some(p.plain_modulus()),
            Self::BfvWide(p) => Some(p.plain_modulus()),
            Self::Ckks(_) => None,
        }
    }

    /// The scale of a fresh ciphertext: the set's own in CKKS, 1 in BFV.
    pub fn scale(&self) -> f64 {
        match self {
            Self::Ckks(p) => p.scale(),
            _ => 1.0,
        }
    }

    /// Identity of the set.
    pub fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Bfv(p) => p.fingerprint(),
            Self::BfvWide(p) => p.fingerprint(),
            Self::Ckks(p) => p.fingerprint(),
        }
    }

    /// The set as an object of the byte format.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Bfv(p) => p.to_bytes(),
            Self::BfvWide(p) => p.to_bytes(),
            Self::Ckks(p) => p.to_bytes(),
        }
    }

    /// Reads [`Parameters::to_bytes`] by the reader's own security policy.
    ///
    /// # Errors
    /// [`Error::Wire`], [`Error::Parameters`].
    pub fn from_bytes(bytes: &[u8], policy: SecurityPolicy) -> Result<Self, Error> {
        let refused = |e: &dyn std::fmt::Display| Error::Parameters(e.to_string());
        let wide = bytes.get(HEADER_LEN) == Some(&128);
        match inspect(bytes)?.tag {
            Tag::CkksParams => CkksParams::from_bytes(bytes, policy)
                .map(Self::Ckks)
                .map_err(|e| refused(&e)),
            Tag::BfvParams if wide => BfvParams::from_bytes(bytes, policy)
                .map(Self::BfvWide)
                .map_err(|e| refused(&e)),
            Tag::BfvParams => BfvParams::from_bytes(bytes, policy)
                .map(Self::Bfv)
                .map_err(|e| refused(&e)),
            other => Err(Error::Parameters(format!("{other:?} is no scheme's set"))),
        }
    }
}
