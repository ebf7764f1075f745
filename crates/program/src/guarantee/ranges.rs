// SPDX-License-Identifier: Apache-2.0
//! Magnitudes of a CKKS program's values, slot by slot: what a probable guarantee multiplies errors by.
//!
//! Slots that hold nothing are 0, constants are their own magnitudes, arguments are anything within their declared
//! range.

use crate::Error;
use crate::Values;
use crate::expression::Numbers;
use crate::handed::Received;
use crate::program::{Program, Secrecy};
use crate::step::{Operation, Step};
use crate::transform::Transform;
use rlwe::noise::Norms;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

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

/// Bytes of magnitudes that are kept for their next use.
const KEPT: usize = 1 << 26;

/// Magnitudes of plaintexts by number: made when they are asked for, as those of a large program's diagonals together
/// would take more memory than the program.
struct Factors<'a> {
    program: &'a Program,
    constant: Vec<bool>,
    values: Values,
    kept: RefCell<HashMap<u32, Rc<[f64]>>>,
}

impl<'a> Factors<'a> {
    fn new(program: &'a Program) -> Result<Self, Error> {
        let facts = program.facts();
        let own = (program.steps.iter()).filter_map(|step| step.operation.plaintext());
        let of_transforms = program.transforms.iter().flat_map(Transform::plaintexts);
        let mut used: Vec<u32> = own.chain(of_transforms).map(|p| p.number).collect();
        used.sort_unstable();
        used.dedup();
        used.retain(|number| facts[*number as usize].constant);
        let values = program.evaluate_constants(&used)?;
        Ok(Self {
            program,
            constant: facts.iter().map(|fact| fact.constant).collect(),
            values,
            kept: RefCell::default(),
        })
    }

    fn of(&self, number: u32) -> Result<Rc<[f64]>, Error> {
        if let Some(known) = self.kept.borrow().get(&number) {
            return Ok(Rc::clone(known));
        }
        let found = self.made(number)?;
        let mut kept = self.kept.borrow_mut();
        if kept.len() * size_of_val(&*found) < KEPT {
            kept.insert(number, Rc::clone(&found));
        }
        Ok(found)
    }

    fn made(&self, number: u32) -> Result<Rc<[f64]>, Error> {
        let source = &self.program.plaintexts[number as usize];
        if !self.constant[number as usize] {
            let any = |element: Option<u32>| element.map_or(0.0, |_| source.bound);
            return Ok(source.slots.iter().map(any).collect());
        }
        match self.program.slots(&self.values, number)? {
            Numbers::Reals(slots) => Ok(slots.iter().map(|v| v.abs()).collect()),
            Numbers::Integers(_) => unreachable!("constants of CKKS are reals"),
        }
    }
}

impl Program {
    /// Ranges of the values; none in BFV, whose slots say nothing of the roots.
    pub(super) fn ranges(&self) -> Result<Ranges, Error> {
        if self.parameters.plain_modulus().is_some() {
            return Ok(Ranges::default());
        }
        let (factors, slots) = (Factors::new(self)?, self.parameters.slots());
        let norms = |transform| norms(transform, &factors, slots);
        let promised = self.magnitudes(&factors, true)?;
        let all = |step: &Step| match step.operation {
            Operation::Within(_, promise) => promise.everywhere,
            _ => true,
        };
        let same = self.steps.iter().all(all) && self.received().iter().all(Option::is_none);
        Ok(Ranges {
            norms: self
                .transforms
                .iter()
                .map(norms)
                .collect::<Result<_, _>>()?,
            everywhere: match same {
                true => promised.clone(),
                false => self.magnitudes(&factors, false)?,
            },
            promised,
        })
    }

    fn magnitudes(&self, factors: &Factors<'_>, promises: bool) -> Result<Vec<f64>, Error> {
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
                self.applied(step, &values, factors, promises)?
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
        Ok(found)
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
        factors: &Factors<'_>,
        promises: bool,
    ) -> Result<Vec<f64>, Error> {
        let slots = self.parameters.slots();
        let of = |number: u32| values[number as usize].as_slice();
        let each = |a: &[f64], b: &[f64], f: fn(f64, f64) -> f64| {
            a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
        };
        Ok(match step.operation {
            Operation::Input | Operation::EncryptZero => vec![0.0; slots],
            Operation::Add(a, b) | Operation::Sub(a, b) => each(of(a), of(b), |a, b| a + b),
            Operation::AddPlain(a, p) | Operation::SubPlain(a, p) => {
                each(of(a), &factors.of(p.number)?, |a, p| a + p)
            }
            Operation::MultiplyPlain(a, p) => each(of(a), &factors.of(p.number)?, |a, p| a * p),
            Operation::Multiply(a, b) => each(of(a), of(b), |a, b| a * b),
            Operation::Square(a) => each(of(a), of(a), |a, b| a * b),
            Operation::Rotate(a, by) => moved(of(a), by),
            Operation::Within(a, promise) if promises || promise.everywhere => {
                of(a).iter().map(|v| v.min(promise.bound)).collect()
            }
            Operation::LinearTransform(a, number) => {
                transformed(of(a), &self.transforms[number as usize], factors)?
            }
            Operation::Within(a, _)
            | Operation::Negate(a)
            | Operation::Relinearize(a)
            | Operation::RelinearizeRescale(a)
            | Operation::Bootstrap(a)
            | Operation::Rescale(a)
            | Operation::ModDrop(a)
            | Operation::SwapRows(a) => of(a).to_vec(),
        })
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

fn transformed(
    value: &[f64],
    transform: &Transform,
    factors: &Factors<'_>,
) -> Result<Vec<f64>, Error> {
    let mut result = vec![0.0; value.len()];
    for giant in &transform.giants {
        let mut inner = vec![0.0; value.len()];
        for term in &giant.terms {
            let x = moved(value, term.rotation);
            match term.plaintext {
                None => add(&mut inner, x),
                Some(p) => add(
                    &mut inner,
                    x.iter().zip(&*factors.of(p)?).map(|(x, p)| x * p),
                ),
            }
        }
        add(&mut result, moved(&inner, giant.rotation));
    }
    Ok(result)
}

fn norms(transform: &Transform, factors: &Factors<'_>, slots: usize) -> Result<Norms, Error> {
    let ones = vec![1.0; slots];
    let (mut sums, mut squares) = (vec![0.0; slots], vec![0.0; slots]);
    for giant in &transform.giants {
        for term in &giant.terms {
            let factor = term.plaintext.map(|p| factors.of(p)).transpose()?;
            let factor = moved(factor.as_deref().unwrap_or(&ones), giant.rotation);
            add(&mut squares, factor.iter().map(|f| f * f));
            add(&mut sums, factor);
        }
    }
    let largest = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    Ok(Norms {
        sum: largest(&sums),
        square: largest(&squares).sqrt(),
    })
}
