// SPDX-License-Identifier: Apache-2.0
//! Noise of BFV, along the steps.

use super::Bound;
use super::circuit::{Circuit, Failure, Plaintexts, operands};
use crate::handed::Received;
use crate::program::Encryption;
use crate::step::{Operation, Plaintext, Step};
use crate::transform::Term;
use bfv::noise::Estimator;
use rlwe::noise::{Gain, Noise};

/// More multiplications in a row than any modulus has room for: noise beyond them counts as infinite, which keeps the
/// time of a step bounded.
pub(super) const MAX_FACTORS: u32 = 2048;

/// The noise budget of the poorest result.
pub fn bound(plaintexts: &Plaintexts<'_>, estimator: &Estimator) -> Result<Bound, Failure> {
    let circuit = plaintexts.circuit;
    let walk = Walk {
        plaintexts,
        estimator,
    };
    poorest(circuit, estimator, &walk.run()?)
}

/// The noise budget of the poorest result.
pub(super) fn poorest(
    circuit: &Circuit<'_>,
    estimator: &Estimator,
    values: &[Noise],
) -> Result<Bound, Failure> {
    let mut poorest = Bound {
        bits: f64::INFINITY,
        overflow_bits: f64::NEG_INFINITY,
        step: 0,
    };
    for &output in circuit.outputs.iter() {
        let step = output as usize;
        let limbs = circuit.steps[step].level as usize + 1;
        let bits = estimator.budget(values[step], limbs);
        let bits = bits.map_err(|e| failed(step, &e))?;
        // NaN comes from noise beyond the range of doubles.
        let bits = if bits.is_nan() {
            f64::NEG_INFINITY
        } else {
            bits
        };
        if bits < poorest.bits {
            poorest = Bound {
                bits,
                step,
                ..poorest
            };
        }
    }
    Ok(poorest)
}

pub(super) fn failed(step: usize, error: &bfv::Error) -> Failure {
    let message = error.to_string();
    Failure { step, message }
}

/// The noise of an input that another program made.
pub(super) fn received(circuit: &Circuit<'_>, input: usize) -> Option<Noise> {
    match circuit.received(input) {
        Some(Received::Integers {
            log2_variance,
            factors,
        }) => Some(Noise {
            log2_variance,
            factors,
        }),
        _ => None,
    }
}

pub(super) struct Walk<'a> {
    pub plaintexts: &'a Plaintexts<'a>,
    pub estimator: &'a Estimator,
}

impl Walk<'_> {
    pub fn run(&self) -> Result<Vec<Noise>, Failure> {
        let steps = &self.plaintexts.circuit.steps;
        let mut values = Vec::with_capacity(steps.len());
        for (number, step) in steps.iter().enumerate() {
            let noise = self
                .applied(step, &values)
                .map_err(|e| failed(number, &e))?;
            values.push(if noise.factors > MAX_FACTORS {
                Noise {
                    log2_variance: f64::INFINITY,
                    factors: MAX_FACTORS,
                }
            } else {
                noise
            });
        }
        Ok(values)
    }

    fn applied(&self, step: &Step, values: &[Noise]) -> Result<Noise, bfv::Error> {
        let (e, circuit) = (self.estimator, self.plaintexts.circuit);
        let limbs = step.level as usize + 1;
        let (numbers, _) = step.operation.operands();
        let from = |index: usize| &circuit.steps[numbers[index] as usize];
        let [a, b] = operands(step, values);
        let Some(&a) = a else {
            // Inputs are the first steps.
            if let Some(noise) = received(circuit, values.len()) {
                return Ok(noise);
            }
            let fresh = match circuit.encryption {
                Encryption::Secret if step.operation.is_input() => e.fresh_symmetric(),
                Encryption::Secret | Encryption::Public => e.fresh_public(),
                Encryption::Extended => e.fresh_extended()?,
            };
            // A zero below the top level is encrypted there and switched down.
            return (limbs + 1..=e.data_primes())
                .rev()
                .try_fold(fresh, |noise, limbs| e.mod_switch(noise, limbs, 2));
        };
        let b = b.copied().unwrap_or(a);
        Ok(match step.operation {
            Operation::Add(..) | Operation::Sub(..) => e.add(a, b),
            Operation::AddPlain(..) | Operation::SubPlain(..) => e.add_plain(a),
            Operation::Multiply(..) | Operation::Square(_) => {
                // Both factors have two polynomials, as was checked.
                e.multiply(a, b, [2, 2], limbs)?
            }
            Operation::MultiplyPlain(_, p) => e.multiply_plain(a, self.gain(p)),
            Operation::LinearTransform(_, number) => self.transformed(a, number, limbs)?,
            Operation::Relinearize(_) | Operation::Rotate(..) | Operation::SwapRows(_) => {
                e.key_switch(a, limbs)?
            }
            Operation::ModDrop(_) => {
                let (top, size) = (from(0).level as usize + 1, usize::from(step.size));
                let dropped = (limbs + 1..=top).rev();
                dropped
                    .into_iter()
                    .try_fold(a, |noise, limbs| e.mod_switch(noise, limbs, size))?
            }
            Operation::Negate(_) | Operation::Within(..) => a,
            // Fresh ones have no operands; CKKS alone has the others, as was checked.
            Operation::Input
            | Operation::EncryptZero
            | Operation::Rescale(_)
            | Operation::RelinearizeRescale(_)
            | Operation::Bootstrap(_) => a,
        })
    }

    /// The gain of multiplying by a plaintext; a factor stays a constant polynomial.
    pub fn gain(&self, plaintext: Plaintext) -> Gain {
        match self.plaintexts.circuit.factor(plaintext) {
            Some(factor) => Gain {
                log2: 2.0 * (factor.unsigned_abs() as f64).max(1.0).log2(),
            },
            None => {
                let effect = self.plaintexts.effect(plaintext).map(|log2| Gain { log2 });
                effect.unwrap_or(self.estimator.any_plaintext())
            }
        }
    }

    fn transformed(&self, a: Noise, number: u32, limbs: usize) -> Result<Noise, bfv::Error> {
        let transform = &self.plaintexts.circuit.transforms[number as usize];
        let scale = transform.scale;
        let gain = |number| self.gain(Plaintext { number, scale });
        let term = |term: &Term| (term.rotation != 0, term.plaintext.map(gain));
        let giants = transform.giants.iter().map(|giant| {
            let terms: Vec<_> = giant.terms.iter().map(term).collect();
            (giant.rotation != 0, terms)
        });
        self.estimator
            .linear_transform(a, &giants.collect::<Vec<_>>(), limbs)
    }
}
