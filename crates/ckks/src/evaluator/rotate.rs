// SPDX-License-Identifier: Apache-2.0
//! Rotations and conjugation.

use super::Evaluator;
use super::switch::Switch;
use crate::{Ciphertext, CkksParams, Error};
use rlwe::{GaloisKeys, conjugation_element};

/// The exponent g = 5^steps mod 2n of the automorphism `x -> x^g` that rotates CKKS slots left by `steps` (right if
/// negative). BFV's rows use another generator ([`rlwe::rotation_element`]).
pub fn slot_rotation_element(n: usize, steps: i64) -> u64 {
    let modulus = 2 * n as u64;
    // 5 has order n/2 modulo 2n.
    let (mut left, mut power, mut g) = (steps.rem_euclid((n / 2) as i64), 5 % modulus, 1);
    while left > 0 {
        if left & 1 == 1 {
            g = g * power % modulus;
        }
        power = power * power % modulus;
        left >>= 1;
    }
    g
}

/// The rotations that [`Evaluator::inner_sum`] over `count` slots performs; generate Galois keys for these.
pub fn inner_sum_steps(count: usize) -> Vec<i64> {
    let mut steps = Vec::new();
    let (mut window, mut done) = (1usize, 0usize);
    let mut left = count;
    while left > 0 {
        if left & 1 == 1 {
            if done > 0 {
                steps.push(done as i64);
            }
            done += window;
        }
        left >>= 1;
        if left > 0 {
            steps.push(window as i64);
        }
        window <<= 1;
    }
    steps.sort_unstable();
    steps.dedup();
    steps
}

impl Evaluator {
    /// Rotates left: slot i receives slot i + `steps` (numpy's `roll(x, -steps)`).
    ///
    /// # Errors
    /// [`Error::Size`] for a ciphertext of three parts, [`Error::Rlwe`] naming the missing key.
    pub fn rotate(
        &self,
        a: &Ciphertext,
        steps: i64,
        keys: &GaloisKeys<u64>,
    ) -> Result<Ciphertext, Error> {
        Ok(self.rotate_many(a, &[steps], keys)?.swap_remove(0))
    }

    /// Complex conjugate of every slot.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn conjugate(&self, a: &Ciphertext, keys: &GaloisKeys<u64>) -> Result<Ciphertext, Error> {
        self.automorphism(a, conjugation_element(self.params.n()), keys)
    }

    /// The image under x -> x^g, of any odd g below 2n: what a rotation is in libraries of another order of slots.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn automorphism(
        &self,
        a: &Ciphertext,
        g: u64,
        keys: &GaloisKeys<u64>,
    ) -> Result<Ciphertext, Error> {
        Ok(self.apply_many(a, &[g], keys)?.swap_remove(0))
    }

    /// Several rotations of one ciphertext; it is decomposed once (Halevi and Shoup, ePrint 2018/244).
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn rotate_many(
        &self,
        a: &Ciphertext,
        steps: &[i64],
        keys: &GaloisKeys<u64>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let elements: Vec<u64> = steps
            .iter()
            .map(|k| slot_rotation_element(self.params.n(), *k))
            .collect();
        self.apply_many(a, &elements, keys)
    }

    fn apply_many(
        &self,
        a: &Ciphertext,
        elements: &[u64],
        keys: &GaloisKeys<u64>,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.check_galois(a, keys)?;
        let mut uses = Vec::with_capacity(elements.len());
        for g in elements.iter().filter(|g| **g != 1) {
            let (auto, key) = keys.get(*g)?;
            uses.push((Some(auto), key));
        }
        let switch = Switch {
            ct: a,
            part: 1,
            uses,
        };
        let mut switched = self.switch(&[switch])?.into_iter();
        let next = |g: &u64| {
            if *g == 1 {
                Some(a.with_parts(a.parts.clone()))
            } else {
                switched.next()
            }
        };
        Ok(elements.iter().filter_map(next).collect())
    }

    /// Every slot i receives the sum of slots i … i + `count` - 1 (cyclically), in about log2(count) rotations.
    ///
    /// # Errors
    /// [`Error::Slots`] for 0 or more than n/2, and as [`Evaluator::rotate`].
    pub fn inner_sum(
        &self,
        a: &Ciphertext,
        count: usize,
        keys: &GaloisKeys<u64>,
    ) -> Result<Ciphertext, Error> {
        if count == 0 || count > self.params.slots() {
            return Err(Error::Slots {
                given: count,
                max: self.params.slots(),
            });
        }
        // `window` holds sums of `width` slots, `sum` those of the first `done`.
        let (mut window, mut width) = (a.clone(), 1usize);
        let (mut sum, mut done): (Option<Ciphertext>, usize) = (None, 0);
        let mut left = count;
        loop {
            if left & 1 == 1 {
                sum = Some(match sum {
                    None => window.clone(),
                    Some(s) => self.add(&s, &self.rotate(&window, done as i64, keys)?)?,
                });
                done += width;
            }
            left >>= 1;
            if left == 0 {
                return sum.ok_or(Error::Slots {
                    given: count,
                    max: self.params.slots(),
                });
            }
            window = self.add(&window, &self.rotate(&window, width as i64, keys)?)?;
            width <<= 1;
        }
    }
}

impl CkksParams {
    /// Galois elements for rotations by `steps` and, if asked for, conjugation.
    pub fn galois_elements(&self, steps: &[i64], conjugate: bool) -> Vec<u64> {
        let mut elements: Vec<u64> = steps
            .iter()
            .map(|k| slot_rotation_element(self.n(), *k))
            .filter(|g| *g != 1)
            .collect();
        if conjugate {
            elements.push(conjugation_element(self.n()));
        }
        elements.sort_unstable();
        elements.dedup();
        elements
    }
}
