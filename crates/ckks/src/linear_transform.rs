// SPDX-License-Identifier: Apache-2.0
//! Sums of rotated ciphertexts times plain vectors as one operation: see [`crate::Evaluator::linear_transform`].

use crate::scale::same_scale;
use crate::{CkksParams, Error};
use rlwe::ParameterSet;
use rlwe::wire::Fingerprint;
use rns::{Eval, RnsPoly};
use zeroize::Zeroizing;

/// `Σ_giants rot_{giant.rotation}( Σ_terms plaintext ⊙ rot_{term.rotation}(a) )`.
#[derive(Clone, Debug)]
pub struct LinearTransform<'a> {
    /// The outer sum; at least one.
    pub giants: Vec<Giant<'a>>,
}

/// A rotation of a sum.
#[derive(Clone, Debug)]
pub struct Giant<'a> {
    /// Slots to the left, 0 for none.
    pub rotation: i64,
    /// The inner sum; at least one.
    pub terms: Vec<Term<'a>>,
}

/// A rotation of the ciphertext, times a plaintext.
#[derive(Clone, Copy, Debug)]
pub struct Term<'a> {
    /// Slots to the left, 0 for none.
    pub rotation: i64,
    /// `None` for the factor 1. All terms of a transform have plaintexts of one scale, or none has one.
    pub plaintext: Option<&'a ExtendedPlaintext>,
}

/// An encoded vector for products before the division by the special primes: over Q_l·P, in evaluation form. Wiped when
/// dropped; `Debug` shows no residues.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtendedPlaintext {
    pub(crate) poly: Zeroizing<RnsPoly<u64, Eval>>,
    pub(crate) level: usize,
    pub(crate) scale: f64,
    pub(crate) slots: usize,
    pub(crate) params: Fingerprint,
}

impl ExtendedPlaintext {
    /// The level l of the ciphertexts it is for.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Factor between the slots and the polynomial's values.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The polynomial over Q_l·P.
    pub fn poly(&self) -> &RnsPoly<u64, Eval> {
        &self.poly
    }

    /// Bytes of the residues in memory.
    pub fn memory(&self) -> usize {
        size_of_val(self.poly.data())
    }
}

impl<'a> LinearTransform<'a> {
    /// The terms with the numbers of their giant step and their own.
    fn terms(&self) -> impl Iterator<Item = (usize, usize, &Term<'a>)> {
        let giants = self.giants.iter().enumerate();
        giants.flat_map(|(g, giant)| {
            giant
                .terms
                .iter()
                .enumerate()
                .map(move |(t, term)| (g, t, term))
        })
    }

    /// The plaintexts' scale, 1 if there are none, after checking that giants, terms and plaintexts go together.
    pub(crate) fn check(&self, params: &CkksParams, level: usize) -> Result<f64, Error> {
        let refuse = |giant, term, reason| {
            Err(Error::LinearTransform {
                giant,
                term,
                reason,
            })
        };
        let empty = self.giants.iter().position(|giant| giant.terms.is_empty());
        let (Some((_, _, first)), None) = (self.terms().next(), empty) else {
            return refuse(
                empty.unwrap_or(0),
                0,
                "is missing: every giant step needs one at least".into(),
            );
        };
        let scale = first.plaintext.map_or(1.0, ExtendedPlaintext::scale);
        for (giant, term, Term { plaintext, .. }) in self.terms() {
            if plaintext.is_some() != first.plaintext.is_some() {
                return refuse(
                    giant,
                    term,
                    "differs from the first in having a plaintext: give all or none one".into(),
                );
            }
            let Some(plaintext) = plaintext else { continue };
            params.check_fingerprint("extended plaintext", plaintext.params)?;
            if plaintext.level != level {
                return refuse(
                    giant,
                    term,
                    format!(
                        "has a plaintext for level {}, the ciphertext is at level {level}: encode it for that",
                        plaintext.level
                    ),
                );
            }
            same_scale("linear_transform", plaintext.scale, scale, level)?;
        }
        Ok(scale)
    }

    /// The most slots that any plaintext has, 1 if there are none.
    pub(crate) fn slots(&self) -> usize {
        let plaintexts = self.terms().filter_map(|(_, _, term)| term.plaintext);
        plaintexts.map(|p| p.slots).max().unwrap_or(1)
    }
}
