// SPDX-License-Identifier: Apache-2.0
//! Ciphertexts.

use crate::Error;
use crate::params::BfvParams;
use rlwe::wire::Fingerprint;
use rlwe::{KeyId, Seed};
use rns::{Coeff, RnsPoly};
use zq::Word;

/// Most parts a ciphertext may have.
pub(crate) const MAX_PARTS: u32 = 16;

/// A ciphertext (c_0, c_1, …): polynomials over the first data primes, in coefficient form.
#[derive(Clone, Debug, PartialEq)]
pub struct Ciphertext<W: Word> {
    pub(crate) params: Fingerprint,
    pub(crate) key: KeyId,
    pub(crate) parts: Vec<RnsPoly<W, Coeff>>,
    /// Grows c_1 of a fresh encryption under the secret key.
    pub(crate) seed: Option<Seed>,
}

impl<W: Word> Ciphertext<W> {
    pub(crate) fn new(params: Fingerprint, key: KeyId, parts: Vec<RnsPoly<W, Coeff>>) -> Self {
        Self {
            params,
            key,
            parts,
            seed: None,
        }
    }

    /// Assembles a ciphertext from parts computed elsewhere.
    ///
    /// # Errors
    /// [`Error::Size`] for fewer than 2 or too many parts, [`rlwe::Error::Shape`] for parts over different bases.
    #[inline(never)]
    pub fn from_parts(
        params: &BfvParams<W>,
        key: KeyId,
        parts: Vec<RnsPoly<W, Coeff>>,
    ) -> Result<Self, Error> {
        if !(2..=MAX_PARTS as usize).contains(&parts.len()) {
            return Err(Error::Size {
                operation: "assembling",
                got: parts.len(),
                expected: "2 to 16",
                hint: "",
            });
        }
        let basis = params.rlwe().q_prefix(parts[0].limb_count())?;
        if let Some(part) = parts.iter().find(|p| p.basis() != &basis) {
            let (got, expected) = (part.limb_count(), basis.len());
            return Err(rlwe::Error::Shape {
                what: "primes of a part",
                got,
                expected,
            }
            .into());
        }
        Ok(Self::new(params.fingerprint(), key, parts))
    }

    /// The polynomials c_0, c_1, ….
    pub fn parts(&self) -> &[RnsPoly<W, Coeff>] {
        &self.parts
    }

    /// Number of polynomials: 2, or 3 after a multiplication.
    pub fn size(&self) -> usize {
        self.parts.len()
    }

    /// Data primes left.
    pub fn limbs(&self) -> usize {
        self.parts[0].limb_count()
    }

    /// The key set it is encrypted under.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Whether one component is stored as a seed when serialized.
    pub fn is_seeded(&self) -> bool {
        self.seed.is_some()
    }

    /// The parameter set's identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.params
    }

    /// Bytes of the residues in memory.
    pub fn memory(&self) -> usize {
        self.parts
            .iter()
            .map(|p| p.data().len() * (W::BITS as usize / 8))
            .sum()
    }
}
