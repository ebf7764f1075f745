// SPDX-License-Identifier: Apache-2.0
//! Magnitudes of a CKKS program's values, slot by slot: what a probable guarantee multiplies errors by. And what
//! becomes of errors that the author promised: they too go through linear steps slot by slot, each with its own factor.
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
    /// By step, what errors promised before it can do to its slots; infinite where that is not followed: without such
    /// promises, and where another one stands between the step and every result.
    pub errors: Vec<f64>,
    /// By output, the same of the slots that are read.
    pub results: Vec<f64>,
}

impl Ranges {
    /// By how much an error of an output may be larger in a slot that is not read.
    pub(super) fn beside(&self, number: usize, output: u32) -> f64 {
        let all = self.errors.get(output as usize).copied();
        let read = self.results.get(number).copied();
        all.zip(read)
            .map_or(0.0, |(all, read)| (all - read).max(0.0))
    }
}

/// The slots of a value: magnitudes, and what promised errors do to them (empty where that is not followed).
#[derive(Default)]
struct Slots {
    values: Vec<f64>,
    errors: Vec<f64>,
}

/// The largest of the slots, as [`Ranges`] has it.
struct Largest {
    values: Vec<f64>,
    errors: Vec<f64>,
    results: Vec<f64>,
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
        let promised = self.largest(&factors, true)?;
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
                true => promised.values.clone(),
                false => self.largest(&factors, false)?.values,
            },
            promised: promised.values,
            errors: promised.errors,
            results: promised.results,
        })
    }

    /// The steps whose errors reach a result without a promise about them between; none where no error is promised.
    fn followed(&self) -> Vec<bool> {
        let mut followed = vec![false; self.steps.len()];
        if !self.steps.iter().any(promises_error) {
            return followed;
        }
        for &output in &self.outputs {
            followed[output as usize] = true;
        }
        for (number, step) in self.steps.iter().enumerate().rev() {
            if followed[number] && !promises_error(step) {
                let (operands, count) = step.operation.operands();
                for &a in &operands[..count] {
                    followed[a as usize] = true;
                }
            }
        }
        followed
    }

    /// By step, the outputs that it is, each with its slots that are read.
    fn read(&self) -> HashMap<usize, Vec<(usize, Vec<usize>)>> {
        let (slots, mut read) = (self.parameters.slots(), vec![vec![]; self.outputs.len()]);
        for place in self.result.iter().flatten().map(|place| place as usize) {
            read[place / slots].push(place % slots);
        }
        let mut by_step: HashMap<usize, Vec<_>> = HashMap::new();
        for (output, own) in read.into_iter().enumerate() {
            let step = self.outputs[output] as usize;
            by_step.entry(step).or_default().push((output, own));
        }
        by_step
    }

    fn largest(&self, factors: &Factors<'_>, promises: bool) -> Result<Largest, Error> {
        let mut inputs = self.packed(promises).into_iter();
        let followed = match promises {
            true => self.followed(),
            false => vec![false; self.steps.len()],
        };
        let mut last: Vec<usize> = (0..self.steps.len()).collect();
        for (number, step) in self.steps.iter().enumerate() {
            let (operands, count) = step.operation.operands();
            operands[..count]
                .iter()
                .for_each(|&a| last[a as usize] = number);
        }
        let mut known: Vec<Slots> = Vec::with_capacity(self.steps.len());
        let mut found = Largest {
            values: vec![],
            errors: vec![f64::INFINITY; self.steps.len()],
            results: vec![f64::INFINITY; self.outputs.len()],
        };
        let read = self.read();
        for (number, step) in self.steps.iter().enumerate() {
            let values = match step.operation.is_input() {
                true => inputs.next().unwrap_or_default(),
                false => self.applied(step, &known, factors, promises)?,
            };
            let mut errors = vec![];
            found.values.push(most(&values));
            if followed[number] {
                errors = self.erring(step, &known, factors)?;
                found.errors[number] = most(&errors);
                for (output, slots) in read.get(&number).into_iter().flatten() {
                    found.results[*output] = most(slots.iter().map(|&slot| &errors[slot]));
                }
            }
            known.push(Slots { values, errors });
            let (operands, count) = step.operation.operands();
            for &a in &operands[..count] {
                if last[a as usize] == number {
                    known[a as usize] = Slots::default();
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

    /// The magnitudes of what a step makes of others.
    fn applied(
        &self,
        step: &Step,
        known: &[Slots],
        factors: &Factors<'_>,
        promises: bool,
    ) -> Result<Vec<f64>, Error> {
        let of = |number: u32| known[number as usize].values.as_slice();
        Ok(match step.operation {
            Operation::Input | Operation::EncryptZero => vec![0.0; self.parameters.slots()],
            Operation::AddPlain(a, p) | Operation::SubPlain(a, p) => {
                each(of(a), &factors.of(p.number)?, |a, p| a + p)
            }
            Operation::Multiply(a, b) => each(of(a), of(b), |a, b| a * b),
            Operation::Square(a) => each(of(a), of(a), |a, b| a * b),
            Operation::Within(a, promise) if promises || promise.everywhere => {
                of(a).iter().map(|v| v.min(promise.bound)).collect()
            }
            _ => self.linear(step, of, factors)?,
        })
    }

    /// What promised errors do to the slots of a step: the difference that they make to its value.
    fn erring(
        &self,
        step: &Step,
        known: &[Slots],
        factors: &Factors<'_>,
    ) -> Result<Vec<f64>, Error> {
        let (slots, all) = (self.parameters.slots(), |a: u32| &known[a as usize]);
        let of = |number: u32| all(number).errors.as_slice();
        Ok(match step.operation {
            Operation::Input | Operation::EncryptZero => vec![0.0; slots],
            Operation::Within(_, promise) if promise.limits_errors() => vec![promise.error; slots],
            Operation::AddPlain(a, _) | Operation::SubPlain(a, _) => of(a).to_vec(),
            Operation::Multiply(a, b) => of_product(all(a), all(b)),
            Operation::Square(a) => of_product(all(a), all(a)),
            _ => self.linear(step, of, factors)?,
        })
    }

    /// A step that is linear in its operands, of their slots.
    fn linear<'v>(
        &self,
        step: &Step,
        of: impl Fn(u32) -> &'v [f64],
        factors: &Factors<'_>,
    ) -> Result<Vec<f64>, Error> {
        Ok(match step.operation {
            Operation::Add(a, b) | Operation::Sub(a, b) => each(of(a), of(b), |a, b| a + b),
            Operation::MultiplyPlain(a, p) => each(of(a), &factors.of(p.number)?, |a, p| a * p),
            Operation::Rotate(a, by) => moved(of(a), by),
            Operation::LinearTransform(a, number) => {
                transformed(of(a), &self.transforms[number as usize], factors)?
            }
            _ => of(step.operation.operands().0[0]).to_vec(),
        })
    }
}

/// Whether a step promises an error.
fn promises_error(step: &Step) -> bool {
    matches!(step.operation, Operation::Within(_, promise) if promise.limits_errors())
}

/// The largest; NaN comes from values beyond the range of doubles.
fn most<'v>(slots: impl IntoIterator<Item = &'v f64>) -> f64 {
    slots
        .into_iter()
        .fold(0.0, |most: f64, v| match v.is_nan() {
            true => f64::INFINITY,
            false => most.max(*v),
        })
}

fn each(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

/// (|a| + e)(|b| + f) - |a||b|.
fn of_product(a: &Slots, b: &Slots) -> Vec<f64> {
    let first = each(&a.values, &b.errors, |a, f| a * f);
    let whole = each(&b.values, &b.errors, |b, f| b + f);
    let second = each(&a.errors, &whole, |e, b| e * b);
    each(&first, &second, |a, b| a + b)
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
