// SPDX-License-Identifier: Apache-2.0
//! Probable errors of CKKS. Amplitudes are bounds on |e(ζ)|, each at the tail of its own kind of draw: the root of
//! their squares is the bound of the sum.

use super::super::Bound;
use super::super::circuit::{Failure, Plaintexts};
use super::super::ckks::{Walk, failed, of_results, promised_error};
use super::origins::Event;
use super::{Draws, Switching, along, operand};
use crate::program::Encryption;
use crate::step::{Operation, Plaintext, Step};
use ckks::noise::{Estimate, Estimator};
use rlwe::noise::{Affine, Norms, log2_add};

/// As the certain bound: one walk with the author's promises, one without those that leave out slots.
pub fn bound(plaintexts: &Plaintexts<'_>, estimator: &Estimator) -> Result<Bound, Failure> {
    of_results(plaintexts, estimator, |promises| {
        let walk = Walk {
            plaintexts,
            estimator,
            promises,
        };
        let draws = Draws::new(plaintexts.circuit, estimator.n());
        Probable {
            walk,
            draws,
            inputs: 0,
        }
        .run()
    })
}

/// A value and its error in three parts.
struct Value {
    /// The message, and the error that is neither of the others: roundings of plaintexts, products of errors.
    known: Estimate,
    /// From encoding what the client encrypts. Nothing is assumed of it: all inputs together are one vector of bounded
    /// length, whose coordinates are the slots, so squares of factors add by the Cauchy-Schwarz inequality.
    encoded: Affine,
    /// From what operations draw.
    drawn: Affine,
}

impl Value {
    /// log2 of the whole error.
    fn log2_error(&self) -> f64 {
        let parts = [self.encoded.log2_total(), self.drawn.log2_total()];
        parts.into_iter().fold(self.known.log2_error, log2_add)
    }

    fn whole(&self) -> Estimate {
        Estimate {
            log2_error: self.log2_error(),
            ..self.known
        }
    }

    fn log2_message(&self) -> f64 {
        (self.known.message * self.known.scale).log2()
    }

    /// Another value whose forms are made of these.
    fn mapped(&self, known: Estimate, map: impl Fn(&Affine) -> Affine) -> Self {
        Self {
            known,
            encoded: map(&self.encoded),
            drawn: map(&self.drawn),
        }
    }

    fn plus(&self, other: &Self, known: Estimate) -> Self {
        Self {
            known,
            encoded: self.encoded.plus(&other.encoded),
            drawn: self.drawn.plus(&other.drawn),
        }
    }

    /// With draws of an operation's own.
    fn with(self, draw: impl FnOnce(&Affine) -> Affine) -> Self {
        Self {
            drawn: draw(&self.drawn),
            ..self
        }
    }
}

struct Probable<'a> {
    walk: Walk<'a>,
    draws: Draws<'a>,
    inputs: usize,
}

impl Probable<'_> {
    fn run(mut self) -> Result<Vec<Estimate>, Failure> {
        let circuit = self.walk.plaintexts.circuit;
        along(
            circuit,
            |number, values| {
                let value = self.applied(number, &circuit.steps[number], values);
                let mut value = value.map_err(|error| failed(number, &error))?;
                let most = self.walk.plaintexts.magnitude(number, self.walk.promises);
                value.known.message = value.known.message.min(most);
                Ok(value)
            },
            Value::whole,
        )
    }

    fn switching(&self, level: u32) -> Switching {
        let e = self.walk.estimator;
        Switching {
            products: e.log2_key_products(level as usize),
            rounding: e.divides().then(|| e.log2_rounding(2)),
        }
    }

    fn applied(
        &mut self,
        number: usize,
        step: &Step,
        values: &[Option<Value>],
    ) -> Result<Value, ckks::Error> {
        if step.operation.facts().operands == 0 {
            return self.encrypted(number, step);
        }
        let (e, a) = (self.walk.estimator, operand(step, values, 0));
        let circuit = self.walk.plaintexts.circuit;
        let same = |known| a.mapped(known, Affine::clone);
        Ok(match step.operation {
            Operation::Add(..) | Operation::Sub(..) => {
                let b = operand(step, values, 1);
                a.plus(b, e.add(&a.known, &b.known))
            }
            Operation::Multiply(..) | Operation::Square(_) => {
                product(e, a, operand(step, values, 1))
            }
            Operation::AddPlain(_, p) | Operation::SubPlain(_, p) => {
                same(e.add(&a.known, &self.walk.encoded(p, step.level)))
            }
            Operation::MultiplyPlain(_, p) => match circuit.factor(p) {
                Some(factor) => repeated(a, factor.unsigned_abs()),
                None => {
                    let p = self.walk.encoded(p, step.level);
                    a.mapped(e.multiply(&a.known, &p), |x| x.scaled(log2_factor(&p)))
                }
            },
            Operation::Relinearize(_) => {
                let switching = self.switching(step.level);
                let two = same(Estimate { size: 2, ..a.known });
                two.with(|x| self.draws.switched(x, number, &switching))
            }
            Operation::RelinearizeRescale(x) => {
                let level = circuit.steps[x as usize].level;
                let switching = Switching {
                    rounding: None,
                    ..self.switching(level)
                };
                let two = same(Estimate { size: 2, ..a.known });
                let switched = two.with(|x| self.draws.switched(x, number, &switching));
                self.rescaled(number, &switched)?
            }
            Operation::Rescale(_) => self.rescaled(number, a)?,
            // Its bound is a certain one: nothing is taken as independent.
            Operation::Bootstrap(_) => Value {
                known: self.walk.refreshed(&a.whole(), step.level)?,
                encoded: Affine::default(),
                drawn: Affine::default(),
            },
            Operation::Rotate(_, by) => {
                let (place, width) = (self.draws.shift(by), self.draws.width);
                let switching = self.switching(step.level);
                a.mapped(a.known, |x| x.moved(place, width))
                    .with(|x| self.draws.switched(x, number, &switching))
            }
            Operation::LinearTransform(_, transform) => {
                self.transformed(number, a, transform, step.level)
            }
            Operation::ModDrop(_) => same(e.drop_to(&a.known, step.level as usize)),
            Operation::Within(_, promise) if self.walk.promises || promise.everywhere => {
                let message = a.known.message.min(promise.bound);
                let (log2_error, own) = (promised_error(promise, a.known.scale), a.whole());
                if own.log2_error <= log2_error {
                    return Ok(same(Estimate { message, ..a.known }));
                }
                // Of what the error is made is not promised.
                Value {
                    known: Estimate {
                        message,
                        log2_error,
                        ..own
                    },
                    encoded: Affine::default(),
                    drawn: Affine::default(),
                }
            }
            Operation::Within(..) | Operation::Negate(_) => same(a.known),
            // Fresh ones have no operands; BFV alone has rows to swap, as was checked.
            Operation::Input | Operation::EncryptZero | Operation::SwapRows(_) => same(a.known),
        })
    }

    /// Rounding n coefficients by up to 1/2 changes all slots of m inputs by a vector of length √(mn/2 · n/4) at most.
    fn encrypted(&mut self, number: usize, step: &Step) -> Result<Value, ckks::Error> {
        let (e, level) = (self.walk.estimator, step.level as usize);
        let circuit = self.walk.plaintexts.circuit;
        let bound = if step.operation.is_input() {
            self.inputs += 1;
            let given = circuit.inputs.get(self.inputs - 1);
            given.copied().unwrap_or(f64::INFINITY)
        } else {
            0.0
        };
        if let Some(known) = self.walk.received(number, step) {
            // What made it may have drawn what is drawn here: nothing is taken as independent.
            return Ok(Value {
                known,
                encoded: Affine::default(),
                drawn: Affine::default(),
            });
        }
        let known = e.encode_rounded(bound, level, step.scale, f64::NEG_INFINITY);
        let fresh = match circuit.encryption {
            Encryption::Secret if step.operation.is_input() => e.log2_fresh_secret(),
            Encryption::Secret | Encryption::Public => e.log2_fresh_public(),
            Encryption::Extended => e.log2_fresh_extended()?,
        };
        let (n, count) = (e.n() as f64, circuit.inputs.len() as f64);
        let rounding = match bound > 0.0 {
            true => (n * (count / 8.0).sqrt()).log2(),
            false => f64::NEG_INFINITY,
        };
        let draw = self.draws.origins.draw(Event::Fresh(number));
        Ok(Value {
            known: Estimate { size: 2, ..known },
            encoded: Affine::of(draw, rounding),
            drawn: Affine::of(draw, fresh),
        })
    }

    fn rescaled(&mut self, number: usize, a: &Value) -> Result<Value, ckks::Error> {
        let (e, known) = (self.walk.estimator, a.known);
        let divisor = e.log2_divisor(known.level)?;
        let divided = Estimate {
            log2_error: known.log2_error - divisor,
            scale: known.scale / divisor.exp2(),
            level: known.level - 1,
            ..known
        };
        let divided = a.mapped(divided, |x| x.scaled(-divisor));
        let rounding = e.log2_rounding(known.size);
        Ok(divided.with(|x| self.draws.rounded(x, number, rounding)))
    }

    fn transformed(&mut self, number: usize, a: &Value, transform: u32, level: u32) -> Value {
        let circuit = self.walk.plaintexts.circuit;
        let made = &circuit.transforms[transform as usize];
        let scale = made.scale;
        let encoded: Vec<Option<Estimate>> = made
            .terms()
            .map(|term| {
                let plaintext = term.plaintext.map(|number| Plaintext { number, scale });
                plaintext.map(|p| self.walk.encoded(p, level))
            })
            .collect();
        let factors: Vec<f64> = encoded
            .iter()
            .map(|p| p.map_or(1.0, |p| log2_factor(&p).exp2()))
            .collect();
        // In values: what rounds plaintexts is no part of the message.
        let exact: Vec<f64> = encoded
            .iter()
            .map(|p| p.map_or(1.0, |p| p.message))
            .collect();
        let sum: f64 = exact.iter().sum();
        let rounding: f64 = encoded.iter().flatten().map(|p| p.log2_error.exp2()).sum();
        let norms = self.walk.plaintexts.norms(transform);
        let sum = norms.map_or(sum, |norms| norms.sum.min(sum));
        // The norms of encoded plaintexts: no slot has more of a rounding than the largest one.
        let encoded_norms = norms.map(|norms| Norms {
            sum: norms.sum * scale + rounding,
            square: norms.square * scale + rounding,
        });
        let worst = log2_add(
            a.known.log2_error + (sum * scale + rounding).log2(),
            a.log2_message() + rounding.log2(),
        );
        let known = Estimate {
            message: a.known.message * sum,
            log2_error: worst,
            scale: a.known.scale * scale,
            ..a.known
        };
        let switching = self.switching(level);
        let (terms, width) = (self.draws.terms(made, &factors), self.draws.width);
        a.mapped(known, |x| x.transformed(&terms, encoded_norms, width))
            .with(|x| {
                let draws = &mut self.draws;
                draws.switched_inside(x, number, &factors, encoded_norms, &switching)
            })
    }
}

/// log2 of the largest slot of an encoded plaintext.
fn log2_factor(p: &Estimate) -> f64 {
    log2_add((p.message * p.scale).log2(), p.log2_error)
}

fn product(e: &Estimator, a: &Value, b: &Value) -> Value {
    let known = e.multiply(&a.known, &b.known);
    let known = Estimate {
        log2_error: log2_add(known.log2_error, a.log2_error() + b.log2_error()),
        ..known
    };
    let of_b = b.mapped(b.known, |x| x.scaled(a.log2_message()));
    a.mapped(a.known, |x| x.scaled(b.log2_message()))
        .plus(&of_b, known)
}

/// An exact integer times a value; 0 times it is no more than it.
fn repeated(a: &Value, count: u64) -> Value {
    let factor = count.max(1) as f64;
    let known = Estimate {
        message: a.known.message * factor,
        log2_error: a.known.log2_error + factor.log2(),
        ..a.known
    };
    a.mapped(known, |x| x.scaled(factor.log2()))
}
