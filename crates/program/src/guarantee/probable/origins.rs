// SPDX-License-Identifier: Apache-2.0
//! Which steps draw the same randomness.
//!
//! The noise of a key switch follows from the digits of one polynomial and from the key, that of a rounding (nearly
//! all of it) from the polynomials that the secret multiplies. So each step has an origin, which stands for these
//! polynomials up to sign, integer factors and plaintexts: what differs in nothing else may have the same noise, or a
//! multiple of it.

use super::super::circuit::Circuit;
use crate::step::Operation;
use rlwe::noise::{Draw, Place};
use std::collections::HashMap;

/// The polynomials of a ciphertext that the secret multiplies, by what made them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Fresh(usize),
    Sum(u32, u32),
    Product(u32, u32),
    WithPlaintexts(u32),
    Rotated(u32, Place),
    Swapped(u32),
    Relinearized(u32),
    Divided(u32),
}

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// The encryption of an input.
    Fresh(usize),
    /// Switching keys in a rotation of what has that origin.
    Rotated(u32, Place),
    /// Relinearising or swapping the rows of what has that origin.
    Switched(u32),
    /// Rounding what has that origin afterwards.
    Rounded(u32),
    /// Rounding an operand of that origin before a product.
    Lifted(u32),
    /// Rotations inside a transform that no other step makes.
    Babies(usize),
    /// Outer rotations of transforms of what has that origin.
    Giants(u32),
    /// Their roundings.
    GiantsRounded(u32),
}

/// Origins of all steps, numbers of draws.
pub struct Origins {
    of: Vec<u32>,
    draws: HashMap<Event, Draw>,
    /// How many steps make a rotation.
    rotations: HashMap<(u32, Place), u32>,
}

impl Origins {
    pub fn new(circuit: &Circuit<'_>, width: u32) -> Self {
        let mut known: HashMap<Source, u32> = HashMap::new();
        let mut of: Vec<u32> = Vec::with_capacity(circuit.steps.len());
        let mut rotations: HashMap<(u32, Place), u32> = HashMap::new();
        for (number, step) in circuit.steps.iter().enumerate() {
            let origin = |a: u32| of[a as usize];
            let pair = |a: u32, b: u32| (origin(a).min(origin(b)), origin(a).max(origin(b)));
            let source = match step.operation {
                // Results of other programs may be of one polynomial, and of one with what is encrypted here.
                Operation::Input if circuit.receives() => Ok(Source::Fresh(0)),
                Operation::Input | Operation::EncryptZero | Operation::Bootstrap(_) => {
                    Ok(Source::Fresh(number))
                }
                Operation::Add(a, b) | Operation::Sub(a, b) => match pair(a, b) {
                    (a, b) if a == b => Err(a),
                    (a, b) => Ok(Source::Sum(a, b)),
                },
                Operation::Negate(a)
                | Operation::AddPlain(a, _)
                | Operation::SubPlain(a, _)
                | Operation::Within(a, _) => Err(origin(a)),
                // Without a division the residues stay as they are.
                Operation::ModDrop(a) if !circuit.exact => Err(origin(a)),
                Operation::MultiplyPlain(a, p) if circuit.factor(p).is_some() => Err(origin(a)),
                Operation::MultiplyPlain(a, _) | Operation::LinearTransform(a, _) => {
                    Ok(Source::WithPlaintexts(origin(a)))
                }
                Operation::Multiply(a, b) => {
                    let (a, b) = pair(a, b);
                    Ok(Source::Product(a, b))
                }
                Operation::Square(a) => Ok(Source::Product(origin(a), origin(a))),
                Operation::Relinearize(a) => Ok(Source::Relinearized(origin(a))),
                Operation::Rotate(a, by) => {
                    Ok(Source::Rotated(origin(a), Place::rotated(by, width)))
                }
                Operation::SwapRows(a) => Ok(Source::Swapped(origin(a))),
                Operation::Rescale(a)
                | Operation::RelinearizeRescale(a)
                | Operation::ModDrop(a) => Ok(Source::Divided(origin(a))),
            };
            let next = (known.len() + 1) as u32;
            of.push(match source {
                Err(origin) => origin,
                Ok(source) => *known.entry(source).or_insert(next),
            });
        }
        for step in circuit.steps.iter() {
            let mut count = |a: u32, by: i32| {
                let key = (of[a as usize], Place::rotated(by, width));
                *rotations.entry(key).or_default() += 1;
            };
            let ([a, _], _) = step.operation.operands();
            if let Some(by) = step.operation.attributes().rotation {
                count(a, by);
            }
            if let Some(number) = step.operation.transform() {
                let babies = circuit.transforms[number as usize].babies();
                babies.into_iter().for_each(|by| count(a, by));
            }
        }
        Self {
            of,
            draws: HashMap::new(),
            rotations,
        }
    }

    /// The origin of a step.
    pub fn of(&self, number: usize) -> u32 {
        self.of[number]
    }

    /// The number of a draw.
    pub fn draw(&mut self, event: Event) -> Draw {
        let next = self.draws.len() as Draw;
        *self.draws.entry(event).or_insert(next)
    }

    /// Whether several steps make a rotation of what has that origin.
    pub fn shared(&self, origin: u32, by: Place) -> bool {
        self.rotations
            .get(&(origin, by))
            .is_some_and(|&count| count > 1)
    }
}
