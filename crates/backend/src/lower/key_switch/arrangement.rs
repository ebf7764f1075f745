// SPDX-License-Identifier: Apache-2.0
//! The choice of an arrangement.

use crate::Error;
use crate::lower::chain::Chain;
use crate::lower::shape::Shape;
use ::polynomial::{Form, Graph};
use zq::Word;

/// How digits and both halves of a key share the lanes of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Arrangement {
    /// Digits are made by the host and transformed at once; one half after the other.
    HalfByHalf,
    /// The same over wide primes, where they are fewer.
    OverWidePrimes,
    /// One digit after another, each multiplied by both halves.
    DigitByDigit(DigitByDigit),
    /// Lanes hold all primes, special ones too: the halves are divided together.
    DividedTogether,
    /// The same, and the special primes of both halves stand together in a section of their own.
    SpecialTogether(SpecialTogether),
    /// Lanes hold all primes twice: the halves are computed at once.
    Mirrored,
}

/// See [`super::digit_by_digit`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::lower) struct DigitByDigit {
    /// Whether each limb that is decomposed is transformed by itself: HEAX's order.
    pub(super) is_major: bool,
}

/// See [`super::special_together`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lower) struct SpecialTogether {
    /// The special primes of the first half, then of the second, under numbers of their own.
    pub(super) special: Vec<u16>,
}

impl Arrangement {
    /// The arrangement of an engine; `form` is that of ciphertexts between steps.
    ///
    /// Where moves convert the bases the special primes stand beside the data primes, so that one instruction works on
    /// all.
    pub(in crate::lower) fn of<W: Word>(
        graph: &mut Graph<W>,
        chain: &Chain<W>,
        shape: Shape,
        form: Form,
    ) -> Result<Self, Error> {
        if shape.wide_bits.is_some() {
            return Ok(Self::OverWidePrimes);
        }
        if !shape.moves {
            return Ok(match shape.converts {
                true => Self::DigitByDigit(DigitByDigit::default()),
                false => Self::HalfByHalf,
            });
        }
        let in_turn = Self::DigitByDigit(DigitByDigit {
            is_major: shape.digit_major,
        });
        let Some(p) = &chain.p else {
            return Ok(in_turn);
        };
        let all = graph.basis(&chain.q.concat(p)?);
        let special = &all[chain.q.len()..];
        Ok(if shape.digit_major || all.len() > shape.lanes {
            in_turn
        } else if 2 * all.len() <= shape.lanes {
            Self::Mirrored
        } else if form == Form::Coefficients {
            // All limbs of each sum are transformed before the division.
            in_turn
        } else if 2 * special.len() <= shape.lanes && shape.tables > 1 {
            let special = graph.repeated(&special.repeat(2));
            Self::SpecialTogether(SpecialTogether { special })
        } else {
            Self::DividedTogether
        })
    }

    /// Where each half has to be there by itself before it is divided: digit by digit, or (`None`) half by half.
    pub(super) fn by_digits(&self) -> Option<DigitByDigit> {
        match self {
            Self::HalfByHalf | Self::OverWidePrimes => None,
            Self::DigitByDigit(switch) => Some(*switch),
            Self::DividedTogether | Self::SpecialTogether(_) | Self::Mirrored => {
                Some(DigitByDigit::default())
            }
        }
    }
}
