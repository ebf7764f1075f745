// SPDX-License-Identifier: Apache-2.0
//! Sums of rotated ciphertexts times plaintexts as one operation: see [`crate::Evaluator::linear_transform`].

use crate::Error;
use crate::params::BfvParams;
use crate::plaintext::Plaintext;
use rlwe::ParameterSet;
use rlwe::wire::Fingerprint;
use rns::{Eval, RnsPoly};
use zeroize::Zeroizing;
use zq::Word;

/// `Σ_giants rot_{giant.rotation}( Σ_terms plaintext ⊙ rot_{term.rotation}(a) )`, rotations of both rows.
#[derive(Clone, Debug)]
pub struct LinearTransform<'a, W: Word> {
    /// The outer sum; at least one.
    pub giants: Vec<Giant<'a, W>>,
}

/// A rotation of a sum.
#[derive(Clone, Debug)]
pub struct Giant<'a, W: Word> {
    /// Steps to the left, 0 for none.
    pub rotation: i64,
    /// The inner sum; at least one.
    pub terms: Vec<Term<'a, W>>,
}

/// A rotation of the ciphertext, times a plaintext.
#[derive(Clone, Copy, Debug)]
pub struct Term<'a, W: Word> {
    /// Steps to the left, 0 for none.
    pub rotation: i64,
    /// `None` for the factor 1. All terms of a transform have plaintexts, or none has one.
    pub plaintext: Option<&'a ExtendedPlaintext<W>>,
}

/// A plaintext for products before the division by the special primes: its centred coefficients over the first data
/// primes and the special primes, transformed. Wiped when dropped; `Debug` shows no residues.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtendedPlaintext<W: Word> {
    poly: Zeroizing<RnsPoly<W, Eval>>,
    limbs: usize,
    params: Fingerprint,
}

impl<W: Word> ExtendedPlaintext<W> {
    /// Prepares a plaintext for ciphertexts over `limbs` data primes.
    ///
    /// # Errors
    /// [`rlwe::Error::ParameterMismatch`]; [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    #[inline(never)]
    pub fn new(params: &BfvParams<W>, plain: &Plaintext, limbs: usize) -> Result<Self, Error> {
        params.check_fingerprint("the plaintext", plain.fingerprint())?;
        let level = params.rlwe().level(limbs)?;
        let signed = Zeroizing::new(plain.signed());
        Ok(Self {
            poly: RnsPoly::from_i64(level.qp(), &signed)?.to_eval().into(),
            limbs,
            params: plain.fingerprint(),
        })
    }

    /// Data primes it is prepared for.
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// The polynomial over data and special primes.
    pub fn poly(&self) -> &RnsPoly<W, Eval> {
        &self.poly
    }

    /// Bytes of the residues in memory.
    pub fn memory(&self) -> usize {
        size_of_val(self.poly.data())
    }
}

impl<W: Word> LinearTransform<'_, W> {
    /// Fails unless giants, terms and plaintexts go together and with a ciphertext over `limbs` data primes.
    #[inline(never)]
    pub(crate) fn check(&self, params: &BfvParams<W>, limbs: usize) -> Result<(), Error> {
        let refuse = |giant, term, reason| {
            Err(Error::LinearTransform {
                giant,
                term,
                reason,
            })
        };
        let first = self.giants.first().and_then(|giant| giant.terms.first());
        let empty = self.giants.iter().position(|giant| giant.terms.is_empty());
        let (Some(first), None) = (first, empty) else {
            let reason = "is missing: every giant step needs one at least";
            return refuse(empty.unwrap_or(0), 0, reason.into());
        };
        for (g, giant) in self.giants.iter().enumerate() {
            for (t, Term { plaintext, .. }) in giant.terms.iter().enumerate() {
                if plaintext.is_some() != first.plaintext.is_some() {
                    let reason =
                        "differs from the first in having a plaintext: give all or none one";
                    return refuse(g, t, reason.into());
                }
                let Some(plaintext) = plaintext else { continue };
                params.check_fingerprint("the extended plaintext", plaintext.params)?;
                if plaintext.limbs != limbs {
                    let reason = format!(
                        "has a plaintext for {} data primes, the ciphertext has {limbs}: encode it for that many",
                        plaintext.limbs
                    );
                    return refuse(g, t, reason);
                }
            }
        }
        Ok(())
    }
}
