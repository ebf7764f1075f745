// SPDX-License-Identifier: Apache-2.0
//! Matrices by their diagonals, and how a product with one is split into baby and giant steps.

use crate::linear_transform::{ExtendedPlaintext, Giant, LinearTransform, Term};
use crate::noise::EMBEDDING_ERROR;
use crate::{Encoder, Error};
use num_complex::Complex64;
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
        level: usize,
        scale: f64,
    ) -> Result<EncodedMatrix, Error> {
        let n = self.slots as i64;
        let mut giants: BTreeMap<i64, Vec<(i64, ExtendedPlaintext)>> = BTreeMap::new();
        let mut sums = Sums::new(self.slots);
        for (giant, baby) in self.steps().0 {
            let diagonal = &self.diagonals[&((giant + baby).rem_euclid(n) as usize)];
            // Multiplied before the giant rotation, hence turned back by it.
            let turned = (0..n).map(|j| diagonal[(j - giant).rem_euclid(n) as usize]);
            let values: Vec<Complex64> = turned.collect();
            let plaintext = encoder.encode_extended(&values, self.slots, level, scale)?;
            let roundings = encoder.roundings(&values, self.slots, scale)?;
            sums.add((giant, baby), &values, &roundings);
            giants.entry(giant).or_default().push((baby, plaintext));
        }
        Ok(EncodedMatrix {
            facts: sums.facts(giants.keys().filter(|giant| **giant != 0).count()),
            scale,
            giants,
        })
    }
}

/// What is known of an encoded matrix F and of its rounding R, which is public and fixed.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixFacts {
    /// Giant steps that rotate.
    pub giants: usize,
    /// Largest root of the sum of squares in a row of F.
    pub row: f64,
    /// Largest sum of absolute values in a row of R.
    pub rounding_sum: f64,
    /// Largest root of the sum of squares in a row of R.
    pub rounding_row: f64,
    /// Bound on |Rv|₂/|v|₂: the geometric mean of the largest sums of a row and of a column.
    pub rounding_norm: f64,
}

/// Sums over the diagonals, for every row or column.
struct Sums {
    squares: Vec<f64>,
    rounding_rows: Vec<f64>,
    rounding_columns: Vec<f64>,
    rounding_squares: Vec<f64>,
}

impl Sums {
    fn new(slots: usize) -> Self {
        let zeros = || vec![0.0; slots];
        Self {
            squares: zeros(),
            rounding_rows: zeros(),
            rounding_columns: zeros(),
            rounding_squares: zeros(),
        }
    }

    /// The diagonal multiplied before the giant rotation.
    fn add(&mut self, (giant, baby): (i64, i64), values: &[Complex64], roundings: &[f64]) {
        let n = values.len();
        let (giant, baby) = (
            giant.rem_euclid(n as i64) as usize,
            baby.rem_euclid(n as i64) as usize,
        );
        for (j, (value, rounding)) in values.iter().zip(roundings).enumerate() {
            let (row, column) = ((j + n - giant) % n, (j + baby) % n);
            let change = rounding + value.norm() * EMBEDDING_ERROR;
            self.squares[row] += value.norm_sqr();
            self.rounding_rows[row] += change;
            self.rounding_columns[column] += change;
            self.rounding_squares[row] += change * change;
        }
    }

    fn facts(&self, giants: usize) -> MatrixFacts {
        let largest = |sums: &[f64]| sums.iter().copied().fold(0.0, f64::max);
        let rows = largest(&self.rounding_rows);
        MatrixFacts {
            giants,
            row: largest(&self.squares).sqrt(),
            rounding_sum: rows,
            rounding_row: largest(&self.rounding_squares).sqrt(),
            rounding_norm: (rows * largest(&self.rounding_columns)).sqrt(),
        }
    }
}

/// (giant, baby) of every diagonal.
struct Steps(BTreeSet<(i64, i64)>);

/// Baby steps that a giant one is worth: each decomposes and divides by the special primes once more, where baby steps
/// share one decomposition; both read a key of their own, or grow it. Where two splits cost the same, the one with
/// fewer keys comes first.
const GIANT_COST: usize = 2;

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
    scale: f64,
    facts: MatrixFacts,
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

    /// Factor between the matrix and its plaintexts.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// What is known of the plaintexts, measured.
    pub(super) fn facts(&self) -> MatrixFacts {
        self.facts
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
