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

    /// Number of sums that are rotated.
    pub fn sums(&self) -> usize {
        self.rotated.iter().flatten().count()
    }

    /// The sums that are rotated, in rounds: all that are added to a sum come in rounds before its own.
    pub fn rounds(&self) -> Vec<Vec<RotatedSum<'a, W>>> {
        let (mut rounds, mut at) = (Vec::new(), vec![0; self.giants.len()]);
        for (i, giant) in self.giants.iter().enumerate() {
            let round = at[i];
            if let Some(onto) = giant.onto {
                at[onto] = at[onto].max(round + 1);
            }
            let (Some(number), Some(rotation)) = (self.rotated[i], giant.rotation) else {
                continue;
            };
            if rounds.len() <= round {
                rounds.resize_with(round + 1, Vec::new);
            }
            rounds[round].push(RotatedSum {
                number,
                rotation,
                onto: giant.onto.and_then(|onto| self.rotated[onto]),
            });
        }
        rounds
    }
}

/// A sum that is rotated.
pub(super) struct RotatedSum<'a, W: Word> {
    /// Its number among those that are rotated.
    pub number: usize,
    pub rotation: Rotation<'a, W>,
    /// The number of the sum it is added to; none for the sum of all.
    pub onto: Option<usize>,
}

pub(super) fn index_of<W: Word>(
    babies: &[Rotation<'_, W>],
    (auto, key): Rotation<'_, W>,
) -> Option<usize> {
    let same = |known: &Rotation<'_, W>| known.0.g() == auto.g() && std::ptr::eq(known.1, key);
    babies.iter().position(same)
}
