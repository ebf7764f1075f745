// SPDX-License-Identifier: Apache-2.0
//! How a product with a matrix is split into baby and giant steps.
//!
//! Diagonal k = giant + baby. Baby steps rotate the ciphertext and share one decomposition; giant steps rotate sums of
//! products. All giant steps are multiples of one rotation and its inverse, and are added up by Horner's rule, from the
//! outermost inwards: each costs one key switch as before, and all of a sign need one key.

use std::collections::{BTreeMap, BTreeSet};

/// Baby steps that a giant one is worth: each decomposes and divides by the special primes once more, where baby steps
/// share one decomposition; both read a key, or grow it.
const GIANT_COST: usize = 2;

/// The split of a product with one matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    /// The rotation between neighbouring giant steps.
    stride: i64,
    /// For each giant step, by the multiple of the stride, its baby steps; one without rotation among them.
    giants: BTreeMap<i64, Vec<i64>>,
}

/// A giant step as it is performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Giant {
    /// The rotation of all its diagonals: that of this step and of those it is added to.
    pub whole: i64,
    /// The rotation of its sum, 0 for none.
    pub rotation: i64,
    /// The number of the later step that the rotated sum is added to; none for the sum of all.
    pub onto: Option<usize>,
    /// Baby steps.
    pub babies: Vec<i64>,
}

impl Steps {
    /// The splits that no other beats in both cost and keys, the cheapest first; of `diagonals` modulo `slots`.
    pub fn candidates(diagonals: &BTreeSet<usize>, slots: usize) -> Vec<Self> {
        let numbers = || diagonals.iter().map(|k| *k as i64);
        let half = slots as i64 / 2;
        // Centred, the diagonals of an inner factor are the multiples of its lowest span from −d to d.
        let centred = numbers().map(|k| if k > half { k - slots as i64 } else { k });
        let (plain, centred): (BTreeSet<i64>, BTreeSet<i64>) =
            (numbers().collect(), centred.collect());
        let most = diagonals.len().next_power_of_two() as i64;
        let splits =
            (1..=most).flat_map(|babies| [Self::new(&centred, babies), Self::new(&plain, babies)]);
        let mut splits: Vec<Self> = splits.flatten().collect();
        splits.sort_by_key(|steps| (steps.cost(), steps.keys()));
        let mut fewest = usize::MAX;
        splits.retain(|steps| {
            let better = steps.keys() < fewest;
            fewest = fewest.min(steps.keys());
            better
        });
        splits
    }

    /// `babies` multiples of the lowest span for each giant step; none where a step between two others would be empty.
    fn new(diagonals: &BTreeSet<i64>, babies: i64) -> Option<Self> {
        let spans = diagonals.iter().filter(|k| **k != 0);
        let span = spans.map(|k| k.abs()).min().unwrap_or(1);
        let stride = babies * span;
        let mut giants: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for k in diagonals {
            let babies = giants.entry(k.div_euclid(stride)).or_default();
            babies.push(k.rem_euclid(stride));
        }
        let (first, last) = (*giants.keys().next()?, *giants.keys().next_back()?);
        let whole = first <= 0 && last >= 0 && giants.len() as i64 == last - first + 1;
        whole.then_some(Self { stride, giants })
    }

    fn babies(&self) -> BTreeSet<i64> {
        let all = self.giants.values().flatten().copied();
        all.filter(|baby| *baby != 0).collect()
    }

    /// Number of diagonals.
    pub fn diagonals(&self) -> usize {
        self.giants.values().map(Vec::len).sum()
    }

    /// Key switches that decompose anew.
    pub fn giant_switches(&self) -> usize {
        self.giants.len() - 1
    }

    /// Key switches in all.
    pub fn switches(&self) -> usize {
        self.babies().len() + self.giant_switches()
    }

    /// In baby steps.
    pub fn cost(&self) -> usize {
        self.babies().len() + GIANT_COST * self.giant_switches()
    }

    /// Number of rotation keys.
    pub fn keys(&self) -> usize {
        self.rotations().len()
    }

    /// The rotations that are performed, 0 not among them.
    pub fn rotations(&self) -> BTreeSet<i64> {
        let signs = self.giants.keys().map(|giant| giant.signum() * self.stride);
        let mut all = self.babies();
        all.extend(signs.filter(|rotation| *rotation != 0));
        all
    }

    /// The giant steps in the order they are performed: from both ends inwards.
    pub fn giants(&self) -> Vec<Giant> {
        let mut order: Vec<i64> = self.giants.keys().copied().collect();
        order.sort_by_key(|giant| (-giant.abs(), *giant));
        let number = |wanted: i64| order.iter().position(|giant| *giant == wanted);
        let step = |giant: &i64| Giant {
            whole: giant * self.stride,
            rotation: giant.signum() * self.stride,
            onto: match giant.abs() {
                0 | 1 => None,
                _ => number(giant - giant.signum()),
            },
            babies: self.giants[giant].clone(),
        };
        order.iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::dft::{Direction, diagonal_numbers};

    /// Every diagonal is performed once: baby and all rotations that its sum passes through.
    fn performed(steps: &Steps) -> Vec<i64> {
        let giants = steps.giants();
        let passed = |mut at: usize| {
            let mut sum = giants[at].rotation;
            while let Some(next) = giants[at].onto {
                assert!(next > at);
                (at, sum) = (next, sum + giants[next].rotation);
            }
            sum
        };
        let all = giants.iter().enumerate().flat_map(|(i, giant)| {
            assert_eq!(passed(i), giant.whole);
            giant.babies.iter().map(move |baby| giant.whole + baby)
        });
        all.collect()
    }

    #[test]
    fn steps_add_up_to_the_diagonals_with_fewer_keys_than_switches() {
        let slots = 1 << 10;
        for direction in [Direction::CoeffsToSlots, Direction::SlotsToCoeffs] {
            for diagonals in diagonal_numbers(direction, slots, &[4, 3, 3]) {
                let candidates = Steps::candidates(&diagonals, slots);
                for steps in &candidates {
                    let mut sums: Vec<usize> = performed(steps)
                        .iter()
                        .map(|k| k.rem_euclid(slots as i64) as usize)
                        .collect();
                    sums.sort_unstable();
                    assert!(sums.iter().eq(&diagonals), "{steps:?}");
                    assert!(steps.keys() <= steps.switches());
                }
                let pairs: Vec<_> = candidates.iter().map(|s| (s.cost(), s.keys())).collect();
                assert!(
                    pairs.is_sorted_by(|a, b| a.0 < b.0 && a.1 > b.1),
                    "{pairs:?}"
                );
            }
        }
    }

    #[test]
    fn one_key_serves_all_giant_steps_of_a_sign() {
        let diagonals: BTreeSet<usize> = (0..32).chain(1024 - 31..1024).collect();
        let of = |steps: &Steps| (steps.cost(), steps.switches(), steps.keys());
        let candidates = Steps::candidates(&diagonals, 1024);
        // 63 diagonals: 11 baby steps for each of 6 giant ones; separate giant steps would take 15 keys.
        assert_eq!(of(&candidates[0]), (20, 15, 12));
        assert_eq!(candidates.last().map(Steps::keys), Some(2));
        // Diagonals all around need one sign only.
        let around: BTreeSet<usize> = (0..16).map(|k| 64 * k).collect();
        let candidates = Steps::candidates(&around, 1024);
        assert!(
            candidates
                .iter()
                .any(|s| (s.keys(), s.switches()) == (4, 6))
        );
    }
}
