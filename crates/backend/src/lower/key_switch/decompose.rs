// SPDX-License-Identifier: Apache-2.0
//! Decompose: a polynomial over the data primes cut into digits, which are runs of its limbs.

use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;
use ::polynomial::{Form, Limb};
use std::ops::Range;

/// A polynomial that is decomposed.
pub(super) struct Decomposition {
    /// Its limbs, coefficients, over the data primes.
    pub(super) limbs: Vec<Limb>,
    /// The data primes, then the special primes.
    pub(super) moduli: Vec<u16>,
    /// Data primes of a digit; the last one may have fewer.
    pub(super) digit_len: usize,
}

impl Decomposition {
    /// The limbs of each digit.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (count, len) = (self.limbs.len(), self.digit_len);
        (0..count)
            .step_by(len)
            .map(move |start| start..count.min(start + len))
    }

    /// The limbs of a digit.
    pub(super) fn digit(&self, run: &Range<usize>) -> Vec<Limb> {
        self.limbs[run.clone()].to_vec()
    }

    /// The digits after mod-up.
    pub(super) fn digits(self, parts: Vec<Part>) -> Digits {
        Digits {
            parts,
            limbs: self.limbs.len(),
            moduli: self.moduli,
            wide: 0,
        }
    }
}

/// The digits of a polynomial after mod-up.
pub(in crate::lower) struct Digits {
    /// Each over all primes, once or several times side by side.
    pub(super) parts: Vec<Part>,
    /// Data primes of the polynomial.
    pub(super) limbs: usize,
    /// The primes of a key's half: the data primes, then the special primes; or wide primes.
    pub(super) moduli: Vec<u16>,
    /// How many wide primes, or 0.
    pub(super) wide: usize,
}

impl<S: Lower> Lowering<'_, S> {
    /// A part in digits.
    pub(super) fn decompose(&mut self, part: &Part) -> Result<Decomposition, Error> {
        let limbs = self.in_form(part, Form::Coefficients).limbs;
        self.decomposition(limbs)
    }

    /// The same, each limb transformed by itself.
    pub(super) fn decompose_by_limb(&mut self, part: &Part) -> Result<Decomposition, Error> {
        let form = part.form;
        let each = part.limbs.iter().flat_map(|limb| {
            let limbs = vec![*limb];
            self.in_form(&Part { form, limbs }, Form::Coefficients)
                .limbs
        });
        let limbs = each.collect();
        self.decomposition(limbs)
    }

    fn decomposition(&mut self, limbs: Vec<Limb>) -> Result<Decomposition, Error> {
        let mut moduli = self.moduli(limbs.len())?;
        moduli.extend(self.special());
        Ok(Decomposition {
            limbs,
            moduli,
            digit_len: self.scheme.chain().digit_len,
        })
    }

    /// The special primes.
    pub(in crate::lower) fn special(&mut self) -> Vec<u16> {
        match self.scheme.chain().p {
            Some(p) => self.graph.basis(&p),
            None => Vec::new(),
        }
    }
}
