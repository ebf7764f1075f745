// SPDX-License-Identifier: Apache-2.0
//! Probable errors of CKKS. Amplitudes are bounds on |e(ζ)|, each at the tail of its own kind of draw: the root of
//! their squares is the bound of the sum.

use super::super::Bound;
use super::super::circuit::{Failure, Plaintexts};
use super::super::ckks::{Walk, Walked, failed, of_results, promised_error};
use super::origins::Event;
use super::{Draws, Switching, along, operand};
use crate::program::Encryption;
use crate::step::{Operation, Plaintext, Promise, Step};
use ckks::noise::{Estimate, Estimator};
use rlwe::noise::{Affine, Norms, log2_add};
use std::collections::HashMap;

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
    /// The message, and the error that is neither of the others: promised ones, roundings of plaintexts, products of
    /// errors.
    known: Estimate,
    /// The same with promised errors as part of the message: they are known slot by slot ([`Ranges::errors`]), and this
    /// is what is left. Of no meaning where they are not followed.
    ///
    /// [`Ranges::errors`]: super::super::Ranges::errors
    left: Estimate,
    /// From encoding what the client encrypts. Nothing is assumed of it: all inputs together are one vector of bounded
    /// length, whose coordinates are the slots, so squares of factors add by the Cauchy-Schwarz inequality.
    encoded: Affine,
    /// From what operations draw.
    drawn: Affine,
}

impl Value {
    /// What a client encrypts or another program made: nothing is promised before it.
    fn fresh(known: Estimate, encoded: Affine, drawn: Affine) -> Self {
        Self {
            known,
            left: known,
            encoded,
            drawn,
        }
    }

    /// log2 of an error in place of the known one with those of the other parts.
    fn with_parts(&self, log2_known: f64) -> f64 {
        let parts = [self.encoded.log2_total(), self.drawn.log2_total()];
        parts.into_iter().fold(log2_known, log2_add)
    }

    /// log2 of the whole error.
    fn log2_error(&self) -> f64 {
        self.with_parts(self.known.log2_error)
    }

    fn whole(&self) -> Estimate {
        Estimate {
            log2_error: self.log2_error(),
            ..self.known
        }
    }

    /// log2 of the known error in slots where promised errors do no more than `promised`, in units of the message.
    fn log2_known(&self, promised: f64) -> f64 {
        let followed = log2_add(
            self.left.log2_error,
            promised.log2() + self.known.scale.log2(),
        );
        // NaN where nothing is followed.
        self.known.log2_error.min(followed)
    }

    /// The whole in slots where promised errors do no more than `promised`.
    fn read(&self, promised: f64) -> Estimate {
        Estimate {
            log2_error: self.with_parts(self.log2_known(promised)),
            ..self.known
        }
    }

    /// The value with a bound on its message, and on what promised errors do to any slot of it.
    fn bounded(mut self, message: f64, promised: f64) -> Self {
        self.known.message = self.known.message.min(message);
        self.known.log2_error = self.log2_known(promised);
        self.left.message = self.known.message + promised;
        self
    }

    /// Another value whose parts are made of these.
    fn mapped(
        &self,
        known: impl Fn(&Estimate) -> Estimate,
        map: impl Fn(&Affine) -> Affine,
    ) -> Self {
        Self {
            known: known(&self.known),
            left: known(&self.left),
            encoded: map(&self.encoded),
            drawn: map(&self.drawn),
        }
    }

    fn plus(&self, other: &Self, known: impl Fn(&Estimate, &Estimate) -> Estimate) -> Self {
        Self {
            known: known(&self.known, &other.known),
            left: known(&self.left, &other.left),
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
    fn run(mut self) -> Result<Walked, Failure> {
        let (facts, promises) = (self.walk.plaintexts, self.walk.promises);
        let circuit = facts.circuit;
        let read = facts.read(promises);
        let mut results = HashMap::new();
        let steps = along(
            circuit,
            |number, values| {
                let value = self.applied(number, &circuit.steps[number], values);
                let value = value.map_err(|error| failed(number, &error))?;
                let most = facts.magnitude(number, promises);
                let value = value.bounded(most, facts.promised(number, promises));
                if let Some(&promised) = read.get(&(number as u32)) {
                    results.insert(number as u32, value.read(promised));
                }
                Ok(value)
            },
            Value::whole,
        )?;
        let results = circuit.outputs.iter().map(|output| results[output]);
        Ok(Walked {
            results: results.collect(),
            steps,
        })
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
        let same = |known: &dyn Fn(&Estimate) -> Estimate| a.mapped(known, Affine::clone);
        Ok(match step.operation {
            Operation::Add(..) | Operation::Sub(..) => {
                let b = operand(step, values, 1);
                a.plus(b, |a, b| e.add(a, b))
            }
            Operation::Multiply(..) | Operation::Square(_) => {
                product(e, a, operand(step, values, 1))
            }
            Operation::AddPlain(_, p) | Operation::SubPlain(_, p) => {
                let p = self.walk.encoded(p, step.level);
                same(&|a| e.add(a, &p))
            }
            Operation::MultiplyPlain(_, p) => match circuit.factor(p) {
                Some(factor) => repeated(a, factor.unsigned_abs()),
                None => {
                    let p = self.walk.encoded(p, step.level);
                    a.mapped(|a| e.multiply(a, &p), |x| x.scaled(log2_factor(&p)))
                }
            },
            Operation::Relinearize(_) => {
                let switching = self.switching(step.level);
                let two = same(&of_two_parts);
                two.with(|x| self.draws.switched(x, number, &switching))
            }
            Operation::RelinearizeRescale(x) => {
                let level = circuit.steps[x as usize].level;
                let switching = Switching {
                    rounding: None,
                    ..self.switching(level)
                };
                let two = same(&of_two_parts);
                let switched = two.with(|x| self.draws.switched(x, number, &switching));
                self.rescaled(number, &switched)?
            }
            Operation::Rescale(_) => self.rescaled(number, a)?,
            Operation::Bootstrap(_) => self.refreshed(a, step.level)?,
            Operation::Rotate(_, by) => {
                let (place, width) = (self.draws.shift(by), self.draws.width);
                let switching = self.switching(step.level);
                a.mapped(|a| *a, |x| x.moved(place, width))
                    .with(|x| self.draws.switched(x, number, &switching))
            }
            Operation::LinearTransform(_, transform) => {
                self.transformed(number, a, transform, step.level)
            }
            Operation::ModDrop(_) => same(&|a| e.drop_to(a, step.level as usize)),
            Operation::Within(_, promise) if self.walk.promises || promise.everywhere => {
                within(a, promise)
            }
            Operation::Within(..) | Operation::Negate(_) => same(&|a| *a),
            // Fresh ones have no operands; BFV alone has rows to swap, as was checked.
            Operation::Input | Operation::EncryptZero | Operation::SwapRows(_) => same(&|a| *a),
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
            return Ok(Value::fresh(known, Affine::default(), Affine::default()));
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
        Ok(Value::fresh(
            of_two_parts(&known),
            Affine::of(draw, rounding),
            Affine::of(draw, fresh),
        ))
    }

    /// A refreshed value. Its bound is a certain one: nothing is taken as independent.
    fn refreshed(&self, a: &Value, level: u32) -> Result<Value, ckks::Error> {
        let known = self.walk.refreshed(&a.whole(), level)?;
        let left = Estimate {
            log2_error: a.with_parts(a.left.log2_error),
            ..a.known
        };
        Ok(Value {
            left: self.walk.refreshed(&left, level).unwrap_or(known),
            ..Value::fresh(known, Affine::default(), Affine::default())
        })
    }

    fn rescaled(&mut self, number: usize, a: &Value) -> Result<Value, ckks::Error> {
        let (e, known) = (self.walk.estimator, a.known);
        let divisor = e.log2_divisor(known.level)?;
        let divided = |a: &Estimate| Estimate {
            log2_error: a.log2_error - divisor,
            scale: a.scale / divisor.exp2(),
            level: a.level - 1,
            ..*a
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
        let known = |a: &Estimate| Estimate {
            message: a.message * sum,
            log2_error: log2_add(
                a.log2_error + (sum * scale + rounding).log2(),
                log2_message(a) + rounding.log2(),
            ),
            scale: a.scale * scale,
            ..*a
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

/// log2 of the largest slot of a message, in units of its polynomial.
fn log2_message(a: &Estimate) -> f64 {
    (a.message * a.scale).log2()
}

fn of_two_parts(a: &Estimate) -> Estimate {
    Estimate { size: 2, ..*a }
}

fn product(e: &Estimator, a: &Value, b: &Value) -> Value {
    let errors = a.log2_error() + b.log2_error();
    let known = |a: &Estimate, b: &Estimate| {
        let product = e.multiply(a, b);
        Estimate {
            log2_error: log2_add(product.log2_error, errors),
            ..product
        }
    };
    let (of_a, of_b) = (log2_message(&a.known), log2_message(&b.known));
    let other = b.mapped(|b| *b, |x| x.scaled(of_a));
    a.mapped(|a| *a, |x| x.scaled(of_b)).plus(&other, known)
}

/// An exact integer times a value; 0 times it is no more than it.
fn repeated(a: &Value, count: u64) -> Value {
    let factor = count.max(1) as f64;
    let known = |a: &Estimate| Estimate {
        message: a.message * factor,
        log2_error: a.log2_error + factor.log2(),
        ..*a
    };
    a.mapped(known, |x| x.scaled(factor.log2()))
}

/// A value of which something is promised.
fn within(a: &Value, promise: Promise) -> Value {
    let known = Estimate {
        message: a.known.message.min(promise.bound),
        ..a.known
    };
    let log2_error = promised_error(promise, known.scale);
    if a.log2_error() > log2_error {
        // Of what the error is made is not promised.
        let known = Estimate {
            log2_error,
            ..known
        };
        let left = Estimate {
            log2_error: f64::NEG_INFINITY,
            ..known
        };
        return Value {
            left,
            ..Value::fresh(known, Affine::default(), Affine::default())
        };
    }
    // What earlier promises did is followed no further than to one that speaks of errors.
    let left = match promise.limits_errors() {
        true => known,
        false => a.left,
    };
    Value {
        known,
        left,
        ..a.mapped(|a| *a, Affine::clone)
    }
}
