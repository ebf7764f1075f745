// SPDX-License-Identifier: Apache-2.0
//! Matrices by their diagonals, and encoded for products with ciphertexts.

use super::steps::Steps;
use crate::linear_transform::{ExtendedPlaintext, Giant, LinearTransform, Term};
use crate::noise::EMBEDDING_ERROR;
use crate::{Encoder, Error};
use num_complex::Complex64;
use std::collections::BTreeMap;

/// A square matrix of complex numbers: `(M·v)[j] = Σ_k diagonal_k[j] · v[j + k]`, indices modulo the slots.
#[derive(Clone, Debug)]
pub struct Diagonals {
    slots: usize,
    /// After how many slots all diagonals repeat, a power of two.
    period: usize,
    /// Up to where they repeat.
    diagonals: BTreeMap<usize, Vec<Complex64>>,
}

impl Diagonals {
    /// Of diagonals of `period` values each, which repeat; both numbers are powers of two.
    pub(super) fn new(
        slots: usize,
        period: usize,
        diagonals: BTreeMap<usize, Vec<Complex64>>,
    ) -> Self {
        Self {
            slots,
            period,
            diagonals,
        }
    }

    /// Number of diagonals that are not 0.
    pub fn count(&self) -> usize {
        self.diagonals.len()
    }

    /// Their numbers.
    #[cfg(test)]
    pub(super) fn numbers(&self) -> std::collections::BTreeSet<usize> {
        self.diagonals.keys().copied().collect()
    }

    /// `self · first`.
    #[must_use]
    pub fn after(&self, first: &Self) -> Self {
        let period = self.period.max(first.period);
        let (own, others) = (self.period - 1, first.period - 1);
        let mut product: BTreeMap<usize, Vec<Complex64>> = BTreeMap::new();
        for (&i, a) in &self.diagonals {
            for (&k, b) in &first.diagonals {
                let sum = product.entry((i + k) % self.slots);
                let sum = sum.or_insert_with(|| vec![Complex64::ZERO; period]);
                for (j, s) in sum.iter_mut().enumerate() {
                    *s += a[j & own] * b[(j + i) & others];
                }
            }
        }
        product.retain(|_, d| d.iter().any(|x| *x != Complex64::ZERO));
        Self::new(self.slots, period, product)
    }

    /// The product with a vector of as many values as there are slots.
    pub fn apply(&self, v: &[Complex64]) -> Vec<Complex64> {
        let row = |j: usize| {
            let terms = self.diagonals.iter();
            let terms = terms.map(|(k, d)| d[j % self.period] * v[(j + k) % self.slots]);
            terms.sum()
        };
        (0..self.slots).map(row).collect()
    }

    /// The values multiplied before the giant rotation, hence turned back by it, up to where they repeat: what is
    /// encoded into as many slots.
    fn turned(&self, (giant, baby): (i64, i64), period: usize) -> Vec<Complex64> {
        let number = (giant + baby).rem_euclid(self.slots as i64) as usize;
        let diagonal = &self.diagonals[&number];
        let first = (-giant).rem_euclid(self.period as i64) as usize;
        let values = diagonal.iter().cycle().skip(first).take(period);
        values.copied().collect()
    }

    /// The matrix encoded for ciphertexts of `level`, split into these steps; the product's scale is `scale` times
    /// theirs.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`].
    pub(super) fn encode(
        &self,
        encoder: &Encoder,
        steps: &Steps,
        level: usize,
        scale: f64,
    ) -> Result<EncodedMatrix, Error> {
        let encoded = |giant: i64, baby: i64| {
            let values = self.turned((giant, baby), self.period);
            let plaintext = encoder.encode_extended(&values, self.period, level, scale)?;
            Ok((baby, plaintext))
        };
        let giants = steps.giants().into_iter().map(|giant| {
            let terms = giant.babies.iter().map(|baby| encoded(giant.whole, *baby));
            Ok(EncodedGiant {
                rotation: giant.rotation,
                onto: giant.onto,
                terms: terms.collect::<Result<_, Error>>()?,
            })
        });
        let giants = giants.collect::<Result<_, Error>>()?;
        Ok(EncodedMatrix { giants })
    }

    /// What is known of the matrix as [`Diagonals::encode`] encodes it, without its plaintexts.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`].
    pub(super) fn facts(
        &self,
        encoder: &Encoder,
        steps: &Steps,
        level: usize,
        scale: f64,
    ) -> Result<MatrixFacts, Error> {
        let values = self.diagonals.values().flatten();
        let largest = values.map(|value| value.norm_sqr()).fold(0.0, f64::max);
        encoder.check_room(largest.sqrt() * scale, level, scale)?;
        self.facts_within(encoder, steps, scale, self.period)
    }

    fn facts_within(
        &self,
        encoder: &Encoder,
        steps: &Steps,
        scale: f64,
        period: usize,
    ) -> Result<MatrixFacts, Error> {
        let mut sums = Sums::new(period);
        for giant in steps.giants() {
            for baby in giant.babies {
                let values = self.turned((giant.whole, baby), period);
                let roundings = encoder.roundings(&values, period, scale)?;
                sums.add((giant.whole, baby), &values, &roundings);
            }
        }
        Ok(sums.facts(steps.giant_switches(), scale))
    }
}

/// What is known of an encoded matrix F and of its rounding R, which is public and fixed.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixFacts {
    /// Factor between the matrix and its plaintexts.
    pub scale: f64,
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

impl MatrixFacts {
    /// The same at another scale: what is rounded is smaller as the scale is larger.
    pub fn at(self, scale: f64) -> Self {
        let smaller = self.scale / scale;
        Self {
            scale,
            rounding_sum: self.rounding_sum * smaller,
            rounding_row: self.rounding_row * smaller,
            rounding_norm: self.rounding_norm * smaller,
            ..self
        }
    }
}

/// Sums over the diagonals, for every row or column up to where the matrix repeats.
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
            let square = value.norm_sqr();
            let change = rounding + square.sqrt() * EMBEDDING_ERROR;
            self.squares[row] += square;
            self.rounding_rows[row] += change;
            self.rounding_columns[column] += change;
            self.rounding_squares[row] += change * change;
        }
    }

    fn facts(&self, giants: usize, scale: f64) -> MatrixFacts {
        let largest = |sums: &[f64]| sums.iter().copied().fold(0.0, f64::max);
        let rows = largest(&self.rounding_rows);
        MatrixFacts {
            scale,
            giants,
            row: largest(&self.squares).sqrt(),
            rounding_sum: rows,
            rounding_row: largest(&self.rounding_squares).sqrt(),
            rounding_norm: (rows * largest(&self.rounding_columns)).sqrt(),
        }
    }
}

/// A matrix ready to be multiplied with ciphertexts of one level.
#[derive(Clone, Debug)]
pub struct EncodedMatrix {
    giants: Vec<EncodedGiant>,
}

/// A giant step: its own rotation, the step it is added to, baby steps with their plaintexts.
#[derive(Clone, Debug)]
struct EncodedGiant {
    rotation: i64,
    onto: Option<usize>,
    terms: Vec<(i64, ExtendedPlaintext)>,
}

impl EncodedMatrix {
    /// The sum of rotations and products, and for each giant step the later one it is added to.
    pub(super) fn transform(&self) -> (LinearTransform<'_>, Vec<Option<usize>>) {
        let giants = self.giants.iter().map(|giant| {
            let terms = giant.terms.iter().map(|(rotation, plaintext)| Term {
                rotation: *rotation,
                plaintext: Some(plaintext),
            });
            Giant {
                rotation: giant.rotation,
                terms: terms.collect(),
            }
        });
        let giants = giants.collect();
        let onto = self.giants.iter().map(|giant| giant.onto).collect();
        (LinearTransform { giants }, onto)
    }

    /// Bytes of the plaintexts in memory.
    pub fn memory(&self) -> usize {
        let terms = self.giants.iter().flat_map(|giant| &giant.terms);
        terms.map(|(_, plaintext)| plaintext.memory()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::dft::{Direction, factors};
    use crate::bootstrap::tests::chain;

    #[test]
    fn what_repeats_is_known_from_its_first_slots() {
        let (encoder, slots, scale) = (Encoder::new(&chain(6, 1)), 32, 2f64.powi(20));
        for direction in Direction::ALL {
            let factors = factors(direction, slots, &[2, 2, 1]).unwrap();
            let periods: Vec<usize> = factors.iter().map(|factor| factor.period).collect();
            assert!(
                periods == [4, 16, 32] || periods == [32, 8, 2],
                "{periods:?}"
            );
            for factor in &factors {
                let steps = &Steps::candidates(&factor.numbers(), slots)[0];
                let of = |period| factor.facts_within(&encoder, steps, scale, period).unwrap();
                let (own, whole) = (of(factor.period), of(slots));
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
                assert!(near(own.row, whole.row) && near(own.rounding_sum, whole.rounding_sum));
                assert!(
                    near(own.rounding_row, whole.rounding_row)
                        && near(own.rounding_norm, whole.rounding_norm)
                );
                assert!(own.rounding_sum > 0.0 && own.giants == whole.giants);
                let low = factor.facts(&encoder, steps, 0, 2f64.powi(90)).unwrap_err();
                assert!(matches!(low, Error::Overflow { level: 0, .. }), "{low}");
            }
        }
    }
}
