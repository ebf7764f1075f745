// SPDX-License-Identifier: Apache-2.0
//! The noise guarantee: the estimates of the schemes, carried along the steps. A compiler asks for it while it searches
//! parameters ([`Circuit`]), a reader recomputes it ([`Program::check_guarantee`]).
//!
//! The effect of a plaintext depends on its values: multiplying by it raises BFV noise by its gain, encoding it for
//! CKKS rounds its coefficients. Both have a worst case that only contrived values reach, and a limit that ordinary
//! ones stay below (but for one in 2^40). [`Assume`] says which of them a bound holds for; with the smaller limits a
//! program's plaintexts are measured before they are used ([`Effects`]).

mod bfv;
mod bound;
mod circuit;
mod ckks;
mod measure;
mod probable;
mod promise;
mod ranges;
mod results;
mod text;
mod walk;

pub use bound::{Assume, Bound, Effects};
pub use circuit::{Circuit, Estimator, PlaintextFacts};
pub use ckks::log2_publication;
pub use ranges::Ranges;

use crate::Error;
use crate::expression::{Numbers, PlainOp};
use crate::handed::Received;
use crate::index_map::IndexMap;
use crate::parameters::Parameters;
use crate::program::{Argument, Program, Range, Strength};
use std::borrow::Cow;

impl Program {
    /// The program as far as its noise goes.
    pub fn circuit(&self) -> Circuit<'_> {
        Circuit {
            exact: self.parameters.plain_modulus().is_some(),
            encryption: self.encryption,
            inputs: self.input_bounds().collect(),
            received: self.received(),
            plaintexts: self.facts(),
            transforms: Cow::Borrowed(&self.transforms),
            refresh: None,
            effort: None,
            ranges: Ranges::default(),
            steps: Cow::Borrowed(&self.steps),
            outputs: Cow::Borrowed(&self.outputs),
        }
    }

    /// The plaintexts whose values bear on the noise, each with the level of the first step that uses it.
    pub fn encodings(&self) -> Vec<(u32, f64, u32)> {
        self.circuit().encodings()
    }

    fn facts(&self) -> Vec<PlaintextFacts> {
        let mut constant: Vec<bool> = Vec::with_capacity(self.expressions.len());
        for expression in &self.expressions {
            let operation = &expression.operation;
            let operands = operation.operands();
            let known = operands.iter().all(|&a| constant[a as usize]);
            constant.push(known && !matches!(operation, PlainOp::Argument(_)));
        }
        let facts = self.plaintexts.iter().map(|source| {
            let operation = &self.expressions[source.expression as usize].operation;
            PlaintextFacts {
                constant: constant[source.expression as usize],
                integer: match operation {
                    PlainOp::Constant(numbers) if self.parameters.has_slots() => {
                        one_integer(numbers, &source.slots)
                    }
                    PlainOp::Constant(numbers) => one_term(numbers, &source.slots),
                    _ => None,
                },
                uniform: self.parameters.plain_modulus().is_none()
                    && is_uniform(operation, &source.slots),
                bound: source.bound,
            }
        });
        facts.collect()
    }

    /// The largest magnitude of every ciphertext that is sent, in order.
    fn input_bounds(&self) -> impl Iterator<Item = f64> + '_ {
        let slots = self.parameters.slots();
        let bound = |argument: &Argument| match argument.range {
            Range::Reals { low, high } => low.abs().max(high.abs()),
            Range::Integers { low, high } => low.unsigned_abs().max(high.unsigned_abs()) as f64,
        };
        self.arguments.iter().flat_map(move |argument| {
            std::iter::repeat_n(bound(argument), argument.ciphertexts(slots))
        })
    }

    /// The estimator of the program's set, for the failure probability that is promised.
    pub fn estimator(&self) -> Estimator {
        let bits = self.noise_failure_bits();
        match &self.parameters {
            Parameters::Ckks(p) => Estimator::Ckks(p.estimator().clone().with_failure_bits(bits)),
            Parameters::Bfv(p) => {
                Estimator::Bfv(::bfv::noise::Estimator::new(p).with_failure_bits(bits))
            }
            Parameters::BfvWide(p) => {
                Estimator::Bfv(::bfv::noise::Estimator::new(p).with_failure_bits(bits))
            }
        }
    }

    /// log2 of the inverse probability that noise exceeds its bound: where refreshes may fail, half of what the program
    /// states is theirs.
    pub(crate) fn noise_failure_bits(&self) -> u32 {
        self.guarantee.failure_bits + u32::from(self.refreshes() > 0)
    }

    /// The circuit with what is known of its refreshes, and of its values where the guarantee needs it.
    fn known(&self) -> Result<Circuit<'_>, Error> {
        let mut circuit = self.circuit();
        if let Some(own) = self.bootstrapping.as_ref().filter(|_| self.refreshes() > 0) {
            circuit.refresh = Some(own.refresh(self.noise_failure_bits())?);
        }
        if self.guarantee.strength == Strength::Probable {
            circuit.ranges = self.ranges()?;
        }
        Ok(circuit)
    }

    /// The limit that the effects of ordinary plaintexts stay below.
    pub fn ordinary_effect(&self) -> f64 {
        self.estimator().ordinary_effect()
    }

    /// Bound on the results, for plaintexts that were measured and others as assumed. The program was checked
    /// ([`Program::check`]).
    ///
    /// # Errors
    /// [`Error::Step`] where there is no estimate.
    pub fn bound(&self, assume: Assume, measured: Option<&Effects>) -> Result<Bound, Error> {
        self.bound_of(&self.known()?, assume, measured)
    }

    /// The same of its circuit with what is known of it, which takes longer to find than a bound.
    fn bound_of(
        &self,
        circuit: &Circuit<'_>,
        assume: Assume,
        measured: Option<&Effects>,
    ) -> Result<Bound, Error> {
        let strength = self.guarantee.strength;
        let bound = circuit.walked(&self.estimator(), strength, assume, measured);
        bound.map_err(|failure| self.at(failure.step, failure.message))
    }

    /// What a program that takes a result of this one may take for known of each output.
    ///
    /// # Errors
    /// [`Error::Step`] where there is no estimate.
    pub fn results(&self) -> Result<Vec<Received>, Error> {
        self.known()?
            .results(&self.estimator(), self.guarantee.bits)
    }
}

/// The integer below 2^31 that a map picks at every position.
fn one_integer(numbers: &Numbers, map: &IndexMap) -> Option<i64> {
    let number = |at: u32| match numbers {
        // A single value fills the shape.
        Numbers::Reals(v) => {
            let value = *v.get(at as usize).or(v.first())?;
            (value.fract() == 0.0 && value.abs() < LARGEST_FACTOR).then_some(value as i64)
        }
        Numbers::Integers(v) => {
            let value = *v.get(at as usize).or(v.first())?;
            (value.unsigned_abs() < LARGEST_FACTOR as u64).then_some(value)
        }
    };
    let mut picked = picked(map).map(|at| at.and_then(number));
    let first = picked.next()??;
    picked.all(|value| value == Some(first)).then_some(first)
}

/// Whether a map picks the same real number at every position: one element, or constants that are equal.
fn is_uniform(operation: &PlainOp, map: &IndexMap) -> bool {
    let mut picked = picked(map);
    let Some(first) = picked.next().flatten() else {
        return false;
    };
    match operation {
        PlainOp::Constant(Numbers::Reals(v)) => {
            // A single value fills the shape.
            let value = |at: u32| v.get(at as usize).or(v.first());
            picked.all(|at| at.is_some_and(|at| value(at) == value(first)))
        }
        _ => picked.all(|at| at == Some(first)),
    }
}

/// The elements that a map picks, `None` for zero; of a run that picks one element again and again only the first.
fn picked(map: &IndexMap) -> impl Iterator<Item = Option<u32>> + '_ {
    map.runs().iter().flat_map(|run| {
        let distinct = if run.step == 0 { 1 } else { run.length };
        (0..distinct).map(|offset| run.element(offset))
    })
}

/// c of a polynomial c·X^i, which raises noise as the integer c does: X^i moves coefficients and changes signs.
fn one_term(numbers: &Numbers, map: &IndexMap) -> Option<i64> {
    let Numbers::Integers(values) = numbers else {
        return None;
    };
    // A single value fills the shape.
    let value = |at: u32| values.get(at as usize).or(values.first()).copied();
    let mut terms = map.iter().flatten().filter_map(value).filter(|&v| v != 0);
    let first = terms.next().unwrap_or(0);
    terms.next().is_none().then_some(first)
}

/// Factors are below it.
const LARGEST_FACTOR: f64 = 2147483648.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_one_coefficient() {
        let values = Numbers::Integers(vec![0, -7, 9]);
        let term = |map: &[Option<u32>]| one_term(&values, &IndexMap::new(map.to_vec()).unwrap());
        assert_eq!(term(&[None, Some(0), Some(1), None]), Some(-7));
        assert_eq!(term(&[Some(0), None]), Some(0));
        assert_eq!(term(&[Some(1), Some(2)]), None);
        let filling = Numbers::Integers(vec![4]);
        assert_eq!(one_term(&filling, &IndexMap::identity(2).unwrap()), None);
        assert_eq!(one_term(&filling, &IndexMap::identity(1).unwrap()), Some(4));
        let reals = Numbers::Reals(vec![4.0]);
        assert_eq!(one_term(&reals, &IndexMap::identity(1).unwrap()), None);
    }

    #[test]
    fn a_factor_is_one_small_integer_in_every_slot() {
        let same = || IndexMap::new([Some(0); 4]).unwrap();
        let each = || IndexMap::identity(4).unwrap();
        let reals = |values: &[f64]| Numbers::Reals(values.to_vec());
        let integers = |values: &[i64]| Numbers::Integers(values.to_vec());
        assert_eq!(one_integer(&reals(&[-3.0]), &each()), Some(-3));
        assert_eq!(one_integer(&reals(&[7.0, 8.0, 7.0]), &same()), Some(7));
        assert_eq!(one_integer(&integers(&[0]), &same()), Some(0));
        assert_eq!(one_integer(&integers(&[5, 5, 5, 5]), &each()), Some(5));
        assert_eq!(one_integer(&integers(&[5, 5, 5, 6]), &each()), None);
        assert_eq!(one_integer(&reals(&[2.5]), &each()), None);
        let limit = 1_i64 << 31;
        assert_eq!(
            one_integer(&integers(&[1 - limit]), &same()),
            Some(1 - limit)
        );
        assert_eq!(one_integer(&integers(&[-limit]), &same()), None);
        assert_eq!(one_integer(&reals(&[limit as f64]), &same()), None);
        // A slot without an element is 0.
        let hole = IndexMap::new([Some(0), None, Some(0), Some(0)]).unwrap();
        assert_eq!(one_integer(&reals(&[3.0]), &hole), None);
    }

    #[test]
    fn a_uniform_plaintext_holds_one_real_number_in_every_slot() {
        let constant = |values: &[f64]| PlainOp::Constant(Numbers::Reals(values.to_vec()));
        let map = |elements: &[u32]| IndexMap::new(elements.iter().map(|&e| Some(e))).unwrap();
        assert!(is_uniform(&constant(&[0.1]), &map(&[0, 1, 2])));
        assert!(is_uniform(&constant(&[0.1, 7.0, 0.1]), &map(&[0, 2, 0])));
        assert!(!is_uniform(&constant(&[0.1, 7.0, 0.1]), &map(&[0, 1, 2])));
        assert!(is_uniform(&PlainOp::Argument(0), &map(&[1, 1, 1])));
        assert!(!is_uniform(&PlainOp::Argument(0), &map(&[1, 1, 2])));
        let hole = IndexMap::new([Some(0), None]).unwrap();
        assert!(!is_uniform(&constant(&[0.1]), &hole));
        assert!(!is_uniform(&constant(&[0.1]), &IndexMap::default()));
    }
}
