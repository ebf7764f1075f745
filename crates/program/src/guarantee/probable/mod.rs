// SPDX-License-Identifier: Apache-2.0
//! The probable guarantee: what operations draw is independent, so squares add, but for what is the same randomness.
//!
//! Every draw has a number. The same number is given wherever the same polynomial c_1 is switched by the same key or
//! rounded, also if it comes back with another sign, another integer factor, another plaintext or at another level
//! ([`Origins`]): key switching and rounding depend on little else.

mod bfv;
mod ckks;
mod origins;

pub use bfv::bound as bfv;
pub use ckks::bound as ckks;

use super::circuit::{Circuit, Plaintexts};
use crate::step::Step;
use crate::transform::Transform;
use origins::{Event, Origins};
use rlwe::noise::{Affine, Norms, Place, Term};
use std::collections::HashMap;

/// Draws and places of a circuit's steps.
struct Draws<'a> {
    circuit: &'a Circuit<'a>,
    origins: Origins,
    /// Slots of a row.
    width: u32,
}

/// Key switches of a transform: log2 of the amplitude before special primes are divided out, and of the rounding, if
/// there is one.
struct Switching {
    products: f64,
    rounding: Option<f64>,
}

impl<'a> Draws<'a> {
    fn new(circuit: &'a Circuit<'a>, n: usize) -> Self {
        Self {
            circuit,
            origins: Origins::new(circuit, n as u32 / 2),
            width: n as u32 / 2,
        }
    }

    fn place(&self, rotation: i32) -> Place {
        Place::rotated(rotation, self.width)
    }

    /// The place that a rotation moves draws to. BFV bounds coefficients, and some coefficients stay where they are
    /// under every rotation: there a draw and its rotations add up as if they were the same.
    fn shift(&self, rotation: i32) -> Place {
        match self.circuit.exact {
            true => Place::default(),
            false => self.place(rotation),
        }
    }

    /// The noise with a draw of the event added.
    fn with(&mut self, noise: &Affine, event: Event, log2_amplitude: f64) -> Affine {
        noise.with(self.origins.draw(event), log2_amplitude)
    }

    /// The noise with that of rounding what a step gives.
    fn rounded(&mut self, noise: &Affine, number: usize, log2_amplitude: f64) -> Affine {
        let origin = self.origins.of(number);
        self.with(noise, Event::Rounded(origin), log2_amplitude)
    }

    /// The noise with that of switching keys in a step.
    fn switched(&mut self, noise: &Affine, number: usize, switching: &Switching) -> Affine {
        let step = &self.circuit.steps[number];
        let ([operand, _], _) = step.operation.operands();
        let operand = self.origins.of(operand as usize);
        let event = match step.operation.attributes().rotation {
            Some(by) => Event::Rotated(operand, self.place(by)),
            None => Event::Switched(operand),
        };
        let noise = self.with(noise, event, switching.products);
        match switching.rounding {
            Some(rounding) => self.rounded(&noise, number, rounding),
            None => noise,
        }
    }

    /// The terms of a linear transform: `factors` are bounds on |plaintext| at every root.
    fn terms(&self, transform: &Transform, factors: &[f64]) -> Vec<Term> {
        let giants = transform.giants.iter();
        let rotations = giants.flat_map(|giant| {
            let terms = giant.terms.iter();
            terms.map(|term| giant.rotation.wrapping_add(term.rotation))
        });
        let terms = rotations.zip(factors);
        terms
            .map(|(by, &factor)| (self.shift(by), factor))
            .collect()
    }

    /// The noise of a linear transform with that of its own key switches and roundings.
    fn switched_inside(
        &mut self,
        noise: &Affine,
        number: usize,
        factors: &[f64],
        norms: Option<Norms>,
        switching: &Switching,
    ) -> Affine {
        let operation = self.circuit.steps[number].operation;
        let Some(transform) = operation.transform() else {
            unreachable!("a linear transform")
        };
        let ([a, _], _) = operation.operands();
        let (operand, width) = (self.origins.of(a as usize), self.width);
        let giants = &self.circuit.transforms[transform as usize].giants;
        let mut factor = factors.iter();
        let (mut own, mut babies) = (Affine::default(), Affine::default());
        for giant in giants {
            let outer = self.shift(giant.rotation);
            // Baby rotations that nothing else makes are one draw: a vector, a giant's factors its coefficients.
            let mut square = 0.0;
            for (term, &factor) in giant.terms.iter().zip(&mut factor) {
                let baby = self.place(term.rotation);
                if term.rotation == 0 {
                    continue;
                }
                if self.origins.shared(operand, baby) {
                    let draw = self.origins.draw(Event::Rotated(operand, baby));
                    let moved = Affine::of(draw, switching.products + factor.log2());
                    own = own.plus(&moved.moved(outer, width));
                } else {
                    square += factor * factor;
                }
            }
            let draw = self.origins.draw(Event::Babies(number));
            let amplitude = switching.products + 0.5 * f64::log2(square);
            babies = babies.plus(&Affine::of(draw, amplitude).moved(outer, width));
        }
        if let Some(norms) = norms {
            babies = babies.capped(switching.products + norms.square.log2());
        }
        let own = own.plus(&babies);
        let rotating = giants.iter().filter(|giant| giant.rotation != 0).count() as f64;
        let mut result = noise.plus(&own);
        result = self.with(
            &result,
            Event::Giants(operand),
            switching.products + 0.5 * rotating.log2(),
        );
        match switching.rounding {
            None => result,
            Some(rounding) => {
                // One part of what a giant rotates is divided and rounded, which is no more than for both.
                let giants = rounding + 0.5 * rotating.log2();
                result = self.with(&result, Event::GiantsRounded(operand), giants);
                self.rounded(&result, number, rounding)
            }
        }
    }
}

/// The steps after which each value is not needed any more.
fn last_uses(steps: &[Step]) -> Vec<usize> {
    let mut last: Vec<usize> = (0..steps.len()).collect();
    for (number, step) in steps.iter().enumerate() {
        let (operands, count) = step.operation.operands();
        for &a in &operands[..count] {
            last[a as usize] = number;
        }
    }
    last
}

/// Goes along the steps: `apply` makes the value of a step, `keep` what stays of it.
fn along<V, S, E>(
    circuit: &Circuit<'_>,
    mut apply: impl FnMut(usize, &[Option<V>]) -> Result<V, E>,
    keep: impl Fn(&V) -> S,
) -> Result<Vec<S>, E> {
    let last = last_uses(&circuit.steps);
    let mut values: Vec<Option<V>> = Vec::with_capacity(circuit.steps.len());
    let mut kept = Vec::with_capacity(circuit.steps.len());
    for (number, step) in circuit.steps.iter().enumerate() {
        let value = apply(number, &values)?;
        kept.push(keep(&value));
        values.push((last[number] > number).then_some(value));
        let (operands, count) = step.operation.operands();
        for &a in &operands[..count] {
            if last[a as usize] == number {
                values[a as usize] = None;
            }
        }
    }
    Ok(kept)
}

/// An operand of a step.
fn operand<'v, V>(step: &Step, values: &'v [Option<V>], index: usize) -> &'v V {
    let (operands, count) = step.operation.operands();
    let number = operands[index.min(count - 1)] as usize;
    values[number].as_ref().expect("kept until its last use")
}

impl Plaintexts<'_> {
    /// The norms of a transform's factors, where they are known.
    fn norms(&self, transform: u32) -> Option<Norms> {
        self.circuit.ranges.norms.get(transform as usize).copied()
    }

    /// The largest magnitude of a step's slots, where it is known.
    fn magnitude(&self, number: usize, promises: bool) -> f64 {
        let ranges = &self.circuit.ranges;
        let known = if promises {
            &ranges.promised
        } else {
            &ranges.everywhere
        };
        known.get(number).copied().unwrap_or(f64::INFINITY)
    }

    /// What promised errors can do to a step's slots, where that is followed.
    fn promised(&self, number: usize, promises: bool) -> f64 {
        let errors = &self.circuit.ranges.errors;
        let known = errors.get(number).filter(|_| promises);
        known.copied().unwrap_or(f64::INFINITY)
    }

    /// The same of the slots that are read of each step that is a result.
    fn read(&self, promises: bool) -> HashMap<u32, f64> {
        let mut read = HashMap::new();
        for (number, &output) in self.circuit.outputs.iter().enumerate() {
            let own = self.circuit.ranges.results.get(number);
            let own = own.filter(|_| promises).copied();
            let most = read.entry(output).or_insert(0.0_f64);
            *most = most.max(own.unwrap_or(f64::INFINITY));
        }
        read
    }
}
