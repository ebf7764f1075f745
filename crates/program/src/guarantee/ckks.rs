// SPDX-License-Identifier: Apache-2.0
//! Errors of CKKS: bounds on values and errors, along the steps.

use super::Bound;
use super::circuit::{Failure, Plaintexts, operands};
use super::text::three_digits;
use crate::handed::Received;
use crate::program::Encryption;
use crate::step::{Operation, Plaintext, Promise, Step};
use crate::transform::Term;
use ckks::Publication;
use ckks::noise::{Estimate, Estimator};
use rlwe::noise::log2_add;
use std::f64::consts::LN_2;

/// Two walks: with the author's promises for the error of the slots that matter, and for overflow without those that
/// leave out slots, since the other slots hold other values and would spoil the rest if they wrapped.
pub fn bound(plaintexts: &Plaintexts<'_>, estimator: &Estimator) -> Result<Bound, Failure> {
    of_results(plaintexts, estimator, |promises| {
        let walk = Walk {
            plaintexts,
            estimator,
            promises,
        };
        let steps = walk.run()?;
        let outputs = plaintexts.circuit.outputs.iter();
        let results = outputs.map(|&output| steps[output as usize]).collect();
        Ok(Walked { steps, results })
    })
}

/// What a walk finds.
pub(super) struct Walked {
    /// The value of each step, in all of its slots.
    pub steps: Vec<Estimate>,
    /// That of each output, in the slots that are read.
    pub results: Vec<Estimate>,
}

/// The bound from the values of a walk, with all promises or without those that leave out slots.
pub(super) fn of_results(
    plaintexts: &Plaintexts<'_>,
    estimator: &Estimator,
    walk: impl Fn(bool) -> Result<Walked, Failure>,
) -> Result<Bound, Failure> {
    let circuit = plaintexts.circuit;
    let Walked { steps, results } = walk(true)?;
    let errors = results
        .iter()
        .map(|value| known(estimator.log2_slot_error(value)));
    let bits = errors.fold(f64::NEG_INFINITY, f64::max);
    let partial = |step: &Step| matches!(step.operation, Operation::Within(_, p) if !p.everywhere);
    let (overflow_bits, step) = if circuit.steps.iter().any(partial) {
        fullest(estimator, &walk(false)?.steps)
    } else {
        fullest(estimator, &steps)
    };
    Ok(Bound {
        bits,
        overflow_bits,
        step,
    })
}

/// log2 of the factor by which publishing raises the bound on a slot's error: the largest of the n/2 slots of the added
/// noise stays below sqrt(n (ln(n/2) + failure_bits ln 2)) deviations of a coefficient.
pub fn log2_publication(n: usize, failure_bits: u32) -> f64 {
    let tail = (n as f64 / 2.0).ln() + f64::from(failure_bits) * LN_2;
    (Publication::with_slot_error(1.0).sigma(1.0) * (n as f64 * tail).sqrt()).log2()
}

/// NaN comes from values and errors beyond the range of doubles.
fn known(log2: f64) -> f64 {
    if log2.is_nan() { f64::INFINITY } else { log2 }
}

/// The step that comes nearest to half its modulus, and by how many bits it exceeds it;
/// there is room for the scale itself.
fn fullest(estimator: &Estimator, values: &[Estimate]) -> (f64, usize) {
    let over = |value: &Estimate| {
        let error = estimator.log2_slot_error(value);
        let content = log2_add(value.message.max(1.0).log2(), error);
        known(content + value.scale.log2() + 1.0 - estimator.log2_modulus(value.level))
    };
    let mut fullest = (f64::NEG_INFINITY, 0);
    for (number, value) in values.iter().enumerate() {
        let over = over(value);
        if over > fullest.0 {
            fullest = (over, number);
        }
    }
    fullest
}

/// log2 of the error that a promise leaves, at a scale.
pub(super) fn promised_error(promise: Promise, scale: f64) -> f64 {
    promise.error.log2() + scale.log2()
}

/// Why a step has no estimate.
pub(super) fn failed(step: usize, error: &ckks::Error) -> Failure {
    let message = error.to_string();
    Failure { step, message }
}

pub(super) struct Walk<'a> {
    pub plaintexts: &'a Plaintexts<'a>,
    pub estimator: &'a Estimator,
    /// Whether promises that leave out slots count.
    pub promises: bool,
}

impl Walk<'_> {
    pub fn run(&self) -> Result<Vec<Estimate>, Failure> {
        let circuit = self.plaintexts.circuit;
        let mut values = Vec::with_capacity(circuit.steps.len());
        let mut inputs = circuit.inputs.iter().copied();
        for (number, step) in circuit.steps.iter().enumerate() {
            let value = if step.operation.is_input() {
                let bound = inputs.next().unwrap_or(f64::INFINITY);
                match self.received(number, step) {
                    Some(value) => Ok(value),
                    None => self.encrypted(bound, step),
                }
            } else if step.operation.encrypts() {
                self.encrypted(0.0, step)
            } else {
                self.applied(step, &values)
            };
            values.push(value.map_err(|e| failed(number, &e))?);
        }
        Ok(values)
    }

    /// The estimate of an input that another program made. Its magnitude without promises holds its error.
    pub fn received(&self, input: usize, step: &Step) -> Option<Estimate> {
        let Received::Reals {
            log2_error,
            magnitude,
            everywhere,
        } = self.plaintexts.circuit.received(input)?
        else {
            return None;
        };
        Some(Estimate {
            message: if self.promises { magnitude } else { everywhere },
            log2_error: log2_error + step.scale.log2(),
            scale: step.scale,
            level: step.level as usize,
            size: 2,
        })
    }

    /// Encrypted messages are not measured, so their rounding is the worst case; a zero is not rounded.
    fn encrypted(&self, bound: f64, step: &Step) -> Result<Estimate, ckks::Error> {
        let (e, level) = (self.estimator, step.level as usize);
        let encoded = if bound == 0.0 {
            e.encode_rounded(bound, level, step.scale, f64::NEG_INFINITY)
        } else {
            e.encode(bound, level, step.scale)
        };
        Ok(match self.plaintexts.circuit.encryption {
            Encryption::Secret if step.operation.is_input() => e.encrypt_secret(&encoded),
            Encryption::Secret | Encryption::Public => e.encrypt_public(&encoded),
            Encryption::Extended => e.encrypt_extended(&encoded)?,
        })
    }

    fn applied(&self, step: &Step, values: &[Estimate]) -> Result<Estimate, ckks::Error> {
        let e = self.estimator;
        let [Some(a), b] = operands(step, values) else {
            unreachable!("what has no operands is an encryption")
        };
        Ok(match step.operation {
            Operation::Add(..) | Operation::Sub(..) => e.add(a, b.unwrap_or(a)),
            Operation::Multiply(..) | Operation::Square(_) => e.multiply(a, b.unwrap_or(a)),
            Operation::AddPlain(_, p) | Operation::SubPlain(_, p) => {
                e.add(a, &self.encoded(p, step.level))
            }
            Operation::MultiplyPlain(_, p) => match self.plaintexts.circuit.factor(p) {
                Some(factor) => repeated(e, *a, factor.unsigned_abs()),
                None => e.multiply(a, &self.encoded(p, step.level)),
            },
            Operation::Relinearize(_) => e.relinearize(a),
            Operation::RelinearizeRescale(_) => e.relinearize_rescale(a),
            Operation::Bootstrap(_) => self.refreshed(a, step.level)?,
            Operation::LinearTransform(_, number) => self.transformed(a, number, step.level),
            Operation::Rotate(..) => e.rotate(a),
            Operation::Rescale(_) => e.rescale(a)?,
            Operation::ModDrop(_) => e.drop_to(a, step.level as usize),
            Operation::Within(_, promise) if self.promises || promise.everywhere => Estimate {
                message: a.message.min(promise.bound),
                log2_error: a.log2_error.min(promised_error(promise, a.scale)),
                ..*a
            },
            Operation::Within(..) | Operation::Negate(_) => *a,
            // Fresh ones have no operands; BFV alone has rows to swap, as was checked.
            Operation::Input | Operation::EncryptZero | Operation::SwapRows(_) => *a,
        })
    }

    /// A refreshed value: refused where value and error may exceed the bound that the bootstrapping was made for.
    pub fn refreshed(&self, a: &Estimate, level: u32) -> Result<Estimate, ckks::Error> {
        let refuse = |what, got, allowed| ckks::Error::Bootstrap { what, got, allowed };
        let Some(refresh) = self.plaintexts.circuit.refresh else {
            let what = "the bootstrapping of the program";
            return Err(refuse(
                what,
                "none".into(),
                "one where ciphertexts are refreshed".into(),
            ));
        };
        // Of another scale than the set's, a value counts as larger, and its share of the noise too.
        let off = (a.scale / refresh.scale).log2().abs().exp2();
        let error = self.estimator.log2_slot_error(a).exp2();
        let most = (a.message + error) * off;
        if most > refresh.bound {
            let what = "the largest value that is refreshed, error included,";
            let allowed = format!("at most {}, the bound of the bootstrapping", refresh.bound);
            return Err(refuse(what, three_digits(most), allowed));
        }
        let scale = refresh.scale;
        Ok(Estimate {
            message: a.message,
            log2_error: (error + refresh.added * off * off).log2() + scale.log2(),
            scale,
            level: level as usize,
            size: 2,
        })
    }

    fn transformed(&self, a: &Estimate, number: u32, level: u32) -> Estimate {
        let transform = &self.plaintexts.circuit.transforms[number as usize];
        let scale = transform.scale;
        let factor = |number| self.encoded(Plaintext { number, scale }, level);
        let term = |term: &Term| (term.rotation != 0, term.plaintext.map(factor));
        let giants = transform.giants.iter().map(|giant| {
            let terms: Vec<_> = giant.terms.iter().map(term).collect();
            (giant.rotation != 0, terms)
        });
        self.estimator
            .linear_transform(a, &giants.collect::<Vec<_>>())
    }

    /// The encoding of a plaintext at a level.
    pub fn encoded(&self, plaintext: Plaintext, level: u32) -> Estimate {
        let (circuit, e) = (self.plaintexts.circuit, self.estimator);
        let (bound, scale) = (circuit.bound_of(plaintext), plaintext.scale);
        let rounding = match (circuit.factor(plaintext), self.plaintexts.effect(plaintext)) {
            (Some(_), _) => f64::NEG_INFINITY,
            (None, Some(effect)) => effect.log2(),
            (None, None) => e.log2_worst_rounding(),
        };
        let rounding = match circuit.is_uniform(plaintext) {
            true => rounding.min(e.log2_uniform_rounding(bound, scale)),
            false => rounding,
        };
        e.encode_rounded(bound, level as usize, scale, rounding)
    }
}

/// A bound on `count` times a value: an exact integer adds no rounding, and 0 times it is no more than it.
fn repeated(estimator: &Estimator, value: Estimate, mut count: u64) -> Estimate {
    let (mut total, mut block) = (None, value);
    while count > 0 {
        if count & 1 == 1 {
            total = Some(total.map_or(block, |total| estimator.add(&total, &block)));
        }
        block = estimator.add(&block, &block);
        count >>= 1;
    }
    total.unwrap_or(value)
}
