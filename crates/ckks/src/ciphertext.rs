// SPDX-License-Identifier: Apache-2.0
//! Ciphertexts.

use crate::{CkksParams, Error};
use rlwe::wire::Fingerprint;
use rlwe::{KeyId, Seed};
use rns::{Eval, RnsPoly};

/// An encrypted vector: two or three polynomials in evaluation form whose value at (1, s, s²) is the plaintext.
#[derive(Clone, Debug)]
pub struct Ciphertext {
    pub(crate) parts: Vec<RnsPoly<u64, Eval>>,
    pub(crate) scale: f64,
    pub(crate) slots: usize,
    pub(crate) params: Fingerprint,
    /// Whose secret decrypts it.
    pub(crate) key: KeyId,
    /// Set while part 1 is still the expansion of this public seed (a fresh secret-key encryption).
    pub(crate) seed: Option<Seed>,
}

impl Ciphertext {
    /// Rescales left: limbs minus 1.
    pub fn level(&self) -> usize {
        self.parts[0].limb_count() - 1
    }

    /// Factor between the slots and the encrypted polynomial's values.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Number of polynomials: 2, or 3 for a product that was not relinearised.
    pub fn size(&self) -> usize {
        self.parts.len()
    }

    /// The polynomials.
    pub fn parts(&self) -> &[RnsPoly<u64, Eval>] {
        &self.parts
    }

    /// The key set whose secret decrypts it.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Whether one component is stored as a seed when serialized.
    pub fn is_seeded(&self) -> bool {
        self.seed.is_some()
    }

    /// A ciphertext from its polynomials, such as one that a co-processor computed.
    ///
    /// # Errors
    /// [`Error::Size`] unless there are 2 or 3 parts, [`Error::Rlwe`] when they are not over one level's basis,
    /// [`Error::Slots`], [`Error::Scale`].
    pub fn from_parts(
        params: &CkksParams,
        parts: Vec<RnsPoly<u64, Eval>>,
        scale: f64,
        slots: usize,
        key: KeyId,
    ) -> Result<Self, Error> {
        if !(2..=3).contains(&parts.len()) {
            return Err(Error::Size {
                operation: "from parts",
                given: parts.len(),
                needed: "2 or 3",
                remedy: "",
            });
        }
        let limbs = parts[0].limb_count();
        let basis = params.rlwe().q_prefix(limbs)?;
        if let Some(part) = parts.iter().find(|p| p.basis() != &basis) {
            let mismatch = rlwe::Error::Shape {
                what: "primes of a part",
                got: part.limb_count(),
                expected: limbs,
            };
            return Err(mismatch.into());
        }
        check_meta(params, slots, scale)?;
        Ok(Self {
            parts,
            scale,
            slots,
            params: params.fingerprint(),
            key,
            seed: None,
        })
    }

    /// The same ciphertext with other polynomials.
    pub(crate) fn with_parts(&self, parts: Vec<RnsPoly<u64, Eval>>) -> Self {
        Self {
            parts,
            scale: self.scale,
            slots: self.slots,
            params: self.params,
            key: self.key,
            seed: None,
        }
    }
}

/// Refuses slot counts and scales that no operation produces.
pub(crate) fn check_meta(params: &CkksParams, slots: usize, scale: f64) -> Result<(), Error> {
    if !slots.is_power_of_two() || slots > params.slots() {
        return Err(Error::Slots {
            given: slots,
            max: params.slots(),
        });
    }
    if !(scale.is_finite() && scale >= 1.0) {
        return Err(Error::Scale {
            operation: "scale of an object",
            scale,
        });
    }
    Ok(())
}
