// SPDX-License-Identifier: Apache-2.0
//! The embedding and its inverse as products of sparse matrices.
//!
//! With N slots, z = E·u takes the folded coefficients u_k = m_k + i·m_(k+N) to the slots. E times the permutation
//! that reverses bits is a product of log2 N stages of butterflies on pairs h apart, h = 1, 2, …, N/2 from right to
//! left, of three diagonals each (two for the last). Neighbouring stages are multiplied together: g of them have at
//! most 2^(g+1) − 1 diagonals, multiples of the lowest h, and cost one level.
//!
//! What lies between the two transforms works slot by slot, so that it does not mind the reversed order.

use super::diagonals::Diagonals;
use crate::Error;
use crate::embedding::root_of_unity;
use num_complex::Complex64;
use std::collections::{BTreeMap, BTreeSet};

/// The direction of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Folded coefficients, which stand in the slots in bit-reversed order, to slots of which they are the
    /// coefficients.
    SlotsToCoeffs,
    /// Back: what stands in the slots is moved from the coefficients, in bit-reversed order.
    CoeffsToSlots,
}

impl Direction {
    /// Both, in the order of a refresh.
    pub(super) const ALL: [Self; 2] = [Self::SlotsToCoeffs, Self::CoeffsToSlots];
}

/// The factors of a transform of `slots` slots, in the order they are applied; `split` says how many stages each
/// takes.
///
/// # Errors
/// [`Error::Bootstrap`] unless `slots` is a power of two, at least 2, and the split's parts are positive and sum up to
/// its logarithm.
pub fn factors(direction: Direction, slots: usize, split: &[u32]) -> Result<Vec<Diagonals>, Error> {
    let log = slots.trailing_zeros();
    if slots < 2
        || !slots.is_power_of_two()
        || split.contains(&0)
        || split.iter().sum::<u32>() != log
    {
        return Err(Error::Bootstrap {
            what: "the split of a transform between coefficients and slots",
            got: format!("{split:?} for {slots} slots"),
            allowed: "positive numbers whose sum is log2 of the slots, a power of two from 2"
                .into(),
        });
    }
    let factor = |spans: Vec<usize>| {
        let mut stages = spans.into_iter().map(|h| stage(direction, slots, h));
        let first = stages.next()?;
        Some(stages.fold(first, |product, next| next.after(&product)))
    };
    let spans = stages(direction, slots, split);
    Ok(spans.into_iter().filter_map(factor).collect())
}

/// For each factor the spans of its stages, in the order they are applied.
fn stages(direction: Direction, slots: usize, split: &[u32]) -> Vec<Vec<usize>> {
    let mut spans: Vec<usize> = (0..slots.trailing_zeros()).map(|i| 1 << i).collect();
    if direction == Direction::CoeffsToSlots {
        spans.reverse();
    }
    let mut spans = spans.into_iter();
    let factor = |count: &u32| spans.by_ref().take(*count as usize).collect();
    split.iter().map(factor).collect()
}

/// For each of [`factors`] the numbers of its diagonals, without their values.
pub(super) fn diagonal_numbers(
    direction: Direction,
    slots: usize,
    split: &[u32],
) -> Vec<BTreeSet<usize>> {
    let reached = |spans: Vec<usize>| {
        spans.into_iter().fold(BTreeSet::from([0]), |known, h| {
            let next = |k: usize| [k, (k + h) % slots, (k + slots - h) % slots];
            known.into_iter().flat_map(next).collect()
        })
    };
    stages(direction, slots, split)
        .into_iter()
        .map(reached)
        .collect()
}

/// The split of log2(slots) stages into `count` factors as equal as possible, larger ones first.
pub fn even_split(slots: usize, count: usize) -> Vec<u32> {
    let (log, count) = (slots.trailing_zeros(), count as u32);
    (0..count)
        .map(|i| log / count + u32::from(i < log % count))
        .collect()
}

/// Butterflies between slots `h` apart: (a, b) to (a + w·b, a − w·b), or back to ((a + b)/2, (a − b)/(2w)), with
/// w = exp(2πi·5^j/8h) for the j-th of each run of h. All repeats after 2h slots.
fn stage(direction: Direction, slots: usize, h: usize) -> Diagonals {
    let order = 8 * h as u64;
    let mut power = 1;
    let twiddles: Vec<Complex64> = (0..h)
        .map(|_| {
            let (re, im) = root_of_unity(power, order.trailing_zeros());
            power = power * 5 % order;
            Complex64::new(re, im)
        })
        .collect();
    let mut diagonals: BTreeMap<usize, Vec<Complex64>> = BTreeMap::new();
    let mut set = |row: usize, column: usize, value: Complex64| {
        let diagonal = diagonals.entry((column + slots - row) % slots);
        diagonal.or_insert_with(|| vec![Complex64::ZERO; 2 * h])[row] = value;
    };
    let one = Complex64::ONE;
    for (low, w) in twiddles.into_iter().enumerate() {
        let high = low + h;
        let entries = match direction {
            Direction::SlotsToCoeffs => [one, w, one, -w],
            Direction::CoeffsToSlots => [one, one, w.conj(), -w.conj()].map(|x| x * 0.5),
        };
        set(low, low, entries[0]);
        set(low, high, entries[1]);
        set(high, low, entries[2]);
        set(high, high, entries[3]);
    }
    Diagonals::new(slots, 2 * h, diagonals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Embedding;
    use crate::tests::values;

    fn apply(factors: &[Diagonals], v: &[Complex64]) -> Vec<Complex64> {
        factors
            .iter()
            .fold(v.to_vec(), |v, factor| factor.apply(&v))
    }

    fn reversed(v: &[Complex64]) -> Vec<Complex64> {
        let shift = usize::BITS - v.len().trailing_zeros();
        (0..v.len()).map(|i| v[i.reverse_bits() >> shift]).collect()
    }

    fn distance(a: &[Complex64], b: &[Complex64]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f64::max)
    }

    /// Every way to write `sum` as a sum of positive numbers in order.
    fn splits(sum: u32) -> Vec<Vec<u32>> {
        if sum == 0 {
            return vec![vec![]];
        }
        let with = |first: u32| {
            splits(sum - first)
                .into_iter()
                .map(move |rest| [&[first], &rest[..]].concat())
        };
        (1..=sum).flat_map(with).collect()
    }

    /// The embedding's own transform, of the polynomial with these folded coefficients.
    fn embedded(u: &[Complex64]) -> Vec<Complex64> {
        let (re, im) = (u.iter().map(|c| c.re), u.iter().map(|c| c.im));
        let m: Vec<f64> = re.chain(im).collect();
        let embedding = Embedding::new(2 * u.len()).unwrap();
        embedding.to_slots(&m, u.len(), 1.0).unwrap()
    }

    #[test]
    fn every_split_is_the_embedding_and_its_inverse() {
        for log in 1..=6 {
            let slots = 1usize << log;
            let u = values(slots, 1);
            let z = embedded(&u);
            for split in splits(log) {
                let forward = factors(Direction::SlotsToCoeffs, slots, &split).unwrap();
                let back = factors(Direction::CoeffsToSlots, slots, &split).unwrap();
                let bound = slots as f64 * 2f64.powi(-48);
                assert!(
                    distance(&apply(&forward, &reversed(&u)), &z) < bound,
                    "{slots} {split:?}"
                );
                assert!(
                    distance(&apply(&back, &z), &reversed(&u)) < 2f64.powi(-46),
                    "{slots} {split:?}"
                );
            }
        }
    }

    #[test]
    fn large_transforms_are_exact_and_have_few_diagonals() {
        let slots = 1 << 11;
        let u = values(slots, 2);
        let z = embedded(&u);
        let back = factors(Direction::CoeffsToSlots, slots, &[4, 4, 3]).unwrap();
        assert!(distance(&apply(&back, &z), &reversed(&u)) < 2f64.powi(-45));
        let counts = |d, split: &[u32]| -> Vec<usize> {
            factors(d, slots, split)
                .unwrap()
                .iter()
                .map(Diagonals::count)
                .collect()
        };
        assert_eq!(counts(Direction::CoeffsToSlots, &[4, 4, 3]), [16, 31, 15]);
        assert_eq!(counts(Direction::SlotsToCoeffs, &[4, 4, 3]), [31, 31, 8]);
    }

    #[test]
    fn diagonals_are_known_without_their_values() {
        for direction in [Direction::CoeffsToSlots, Direction::SlotsToCoeffs] {
            for split in splits(6) {
                let made = factors(direction, 64, &split).unwrap();
                let numbers: Vec<_> = made.iter().map(Diagonals::numbers).collect();
                assert_eq!(
                    diagonal_numbers(direction, 64, &split),
                    numbers,
                    "{split:?}"
                );
            }
        }
    }

    #[test]
    fn splits_that_are_none_are_refused() {
        for (slots, split) in [
            (8, &[1, 1][..]),
            (8, &[3, 0]),
            (8, &[4]),
            (8, &[]),
            (6, &[1]),
            (1, &[]),
        ] {
            let error = factors(Direction::CoeffsToSlots, slots, split).unwrap_err();
            assert!(error.to_string().contains("split"), "{error}");
        }
        assert_eq!(even_split(1 << 11, 3), [4, 4, 3]);
        assert_eq!(even_split(1 << 4, 4), [1; 4]);
    }
}
