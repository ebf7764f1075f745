// SPDX-License-Identifier: Apache-2.0
//! Matrices by their diagonals, and how a product with one is split into baby and giant steps.

use crate::linear_transform::{ExtendedPlaintext, Giant, LinearTransform, Term};
use crate::noise::{Estimate, Estimator};
use crate::{Encoder, Error};
use num_complex::Complex64;
use rlwe::noise::GiantFacts;
use std::collections::{BTreeMap, BTreeSet};

/// A square matrix of complex numbers: `(M·v)[j] = Σ_k diagonal_k[j] · v[j + k]`, indices modulo the slots.
#[derive(Clone, Debug)]
pub struct Diagonals {
    slots: usize,
    diagonals: BTreeMap<usize, Vec<Complex64>>,
}

impl Diagonals {
    pub(super) fn new(slots: usize, diagonals: BTreeMap<usize, Vec<Complex64>>) -> Self {
        Self { slots, diagonals }
    }

    /// Number of diagonals that are not 0.
    pub fn count(&self) -> usize {
        self.diagonals.len()
    }

    /// `self · first`.
    #[must_use]
    pub fn after(&self, first: &Self) -> Self {
        let n = self.slots;
        let mut product: BTreeMap<usize, Vec<Complex64>> = BTreeMap::new();
        for (&i, a) in &self.diagonals {
            for (&k, b) in &first.diagonals {
                let sum = product.entry((i + k) % n);
                let sum = sum.or_insert_with(|| vec![Complex64::ZERO; n]);
                for (j, (s, a)) in sum.iter_mut().zip(a).enumerate() {
                    *s += a * b[(j + i) % n];
                }
            }
        }
        product.retain(|_, d| d.iter().any(|x| *x != Complex64::ZERO));
        Self::new(n, product)
    }

    /// The product with a vector of as many values as there are slots.
    pub fn apply(&self, v: &[Complex64]) -> Vec<Complex64> {
        let row = |j: usize| {
            let terms = self.diagonals.iter();
            terms.map(|(k, d)| d[j] * v[(j + k) % self.slots]).sum()
        };
        (0..self.slots).map(row).collect()
    }

    /// How to multiply with the fewest steps, weighted by [`GIANT_COST`]: diagonal k = giant + baby.
    fn steps(&self) -> Steps {
        let half = self.slots / 2;
        // Centred, so that the diagonals of a factor are the multiples of its lowest span from −d to d.
        let centred = |k: &usize| {
            if *k > half {
                *k as i64 - self.slots as i64
            } else {
                *k as i64
            }
        };
        let all: BTreeSet<i64> = self.diagonals.keys().map(centred).collect();
        let span = all
            .iter()
            .filter(|k| **k != 0)
            .map(|k| k.unsigned_abs())
            .min()
            .unwrap_or(1) as i64;
        let split = |babies: i64| {
            Steps(
                all.iter()
                    .map(|k| {
                        let giant = k.div_euclid(babies * span) * babies * span;
                        (giant, k - giant)
                    })
                    .collect(),
            )
        };
        let candidates =
            (0..=all.len().next_power_of_two().trailing_zeros() + 1).map(|log| split(1 << log));
        candidates
            .min_by_key(Steps::cost)
            .expect("one candidate at least")
    }

    /// The rotations that [`Diagonals::encode`]'s transform performs, 0 not among them.
    pub fn rotations(&self) -> BTreeSet<i64> {
        let steps = self.steps();
        let all = steps.0.iter().flat_map(|(giant, baby)| [*giant, *baby]);
        all.filter(|k| *k != 0).collect()
    }

    /// The matrix encoded for ciphertexts of `level`; the product's scale is `scale` times theirs.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`].
    pub fn encode(
        &self,
        encoder: &Encoder,
        estimator: &Estimator,
        level: usize,
        scale: f64,
    ) -> Result<EncodedMatrix, Error> {
        let n = self.slots as i64;
        let mut giants: BTreeMap<i64, EncodedGiant> = BTreeMap::new();
        for (giant, baby) in self.steps().0 {
            let diagonal = &self.diagonals[&((giant + baby).rem_euclid(n) as usize)];
            // Multiplied before the giant rotation, hence turned back by it.
            let turned = (0..n).map(|j| diagonal[(j - giant).rem_euclid(n) as usize]);
            let values: Vec<Complex64> = turned.collect();
            let plaintext = encoder.encode_extended(&values, self.slots, level, scale)?;
            let rounding = encoder.rounding_sparse(&values, self.slots, scale)?.log2();
            let largest = values.iter().map(|z| z.norm()).fold(0.0, f64::max);
            let fact = estimator.encode_rounded(largest, level, scale, rounding);
            let entry = giants.entry(giant).or_default();
            entry.terms.push((baby, plaintext));
            entry.facts.push((baby != 0, Some(fact)));
        }
        let facts = giants
            .iter()
            .map(|(rotation, giant)| (*rotation != 0, giant.facts.clone()));
        Ok(EncodedMatrix {
            facts: facts.collect(),
            giants: giants
                .into_iter()
                .map(|(rotation, giant)| (rotation, giant.terms))
                .collect(),
        })
    }
}

/// The terms of a giant step, and what is known of each.
#[derive(Default)]
struct EncodedGiant {
    terms: Vec<(i64, ExtendedPlaintext)>,
    facts: Vec<(bool, Option<Estimate>)>,
}

/// (giant, baby) of every diagonal.
struct Steps(BTreeSet<(i64, i64)>);

/// Baby steps that a giant one is worth: each decomposes and divides by the special primes once more, where baby steps
/// share one decomposition.
const GIANT_COST: usize = 3;

impl Steps {
    fn cost(&self) -> usize {
        let distinct = |steps: BTreeSet<i64>| steps.iter().filter(|k| **k != 0).count();
        let giants = distinct(self.0.iter().map(|s| s.0).collect());
        GIANT_COST * giants + distinct(self.0.iter().map(|s| s.1).collect())
    }
}

/// A matrix ready to be multiplied with ciphertexts of one level.
#[derive(Clone, Debug)]
pub struct EncodedMatrix {
    giants: BTreeMap<i64, Vec<(i64, ExtendedPlaintext)>>,
    facts: Vec<GiantFacts<Estimate>>,
}

impl EncodedMatrix {
    /// The sum of rotations and products.
    pub fn transform(&self) -> LinearTransform<'_> {
        let giants = self.giants.iter().map(|(rotation, terms)| {
            let terms = terms.iter().map(|(rotation, plaintext)| Term {
                rotation: *rotation,
                plaintext: Some(plaintext),
            });
            Giant {
                rotation: *rotation,
                terms: terms.collect(),
            }
        });
        LinearTransform {
            giants: giants.collect(),
        }
    }

    /// What is known of the plaintexts: the largest value and the rounding of each, measured.
    pub(super) fn facts(&self) -> &[GiantFacts<Estimate>] {
        &self.facts
    }

    /// Bytes of the plaintexts in memory.
    pub fn memory(&self) -> usize {
        self.giants
            .values()
            .flatten()
            .map(|(_, p)| p.memory())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::dft::{Direction, factors};

    #[test]
    fn steps_add_up_to_the_diagonals_and_are_few() {
        for factor in factors(Direction::CoeffsToSlots, 1 << 10, &[4, 3, 3]).unwrap() {
            let steps = factor.steps();
            let sums: BTreeSet<usize> = steps
                .0
                .iter()
                .map(|(g, b)| (g + b).rem_euclid(1 << 10) as usize)
                .collect();
            assert_eq!(sums, factor.diagonals.keys().copied().collect());
            assert!(
                factor.rotations().len() < factor.count(),
                "{}",
                factor.count()
            );
            assert!(factor.rotations().len() <= 16);
        }
    }
}
