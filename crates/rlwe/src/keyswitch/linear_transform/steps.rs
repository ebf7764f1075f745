// SPDX-License-Identifier: Apache-2.0
//! The steps of a linear transform in the order of the work.

use super::{GiantStep, Rotation};
use zq::Word;

/// The steps of a transform in the order of the work.
pub(super) struct Steps<'a, W: Word> {
    /// Inner rotations of terms with factors, each once.
    pub babies: Vec<Rotation<'a, W>>,
    pub giants: &'a [GiantStep<'a, W>],
    /// For each giant step the number of its sum among those that are rotated.
    pub rotated: Vec<Option<usize>>,
}

impl<'a, W: Word> Steps<'a, W> {
    pub fn new(giants: &'a [GiantStep<'a, W>]) -> Self {
        let mut babies: Vec<Rotation<'a, W>> = Vec::new();
        let terms = giants.iter().flat_map(|giant| &giant.terms);
        for rotation in terms
            .filter(|t| t.factor.is_some())
            .filter_map(|t| t.rotation)
        {
            if index_of(&babies, rotation).is_none() {
                babies.push(rotation);
            }
        }
        let numbers = giants.iter().scan(0, |count, giant| {
            let number = giant.rotation.map(|_| *count);
            *count += usize::from(giant.rotation.is_some());
            Some(number)
        });
        Self {
            babies,
            giants,
            rotated: numbers.collect(),
        }
    }

    /// Rotations of sums, in order.
    pub fn rotations(&self) -> Vec<Rotation<'a, W>> {
        self.giants.iter().filter_map(|g| g.rotation).collect()
    }
}

pub(super) fn index_of<W: Word>(
    babies: &[Rotation<'_, W>],
    (auto, key): Rotation<'_, W>,
) -> Option<usize> {
    let same = |known: &Rotation<'_, W>| known.0.g() == auto.g() && std::ptr::eq(known.1, key);
    babies.iter().position(same)
}
