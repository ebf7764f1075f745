// SPDX-License-Identifier: Apache-2.0
//! Encoded vectors.

use rlwe::wire::Fingerprint;
use rns::{Eval, RnsPoly};
use zeroize::Zeroizing;

/// An encoded vector: a polynomial in evaluation form, its scale and its number of slots. Wiped when dropped; `Debug`
/// shows no residues.
#[derive(Clone, Debug, PartialEq)]
pub struct Plaintext {
    pub(crate) poly: Zeroizing<RnsPoly<u64, Eval>>,
    pub(crate) scale: f64,
    pub(crate) slots: usize,
    pub(crate) params: Fingerprint,
}

impl Plaintext {
    /// Rescales left: limbs minus 1.
    pub fn level(&self) -> usize {
        self.poly.limb_count() - 1
    }

    /// Factor between the slots and the polynomial's values.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The polynomial.
    pub fn poly(&self) -> &RnsPoly<u64, Eval> {
        &self.poly
    }
}
