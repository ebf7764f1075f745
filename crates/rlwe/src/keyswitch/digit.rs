// SPDX-License-Identifier: Apache-2.0
//! A digit of a polynomial, and the tables that lift it to the primes it lacks.

use crate::Error;
use rns::{BaseConverter, Coeff, RnsBasis, RnsPoly, Scratch};
use std::ops::Range;
use zq::{AlignedVec, Word};

/// From the residues of one digit to all other primes of Q·P.
pub(crate) struct DigitLift<W: Word> {
    /// The digit's limbs.
    pub(crate) own: Range<usize>,
    /// To the limbs before the digit, those after it and the special ones; `None` when there is no other limb.
    pub(crate) converter: Option<BaseConverter<W>>,
}

impl<W: Word> DigitLift<W> {
    pub(super) fn new(q: &RnsBasis<W>, qp: &RnsBasis<W>, own: Range<usize>) -> Result<Self, Error> {
        let others = qp
            .plans()
            .iter()
            .enumerate()
            .filter(|(i, _)| !own.contains(i));
        let others: Vec<_> = others.map(|(_, plan)| plan.clone()).collect();
        if others.is_empty() {
            return Ok(Self {
                own,
                converter: None,
            });
        }
        let from = q.range(own.clone())?;
        Ok(Self {
            own,
            converter: Some(BaseConverter::mixed_radix(
                &from,
                &RnsBasis::from_plans(others)?,
            )),
        })
    }

    /// The centred representative over Q·P of the digit of `c`.
    pub(super) fn lift(
        &self,
        c: &RnsPoly<W, Coeff>,
        qp: &RnsBasis<W>,
        scratch: &mut Scratch<W>,
    ) -> RnsPoly<W, Coeff> {
        let (start, end) = (self.own.start * c.n(), self.own.end * c.n());
        let digit = &c.data()[start..end];
        let mut data = AlignedVec::for_overwrite(qp.len() * c.n());
        if let Some(converter) = &self.converter {
            // The converted limbs are adjacent; put them behind the digit, then move those that belong before it.
            let len = digit.len();
            converter.convert_into(digit, &mut data[len..], scratch);
            data.copy_within(len..len + start, 0);
        }
        data[start..end].copy_from_slice(digit);
        RnsPoly::from_data(qp, data)
    }
}
