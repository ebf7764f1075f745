// SPDX-License-Identifier: Apache-2.0
//! The noise guarantee, recomputed: the estimates of the schemes, carried along the steps.
//!
//! What a plaintext does depends on its values: multiplying by it raises BFV noise by its gain, encoding it for CKKS rounds
//! its coefficients. Both have a worst case that only contrived values reach, and a limit that ordinary ones stay below
//! (but for one in 2^40). [`Assume`] says which of them a bound holds for; with the smaller limits a program's plaintexts
//! are measured before they are used ([`Effects`]).

mod bfv;
mod ckks;
mod measure;
mod promise;
mod text;

use crate::Error;
use crate::expression::{Numbers, Operation as Plain};
use crate::index_map::IndexMap;
use crate::parameters::Parameters;
use crate::program::Program;
use crate::step::{Operation, Plaintext, Step};
use std::collections::{BTreeMap, HashSet};

/// Which plaintexts are taken to be the worst possible ones; the others are ordinary. Each includes those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assume {
    /// None.
    None,
    /// Those without arguments.
    Constants,
    /// All.
    All,
}

/// Measured plaintexts, by number and scale: log2 of the gain (BFV), or the rounding times the scale (CKKS).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects(BTreeMap<(u32, u64), f64>);

impl Effects {
    /// Adds what a plaintext encoded at a scale does.
    pub fn insert(&mut self, plaintext: u32, scale: f64, effect: f64) {
        self.0.insert((plaintext, scale.to_bits()), effect);
    }

    /// What a plaintext encoded at a scale does, if it was measured.
    pub fn get(&self, plaintext: u32, scale: f64) -> Option<f64> {
        self.0.get(&(plaintext, scale.to_bits())).copied()
    }

    /// The plaintext that does most, and how much.
    fn largest(&self) -> Option<(u32, f64)> {
        let effects = self
            .0
            .iter()
            .map(|(&(number, _), &effect)| (number, effect));
        effects.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// What a program's results are sure to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// CKKS: log2 of the largest error of a result. BFV: noise budget of the poorest result.
    pub bits: f64,
    /// CKKS: by how many bits the fullest step exceeds its modulus (below 0: room). BFV: −∞, its budget says all.
    pub overflow_bits: f64,
    /// CKKS: the fullest step. BFV: the poorest result.
    pub step: usize,
}

/// What is known of a plaintext whatever the arguments are.
struct Facts {
    /// No argument has part in it.
    constant: bool,
    /// The integer below 2^31 that every slot holds: a factor, which needs no scale.
    integer: Option<i64>,
}

/// What bounds reckon with: what was measured, else what is assumed.
struct Plaintexts<'a> {
    program: &'a Program,
    facts: Vec<Facts>,
    assume: Assume,
    measured: Option<&'a Effects>,
    ordinary: f64,
}

impl Plaintexts<'_> {
    /// The effect of a plaintext; `None` for the worst case.
    fn effect(&self, plaintext: Plaintext) -> Option<f64> {
        let measured = self
            .measured
            .and_then(|effects| effects.get(plaintext.number, plaintext.scale));
        let worst = match self.facts[plaintext.number as usize].constant {
            true => Assume::Constants,
            false => Assume::All,
        };
        measured.or((self.assume < worst).then_some(self.ordinary))
    }

    /// The integer a plaintext is, if it is encoded as one: neither spread nor rounded.
    fn factor(&self, plaintext: Plaintext) -> Option<i64> {
        let integer = self.facts[plaintext.number as usize].integer;
        integer.filter(|_| plaintext.scale == 1.0)
    }

    fn bound(&self, plaintext: Plaintext) -> f64 {
        self.program.plaintexts[plaintext.number as usize].bound
    }
}

impl Program {
    /// The plaintexts whose values bear on the noise, each with the level of the first step that uses it.
    pub fn encodings(&self) -> Vec<(u32, f64, u32)> {
        self.encoded(&self.facts())
    }

    fn encoded(&self, facts: &[Facts]) -> Vec<(u32, f64, u32)> {
        let exact = self.parameters.plain_modulus().is_some();
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for step in &self.steps {
            // BFV adds any plaintext with the same rounding.
            if exact
                && matches!(
                    step.operation,
                    Operation::AddPlain(..) | Operation::SubPlain(..)
                )
            {
                continue;
            }
            for plaintext in self.plaintexts_of(step) {
                let factor = facts[plaintext.number as usize].integer.is_some();
                let key = (plaintext.number, plaintext.scale.to_bits());
                if !(factor && plaintext.scale == 1.0) && seen.insert(key) {
                    found.push((plaintext.number, plaintext.scale, step.level));
                }
            }
        }
        found
    }

    fn facts(&self) -> Vec<Facts> {
        let mut constant: Vec<bool> = Vec::with_capacity(self.expressions.len());
        for expression in &self.expressions {
            let operation = &expression.operation;
            let operands = operation.operands();
            let known = operands.iter().all(|&a| constant[a as usize]);
            constant.push(known && !matches!(operation, Plain::Argument(_)));
        }
        let facts = self.plaintexts.iter().map(|source| Facts {
            constant: constant[source.expression as usize],
            integer: match &self.expressions[source.expression as usize].operation {
                Plain::Constant(numbers) => one_integer(numbers, &source.slots),
                _ => None,
            },
        });
        facts.collect()
    }

    /// The limit that the effects of ordinary plaintexts stay below.
    pub fn ordinary_effect(&self) -> f64 {
        let random = |n: usize, t: u64| rlwe::noise::Gain::random(n, t as f64 / 2.0).log2;
        match &self.parameters {
            Parameters::Ckks(p) => p.estimator().log2_random_rounding().exp2(),
            Parameters::Bfv(p) => random(p.n(), p.plain_modulus()),
            Parameters::BfvWide(p) => random(p.n(), p.plain_modulus()),
        }
    }

    /// What the results are sure to be, for plaintexts that were measured and others as assumed. The program was checked
    /// ([`Program::check`]).
    ///
    /// # Errors
    /// [`Error::Step`] where there is no estimate.
    pub fn bound(&self, assume: Assume, measured: Option<&Effects>) -> Result<Bound, Error> {
        let plaintexts = Plaintexts {
            program: self,
            facts: self.facts(),
            assume,
            measured,
            ordinary: self.ordinary_effect(),
        };
        match &self.parameters {
            Parameters::Ckks(p) => ckks::bound(&plaintexts, p),
            Parameters::Bfv(p) => bfv::bound(&plaintexts, p),
            Parameters::BfvWide(p) => bfv::bound(&plaintexts, p),
        }
    }
}

/// The operands of a step among the values of those before it.
fn operands<'a, T>(step: &Step, values: &'a [T]) -> [Option<&'a T>; 2] {
    let (numbers, count) = step.operation.operands();
    [0, 1].map(|i| (i < count).then(|| &values[numbers[i] as usize]))
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
    let mut picked = map.runs().iter().flat_map(|run| {
        // All positions of a run of step 0 take one element.
        let distinct = if run.step == 0 || numbers.len() == 1 {
            1
        } else {
            run.length
        };
        (0..distinct).map(|offset| run.element(offset).and_then(number))
    });
    let first = picked.next()??;
    picked.all(|value| value == Some(first)).then_some(first)
}

/// Factors are below it.
const LARGEST_FACTOR: f64 = 2147483648.0;

#[cfg(test)]
mod tests {
    use super::*;

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
}
