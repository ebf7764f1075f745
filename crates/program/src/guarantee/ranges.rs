// SPDX-License-Identifier: Apache-2.0
//! Magnitudes of a CKKS program's values, slot by slot: what a probable guarantee multiplies errors by.
//!
//! Slots that hold nothing are 0, constants are their own magnitudes, arguments are anything within their declared
//! range.

use crate::Error;
use crate::expression::Numbers;
use crate::handed::Received;
use crate::program::{Program, Secrecy};
use crate::step::{Operation, Step};
use crate::transform::Transform;
use rlwe::noise::Norms;
use std::collections::HashMap;

/// Facts about values for any arguments within their ranges.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// The norms of each transform's factors.
    pub norms: Vec<Norms>,
    /// The largest magnitude of each step's slots, with all of the author's promises.
    pub promised: Vec<f64>,
    /// The same without promises that leave out slots.
    pub everywhere: Vec<f64>,
}

/// Magnitudes of plaintexts by number.
type Factors = HashMap<u32, Vec<f64>>;

impl Program {
    /// Ranges of the values; none in BFV, whose slots say nothing of the roots.
    pub(super) fn ranges(&self) -> Result<Ranges, Error> {
        if self.parameters.plain_modulus().is_some() {
            return Ok(Ranges::default());
        }
        let (factors, slots) = (self.factors()?, self.parameters.slots());
        let norms = |transform| norms(transform, &factors, slots);
        Ok(Ranges {
            norms: self.transforms.iter().map(norms).collect(),
            promised: self.magnitudes(&factors, true),
            everywhere: self.magnitudes(&factors, false),
        })
    }

    fn factors(&self) -> Result<Factors, Error> {
        let facts = self.facts();
        let own = self
            .steps
            .iter()
            .filter_map(|step| step.operation.plaintext());
        let of_transforms = self.transforms.iter().flat_map(Transform::plaintexts);
        let mut used: Vec<u32> = own.chain(of_transforms).map(|p| p.number).collect();
        used.sort_unstable();
        used.dedup();
        let constant = |number: &u32| facts[*number as usize].constant;
        let constants: Vec<u32> = used.iter().copied().filter(constant).collect();
        let values = self.evaluate_constants(&constants)?;
        let mut factors = Factors::new();
        for number in used {
            let source = &self.plaintexts[number as usize];
            let slots = if !constant(&number) {
                let any = |element: Option<u32>| element.map_or(0.0, |_| source.bound);
                source.slots.iter().map(any).collect()
            } else if let Numbers::Reals(slots) = self.slots(&values, number)? {
                slots.iter().map(|v| v.abs()).collect()
            } else {
                unreachable!("constants of CKKS are reals")
            };
            factors.insert(number, slots);
        }
        Ok(factors)
    }

    fn magnitudes(&self, factors: &Factors, promises: bool) -> Vec<f64> {
        let mut inputs = self.packed(promises).into_iter();
        let mut last: Vec<usize> = (0..self.steps.len()).collect();
        for (number, step) in self.steps.iter().enumerate() {
            let (operands, count) = step.operation.operands();
            operands[..count]
                .iter()
                .for_each(|&a| last[a as usize] = number);
        }
        let mut values: Vec<Vec<f64>> = Vec::with_capacity(self.steps.len());
        let mut found = Vec::with_capacity(self.steps.len());
        for (number, step) in self.steps.iter().enumerate() {
            let value = if step.operation.is_input() {
                inputs.next().unwrap_or_default()
            } else {
                self.applied(step, &values, factors, promises)
            };
            // NaN comes from values beyond the range of doubles.
            let most = |most: f64, v: &f64| {
                if v.is_nan() {
                    f64::INFINITY
                } else {
                    most.max(*v)
                }
            };
            found.push(value.iter().fold(0.0, most));
            values.push(value);
            let (operands, count) = step.operation.operands();
            for &a in &operands[..count] {
                if last[a as usize] == number {
                    values[a as usize] = vec![];
                }
            }
        }
        found
    }

    /// The slots of every ciphertext that is sent.
    fn packed(&self, promises: bool) -> Vec<Vec<f64>> {
        let slots = self.parameters.slots();
        let received = self.received();
        let mut bounds = self.input_bounds();
        let mut all = Vec::new();
        for argument in &self.arguments {
            if let Secrecy::Encrypted(packing) = &argument.secrecy {
                let elements: Vec<Option<u32>> = packing.iter().collect();
                for sent in elements.chunks(slots) {
                    let bound = bounds.next().unwrap_or(f64::INFINITY);
                    // What another program leaves beside its result is no zero.
                    let other = match received[all.len()] {
                        Some(Received::Reals {
                            magnitude,
                            everywhere,
                            ..
                        }) => {
                            if promises {
                                magnitude
                            } else {
                                everywhere
                            }
                        }
                        _ => 0.0,
                    };
                    let any = |element: &Option<u32>| element.map_or(other, |_| bound);
                    all.push(sent.iter().map(any).collect());
                }
            }
        }
        all
    }

    fn applied(
        &self,
        step: &Step,
        values: &[Vec<f64>],
        factors: &Factors,
        promises: bool,
    ) -> Vec<f64> {
        let slots = self.parameters.slots();
        let of = |number: u32| values[number as usize].as_slice();
        let each = |a: &[f64], b: &[f64], f: fn(f64, f64) -> f64| {
            a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
        };
        match step.operation {
            Operation::Input | Operation::EncryptZero => vec![0.0; slots],
            Operation::Add(a, b) | Operation::Sub(a, b) => each(of(a), of(b), |a, b| a + b),
            Operation::AddPlain(a, p) | Operation::SubPlain(a, p) => {
                each(of(a), &factors[&p.number], |a, p| a + p)
            }
            Operation::MultiplyPlain(a, p) => each(of(a), &factors[&p.number], |a, p| a * p),
            Operation::Multiply(a, b) => each(of(a), of(b), |a, b| a * b),
            Operation::Square(a) => each(of(a), of(a), |a, b| a * b),
            Operation::Rotate(a, by) => moved(of(a), by),
            Operation::Within(a, promise) if promises || promise.everywhere => {
                of(a).iter().map(|v| v.min(promise.bound)).collect()
            }
            Operation::LinearTransform(a, number) => {
                transformed(of(a), &self.transforms[number as usize], factors)
            }
            Operation::Within(a, _)
            | Operation::Negate(a)
            | Operation::Relinearize(a)
            | Operation::RelinearizeRescale(a)
            | Operation::Bootstrap(a)
            | Operation::Rescale(a)
            | Operation::ModDrop(a)
            | Operation::SwapRows(a) => of(a).to_vec(),
        }
    }
}

/// Slots moved to the left.
fn moved(slots: &[f64], by: i32) -> Vec<f64> {
    let mut moved = slots.to_vec();
    if !moved.is_empty() {
        let by = i64::from(by).rem_euclid(slots.len() as i64) as usize;
        moved.rotate_left(by);
    }
    moved
}

fn add(sum: &mut [f64], terms: impl IntoIterator<Item = f64>) {
    sum.iter_mut()
        .zip(terms)
        .for_each(|(sum, term)| *sum += term);
}

fn transformed(value: &[f64], transform: &Transform, factors: &Factors) -> Vec<f64> {
    let mut result = vec![0.0; value.len()];
    for giant in &transform.giants {
        let mut inner = vec![0.0; value.len()];
        for term in &giant.terms {
            let x = moved(value, term.rotation);
            match term.plaintext {
                None => add(&mut inner, x),
                Some(p) => add(&mut inner, x.iter().zip(&factors[&p]).map(|(x, p)| x * p)),
            }
        }
        add(&mut result, moved(&inner, giant.rotation));
    }
    result
}

fn norms(transform: &Transform, factors: &Factors, slots: usize) -> Norms {
    let ones = vec![1.0; slots];
    let (mut sums, mut squares) = (vec![0.0; slots], vec![0.0; slots]);
    for giant in &transform.giants {
        for term in &giant.terms {
            let factor = term.plaintext.map_or(&ones, |p| &factors[&p]);
            let factor = moved(factor, giant.rotation);
            add(&mut squares, factor.iter().map(|f| f * f));
            add(&mut sums, factor);
        }
    }
    let largest = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    Norms {
        sum: largest(&sums),
        square: largest(&squares).sqrt(),
    }
}
