// SPDX-License-Identifier: Apache-2.0
//! Input of the noise bounds: steps and facts about values, without values and packing.
//!
//! A search for parameters asks for the bounds of thousands of circuits and sets: neither needs tables or keys.

use super::bound::{Assume, Effects};
use super::ranges::Ranges;
use crate::Error;
use crate::bootstrapping::Refresh;
use crate::handed::Received;
use crate::operation::Scale;
use crate::program::Encryption;
use crate::step::{Plaintext, Step};
use crate::transform::Transform;
use ::ckks::bootstrap::Effort;
use std::borrow::Cow;
use std::collections::HashSet;

/// Facts about a plaintext for any arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaintextFacts {
    /// It depends on no argument.
    pub constant: bool,
    /// The integer below 2^31 that every slot holds: a factor, which needs no scale.
    /// Without slots c of a polynomial c·X^i.
    pub integer: Option<i64>,
    /// Every slot holds the same real number: the polynomial is a constant.
    pub uniform: bool,
    /// No slot exceeds it in magnitude.
    pub bound: f64,
}

/// A program reduced to its noise.
#[derive(Clone, Debug)]
pub struct Circuit<'a> {
    /// Whether it computes exactly (BFV).
    pub exact: bool,
    /// The key that inputs are encrypted under.
    pub encryption: Encryption,
    /// The largest magnitude of every ciphertext that is sent.
    pub inputs: Vec<f64>,
    /// Those of them that are results of other programs, by what these promise; empty if all are encrypted arguments.
    pub received: Vec<Option<Received>>,
    /// Plaintexts.
    pub plaintexts: Vec<PlaintextFacts>,
    /// Linear transforms that steps apply.
    pub transforms: Cow<'a, [Transform]>,
    /// What is known of refreshes, if there are any.
    pub refresh: Option<Refresh>,
    /// What a refresh takes.
    pub effort: Option<Effort>,
    /// Facts about values in CKKS, for a probable guarantee; else empty.
    pub ranges: Ranges,
    /// Inputs, then operations.
    pub steps: Cow<'a, [Step]>,
    /// The steps that are results.
    pub outputs: Cow<'a, [u32]>,
}

/// The estimator of a set.
#[derive(Clone, Debug)]
pub enum Estimator {
    /// Of CKKS.
    Ckks(::ckks::noise::Estimator),
    /// Of BFV.
    Bfv(::bfv::noise::Estimator),
}

impl Estimator {
    /// The limit that the effects of ordinary plaintexts stay below.
    pub fn ordinary_effect(&self) -> f64 {
        match self {
            Self::Ckks(e) => e.log2_random_rounding().exp2(),
            Self::Bfv(e) => e.random_plaintext().log2,
        }
    }

    fn data_primes(&self) -> usize {
        match self {
            Self::Ckks(e) => e.max_level() + 1,
            Self::Bfv(e) => e.data_primes(),
        }
    }
}

/// Why there is no bound.
pub(super) struct Failure {
    /// The step that has none.
    pub step: usize,
    /// The estimator's message.
    pub message: String,
}

/// Effects of plaintexts: measured, else assumed.
pub(super) struct Plaintexts<'a> {
    pub circuit: &'a Circuit<'a>,
    assume: Assume,
    measured: Option<&'a Effects>,
    ordinary: f64,
}

impl<'a> Plaintexts<'a> {
    /// None of them measured.
    pub fn assumed(circuit: &'a Circuit<'a>, assume: Assume, estimator: &Estimator) -> Self {
        Self {
            circuit,
            assume,
            measured: None,
            ordinary: estimator.ordinary_effect(),
        }
    }

    /// The same with some of them measured.
    #[must_use]
    pub fn measured(self, measured: Option<&'a Effects>) -> Self {
        Self { measured, ..self }
    }

    /// The effect of a plaintext; `None` for the worst case.
    pub fn effect(&self, plaintext: Plaintext) -> Option<f64> {
        let measured = self
            .measured
            .and_then(|effects| effects.get(plaintext.number, plaintext.scale));
        let worst = match self.circuit.facts(plaintext).constant {
            true => Assume::Constants,
            false => Assume::All,
        };
        measured.or((self.assume < worst).then_some(self.ordinary))
    }
}

impl Circuit<'_> {
    /// What is promised of an input that another program made.
    pub(super) fn received(&self, input: usize) -> Option<Received> {
        self.received.get(input).copied().flatten()
    }

    /// Whether any input is the result of another program.
    pub(super) fn receives(&self) -> bool {
        self.received.iter().any(Option::is_some)
    }

    fn facts(&self, plaintext: Plaintext) -> &PlaintextFacts {
        &self.plaintexts[plaintext.number as usize]
    }

    /// The integer a plaintext is, if it is encoded as one: neither spread nor rounded.
    pub(super) fn factor(&self, plaintext: Plaintext) -> Option<i64> {
        self.facts(plaintext)
            .integer
            .filter(|_| plaintext.scale == 1.0)
    }

    pub(super) fn is_uniform(&self, plaintext: Plaintext) -> bool {
        self.facts(plaintext).uniform
    }

    pub(super) fn bound_of(&self, plaintext: Plaintext) -> f64 {
        self.facts(plaintext).bound
    }

    fn plaintexts_of(&self, step: &Step) -> impl Iterator<Item = Plaintext> {
        let number = step.operation.transform();
        let transform = number.map(|number| &self.transforms[number as usize]);
        let own = step.operation.plaintext().into_iter();
        own.chain(transform.into_iter().flat_map(Transform::plaintexts))
    }

    /// The plaintexts whose values bear on the noise, each with the level of the first step that uses it.
    pub fn encodings(&self) -> Vec<(u32, f64, u32)> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for step in self.steps.iter() {
            let added = step.operation.facts().scale == Scale::Same;
            // BFV adds any plaintext with the same rounding.
            if self.exact && added {
                continue;
            }
            for plaintext in self.plaintexts_of(step) {
                let key = (plaintext.number, plaintext.scale.to_bits());
                if self.factor(plaintext).is_none() && seen.insert(key) {
                    found.push((plaintext.number, plaintext.scale, step.level));
                }
            }
        }
        found
    }

    /// Adds a step of a circuit that is made by hand; returns its number.
    ///
    /// # Errors
    /// [`Error::Step`] for one that names what is not there.
    pub fn push(&mut self, step: Step) -> Result<usize, Error> {
        let number = self.steps.len();
        self.check(number, &step)
            .map_err(|message| self.at(number, &step, message))?;
        self.steps.to_mut().push(step);
        Ok(number)
    }

    fn check(&self, number: usize, step: &Step) -> Result<(), String> {
        let (operands, count) = step.operation.operands();
        if let Some(late) = operands[..count].iter().find(|&&a| a as usize >= number) {
            return Err(format!("operand {late} is not defined before it"));
        }
        let facts = step.operation.facts();
        if !(if self.exact { facts.bfv } else { facts.ckks }) {
            let scheme = if self.exact { "BFV" } else { "CKKS" };
            return Err(format!("{scheme} has no {}", facts.name));
        }
        if let Some(number) = step.operation.transform()
            && number as usize >= self.transforms.len()
        {
            return Err(format!("there is no transform {number}"));
        }
        let mut plaintexts = self.plaintexts_of(step);
        match plaintexts.find(|p| p.number as usize >= self.plaintexts.len()) {
            None => Ok(()),
            Some(plaintext) => Err(format!("there is no plaintext {}", plaintext.number)),
        }
    }

    pub(super) fn at(&self, number: usize, step: &Step, message: String) -> Error {
        Error::Step {
            number,
            operation: step.operation.name(),
            place: "a circuit without source".into(),
            message,
        }
    }

    /// Checks that set and outputs fit.
    pub(super) fn check_under(&self, estimator: &Estimator) -> Result<(), Error> {
        let layout = |what: &str, message| Error::Layout {
            what: what.into(),
            message,
        };
        if self.exact != matches!(estimator, Estimator::Bfv(_)) {
            return Err(layout("circuit", "it is of the other scheme".into()));
        }
        let (there, primes) = (self.steps.len(), estimator.data_primes());
        if let Some(output) = self.outputs.iter().find(|&&o| o as usize >= there) {
            return Err(layout("outputs", format!("there is no step {output}")));
        }
        if let Some(step) = self.steps.iter().find(|s| s.level as usize >= primes) {
            let level = step.level;
            return Err(layout(
                "circuit",
                format!("it uses level {level}, the set has {primes} data primes"),
            ));
        }
        Ok(())
    }
}

/// The operands of a step among the values of those before it.
pub(super) fn operands<'a, T>(step: &Step, values: &'a [T]) -> [Option<&'a T>; 2] {
    let (numbers, count) = step.operation.operands();
    [0, 1].map(|i| (i < count).then(|| &values[numbers[i] as usize]))
}
