// SPDX-License-Identifier: Apache-2.0
//! Probable noise of BFV. Amplitudes are deviations of a coefficient; how many powers of the secret noise holds is that
//! of its worst part, as in the certain bound.

use super::super::Bound;
use super::super::bfv::{MAX_FACTORS, Walk, failed, poorest, received};
use super::super::circuit::{Failure, Plaintexts};
use super::origins::Event;
use super::{Draws, Switching, along, operand};
use crate::program::Encryption;
use crate::step::{Operation, Plaintext, Step};
use bfv::noise::Estimator;
use rlwe::noise::{Affine, Noise};

/// The noise budget of the poorest result.
pub fn bound(plaintexts: &Plaintexts<'_>, estimator: &Estimator) -> Result<Bound, Failure> {
    let circuit = plaintexts.circuit;
    let walk = Walk {
        plaintexts,
        estimator,
    };
    let mut probable = Probable {
        walk,
        draws: Draws::new(circuit, estimator.n()),
    };
    let values = along(
        circuit,
        |number, values| {
            let value = probable.applied(number, &circuit.steps[number], values);
            value.map(limited).map_err(|error| failed(number, &error))
        },
        Value::noise,
    )?;
    poorest(circuit, estimator, &values)
}

#[derive(Clone)]
struct Value {
    drawn: Affine,
    factors: u32,
}

impl Value {
    fn noise(&self) -> Noise {
        Noise {
            log2_variance: 2.0 * self.drawn.log2_total(),
            factors: self.factors,
        }
    }

    fn scaled(&self, log2_gain: f64) -> Self {
        Self {
            drawn: self.drawn.scaled(log2_gain / 2.0),
            factors: self.factors,
        }
    }
}

fn limited(value: Value) -> Value {
    if value.factors <= MAX_FACTORS {
        return value;
    }
    Value {
        drawn: Affine::tied(f64::INFINITY),
        factors: MAX_FACTORS,
    }
}

fn log2_deviation(noise: Noise) -> f64 {
    noise.log2_variance / 2.0
}

struct Probable<'a> {
    walk: Walk<'a>,
    draws: Draws<'a>,
}

impl Probable<'_> {
    fn applied(
        &mut self,
        number: usize,
        step: &Step,
        values: &[Option<Value>],
    ) -> Result<Value, bfv::Error> {
        if step.operation.facts().operands == 0 {
            return self.encrypted(number, step);
        }
        let (e, a) = (self.walk.estimator, operand(step, values, 0));
        let limbs = step.level as usize + 1;
        let at_least_one = |drawn| Value {
            drawn,
            factors: a.factors.max(1),
        };
        Ok(match step.operation {
            Operation::Add(..) | Operation::Sub(..) => {
                let b = operand(step, values, 1);
                Value {
                    drawn: a.drawn.plus(&b.drawn),
                    factors: a.factors.max(b.factors),
                }
            }
            Operation::AddPlain(..) | Operation::SubPlain(..) => {
                // The plaintext decides how it is rounded.
                let rounding = Affine::tied(log2_deviation(e.plain_rounding()));
                Value {
                    drawn: a.drawn.plus(&rounding),
                    factors: a.factors,
                }
            }
            Operation::Multiply(x, y) => {
                let b = operand(step, values, 1);
                self.product(
                    number,
                    a,
                    b,
                    self.draws.origins.of(y.max(x) as usize),
                    limbs,
                )?
            }
            Operation::Square(x) => {
                self.product(number, a, a, self.draws.origins.of(x as usize), limbs)?
            }
            Operation::MultiplyPlain(_, p) => a.scaled(self.walk.gain(p).log2),
            Operation::LinearTransform(_, transform) => {
                at_least_one(self.transformed(number, &a.drawn, transform, limbs)?)
            }
            Operation::Relinearize(_) | Operation::Rotate(..) | Operation::SwapRows(_) => {
                let switching = self.switching(limbs)?;
                at_least_one(self.draws.switched(&a.drawn, number, &switching))
            }
            Operation::ModDrop(x) => {
                let top = self.walk.plaintexts.circuit.steps[x as usize].level as usize + 1;
                self.divided(number, a.clone(), top, limbs, usize::from(step.size))?
            }
            Operation::Negate(_) | Operation::Within(..) => a.clone(),
            // Fresh ones have no operands; CKKS alone has the others, as was checked.
            Operation::Input
            | Operation::EncryptZero
            | Operation::Rescale(_)
            | Operation::RelinearizeRescale(_)
            | Operation::Bootstrap(_) => a.clone(),
        })
    }

    /// A zero below the top level is encrypted there and switched down.
    fn encrypted(&mut self, number: usize, step: &Step) -> Result<Value, bfv::Error> {
        let e = self.walk.estimator;
        if let Some(noise) = received(self.walk.plaintexts.circuit, number) {
            // What made it may have drawn what is drawn here: nothing is taken as independent.
            return Ok(Value {
                drawn: Affine::tied(log2_deviation(noise)),
                factors: noise.factors,
            });
        }
        let fresh = match self.walk.plaintexts.circuit.encryption {
            Encryption::Secret if step.operation.is_input() => e.fresh_symmetric(),
            Encryption::Secret | Encryption::Public => e.fresh_public(),
            Encryption::Extended => e.fresh_extended()?,
        };
        let drawn = self.draws.with(
            &Affine::default(),
            Event::Fresh(number),
            log2_deviation(fresh),
        );
        let value = Value {
            drawn,
            factors: fresh.factors,
        };
        self.divided(number, value, e.data_primes(), step.level as usize + 1, 2)
    }

    /// Primes divided out, one after the other, each time with a rounding.
    fn divided(
        &mut self,
        number: usize,
        mut value: Value,
        top: usize,
        limbs: usize,
        size: usize,
    ) -> Result<Value, bfv::Error> {
        let (e, mut rounding) = (self.walk.estimator, Noise::NONE);
        for limbs in (limbs + 1..=top).rev() {
            let divisor = e.log2_divisor(limbs)?;
            value = value.scaled(-2.0 * divisor);
            rounding = rounding.scaled(-divisor).plus(e.rounding(size));
        }
        if rounding != Noise::NONE {
            value.drawn = self
                .draws
                .rounded(&value.drawn, number, log2_deviation(rounding));
            value.factors = value.factors.max(rounding.factors);
        }
        Ok(value)
    }

    fn switching(&self, limbs: usize) -> Result<Switching, bfv::Error> {
        let e = self.walk.estimator;
        Ok(Switching {
            products: log2_deviation(e.key_products(limbs)?),
            rounding: e.divides().then(|| log2_deviation(e.rounding(2))),
        })
    }

    /// As [`Estimator::multiply`], of factors with two parts.
    fn product(
        &mut self,
        number: usize,
        a: &Value,
        b: &Value,
        lifted: u32,
        limbs: usize,
    ) -> Result<Value, bfv::Error> {
        let e = self.walk.estimator;
        let lift = e.rounding(2);
        let b = Value {
            drawn: self
                .draws
                .with(&b.drawn, Event::Lifted(lifted), log2_deviation(lift)),
            factors: b.factors.max(lift.factors),
        };
        let [of_a, of_b] = [a, &b].map(|v| v.scaled(e.product_gain(v.factors, 2).log2).drawn);
        let both = a.noise().through(e.second_order_gain(b.noise(), limbs)?);
        let both = Affine::tied(log2_deviation(both));
        let rounding = e.rounding(3);
        let drawn = of_a.plus(&of_b).plus(&both);
        Ok(Value {
            drawn: self.draws.rounded(&drawn, number, log2_deviation(rounding)),
            factors: (a.factors.max(b.factors) + 1).max(rounding.factors),
        })
    }

    fn transformed(
        &mut self,
        number: usize,
        a: &Affine,
        transform: u32,
        limbs: usize,
    ) -> Result<Affine, bfv::Error> {
        let made = &self.walk.plaintexts.circuit.transforms[transform as usize];
        let scale = made.scale;
        let factor = |number| (self.walk.gain(Plaintext { number, scale }).log2 / 2.0).exp2();
        let factors: Vec<f64> = made
            .terms()
            .map(|term| term.plaintext.map_or(1.0, factor))
            .collect();
        let switching = self.switching(limbs)?;
        // Norms are those of slots modulo t, which say nothing of the roots.
        let moved = a.transformed(&self.draws.terms(made, &factors), None, self.draws.width);
        Ok(self
            .draws
            .switched_inside(&moved, number, &factors, None, &switching))
    }
}
