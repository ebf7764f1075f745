// SPDX-License-Identifier: Apache-2.0
//! Validity checks of a program: shapes, operands before use, levels, scales, sizes.

mod transform;

use crate::Error;
use crate::expression::{Numbers, PlainOp};
use crate::handed::Handed;
use crate::operation::{Attributes, Key, Level, Operation, Parts, Plaintext, Promise, Scale};
use crate::parameters::Parameters;
use crate::program::{Argument, Encryption, Program, Range, Reading, Secrecy, Strength};
use crate::shape;
use crate::step::Step;
use ckks::bootstrap::SCALE_ROOM;
use rlwe::noise::FAILURE_BITS;

/// Relative difference up to which two scales are the same (that of the CKKS evaluator).
const SCALE_TOLERANCE: f64 = ckks::SCALE_TOLERANCE;

/// Limits of an untrusted program; one beyond them is refused before memory or time is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest ring degree.
    pub degree: usize,
    /// Most ciphertexts sent or returned.
    pub ciphertexts: u64,
    /// Most elementary operations of all plaintext expressions and plaintexts together.
    pub plain_work: u64,
}

impl Default for Limits {
    /// The degree is that of any parameters that are read: the largest named set keeps it.
    fn default() -> Self {
        Self {
            degree: rlwe::Limits::default().degree,
            ciphertexts: 1 << 16,
            plain_work: 1 << 32,
        }
    }
}

impl Limits {
    fn hold(what: &'static str, got: u64, limit: u64) -> Result<(), Error> {
        if got <= limit {
            return Ok(());
        }
        Err(Error::Limit { what, got, limit })
    }
}

impl Program {
    /// Checks everything but that the guarantee holds ([`Program::check_guarantee`]).
    ///
    /// # Errors
    /// The first thing that is wrong: [`Error::Layout`], [`Error::Expression`], [`Error::Step`], [`Error::Limit`].
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        self.check_request()?;
        self.check_encryption()?;
        self.check_bootstrapping()?;
        let inputs = self.check_arguments()?;
        let outputs = self.outputs.len() as u64;
        Limits::hold("ciphertexts", inputs.max(outputs), limits.ciphertexts)?;
        let sources = self.check_sources()?;
        let work = sources.saturating_add(self.result.len() as u64);
        Limits::hold(
            "plain operations",
            work.saturating_add(self.transform_work()),
            limits.plain_work,
        )?;
        for number in 0..self.transforms.len() {
            self.check_transform(number)?;
        }
        let handed = self.handed();
        for number in 0..self.steps.len() {
            self.check_step(number, inputs, &handed)
                .map_err(|message| self.at(number, message))?;
        }
        let first = self.steps.len() as u64;
        if first < inputs {
            return Err(layout(
                "steps",
                format!("{inputs} inputs are sent, there are {first} steps"),
            ));
        }
        self.check_result()
    }

    /// The form of the guarantee; [`Program::check_guarantee`] checks that it holds.
    fn check_request(&self) -> Result<(), Error> {
        let g = &self.guarantee;
        // Collected published results must not contain one that exceeds its bound.
        let least = if g.publish { FAILURE_BITS } else { 1 };
        let known = (least..=1024).contains(&g.failure_bits) && g.bits.is_finite();
        let tolerance = match self.parameters.plain_modulus() {
            Some(_) => g.tolerance == 0.0 && g.bits > 0.0,
            None => g.tolerance > 0.0 && g.tolerance.is_finite(),
        };
        // Flooding hides the largest error there can be.
        let flooded = !g.publish || g.strength == Strength::Certain;
        if known && tolerance && flooded {
            return Ok(());
        }
        Err(layout("guarantee", format!("{g:?} is none")))
    }

    fn check_bootstrapping(&self) -> Result<(), Error> {
        match (&self.bootstrapping, &self.parameters) {
            (Some(own), Parameters::Ckks(set)) if own.params().main() == set => Ok(()),
            (Some(_), _) => Err(layout("bootstrapping", "it is of another set".into())),
            (None, _) => Ok(()),
        }
    }

    fn check_encryption(&self) -> Result<(), Error> {
        if self.encryption == Encryption::Extended && self.parameters.special_primes() == 0 {
            let what = self.encryption.key();
            let message = rlwe::Error::NoSpecialPrimes { what }.to_string();
            return Err(layout("encryption", message));
        }
        Ok(())
    }

    /// Checks arguments and their packings; returns the number of ciphertexts that are sent.
    fn check_arguments(&self) -> Result<u64, Error> {
        let mut inputs = 0;
        for (number, argument) in self.arguments.iter().enumerate() {
            let wrong = |message: String| layout(format!("argument {}", argument.name), message);
            if self.arguments[..number]
                .iter()
                .any(|a| a.name == argument.name)
            {
                return Err(wrong("there are two of that name".into()));
            }
            let elements = shape::elements(&argument.shape)
                .filter(|_| argument.shape.len() <= shape::MAX_AXES)
                .ok_or_else(|| wrong(format!("shape {:?} is too large", argument.shape)))?;
            self.check_range(argument).map_err(wrong)?;
            if let Secrecy::Encrypted(packing) = &argument.secrecy {
                inputs += self.ciphertexts(packing.len()).ok_or_else(|| {
                    layout(
                        &argument.name,
                        format!(
                            "its packing has {} slots, no multiple of {}",
                            packing.len(),
                            self.parameters.slots()
                        ),
                    )
                })?;
                if packing.elements() > elements {
                    return Err(layout(
                        &argument.name,
                        format!(
                            "its packing takes element {} of {elements}",
                            packing.elements() - 1
                        ),
                    ));
                }
            }
            if let Some(producer) = &argument.producer {
                let count = argument.ciphertexts(self.parameters.slots());
                let exact = self.parameters.plain_modulus().is_some();
                let primes = self.parameters.primes().len();
                producer.check(count, primes, exact).map_err(wrong)?;
            }
        }
        if inputs == 0 {
            return Err(layout("arguments", "none is encrypted".to_string()));
        }
        Ok(inputs)
    }

    /// How many ciphertexts that many slots are.
    fn ciphertexts(&self, slots: usize) -> Option<u64> {
        let each = self.parameters.slots();
        (slots > 0 && slots.is_multiple_of(each)).then_some((slots / each) as u64)
    }

    fn check_range(&self, argument: &Argument) -> Result<(), String> {
        match (argument.range, self.parameters.plain_modulus()) {
            (Range::Reals { low, high }, None) if low <= high && (high - low).is_finite() => Ok(()),
            (Range::Integers { low, high }, Some(_)) if low <= high => Ok(()),
            (range, _) => Err(format!(
                "{range:?} is no range of {}",
                self.parameters.scheme()
            )),
        }
    }

    /// Checks expressions and plaintexts; returns the elementary operations they take.
    fn check_sources(&self) -> Result<u64, Error> {
        let arguments = self.plain_shapes();
        let mut work = 0_u64;
        for (number, expression) in self.expressions.iter().enumerate() {
            let checked = self
                .check_numbers(&expression.operation)
                .and_then(|()| expression.check(&arguments, &self.expressions[..number]));
            let operation = expression.operation.name();
            let cost = checked.map_err(|message| Error::Expression {
                number,
                operation,
                message,
            })?;
            work = work.saturating_add(cost);
        }
        for (number, source) in self.plaintexts.iter().enumerate() {
            let wrong = |message: String| layout(format!("plaintext {number}"), message);
            let Some(expression) = self.expressions.get(source.expression as usize) else {
                return Err(wrong(format!(
                    "there is no expression {}",
                    source.expression
                )));
            };
            let largest = self
                .parameters
                .plain_modulus()
                .map_or(f64::MAX, |t| (t / 2) as f64);
            if !(0.0..=largest).contains(&source.bound) {
                return Err(wrong(format!(
                    "a bound of {}; from 0 to {largest:e} is needed",
                    source.bound
                )));
            }
            let elements = shape::elements(&expression.shape).unwrap_or(0);
            if source.slots.len() != self.parameters.slots() || source.slots.elements() > elements {
                let (slots, used) = (source.slots.len(), source.slots.elements());
                let there = self.parameters.slots();
                return Err(wrong(format!(
                    "{slots} slots from {used} elements; there are {there} slots and {elements} elements"
                )));
            }
            work = work.saturating_add(source.slots.len() as u64);
        }
        Ok(work)
    }

    /// Constants are finite reals in CKKS and centred residues in BFV.
    fn check_numbers(&self, operation: &PlainOp) -> Result<(), String> {
        let (PlainOp::Constant(numbers) | PlainOp::Polynomial(_, numbers)) = operation else {
            return Ok(());
        };
        let right = match (numbers, self.parameters.plain_modulus()) {
            (Numbers::Reals(values), None) => values.iter().all(|v| v.is_finite()),
            (Numbers::Integers(values), Some(t)) => {
                values.iter().all(|v| v.unsigned_abs() <= t / 2)
            }
            _ => false,
        };
        if right {
            Ok(())
        } else {
            Err(format!(
                "its numbers are none of {}",
                self.parameters.scheme()
            ))
        }
    }

    fn check_step(
        &self,
        number: usize,
        inputs: u64,
        handed: &[Option<Handed>],
    ) -> Result<(), String> {
        let step = &self.steps[number];
        let (operands, count) = step.operation.operands();
        if let Some(late) = operands[..count].iter().find(|&&a| a as usize >= number) {
            return Err(format!("operand {late} is not defined before it"));
        }
        let is_input = step.operation.is_input();
        if (number as u64) < inputs && !is_input {
            return Err(format!("the first {inputs} steps are the ciphertexts sent"));
        }
        if number as u64 >= inputs && is_input {
            return Err(format!(
                "only the first {inputs} steps are ciphertexts sent"
            ));
        }
        self.check_scheme(&step.operation)?;
        if step.place.line as usize >= self.lines.len().max(1) {
            return Err(format!("there is no source line {}", step.place.line));
        }
        self.check_attributes(&step.operation)?;
        let operands = operands.map(|a| self.steps.get(a as usize).unwrap_or(step));
        let expected = match handed.get(number) {
            Some(Some(own)) => Expected {
                level: own.level,
                scale: own.scale,
                size: 2,
            },
            _ => self.expected(step, &operands[..count])?,
        };
        self.compare(step, expected)
    }

    /// That the scheme has the operation.
    fn check_scheme(&self, operation: &Operation) -> Result<(), String> {
        let facts = operation.facts();
        let has = match self.parameters.plain_modulus() {
            Some(_) => facts.bfv,
            None => facts.ckks,
        };
        match (has, facts.key) {
            (false, Key::RowSwap) => {
                Err("CKKS has one row of slots; only BFV has two to swap".into())
            }
            (false, _) => Err(format!(
                "{} has no {}",
                self.parameters.scheme().to_uppercase(),
                facts.name
            )),
            (true, Key::Rotation | Key::RowSwap | Key::Transform)
                if !self.parameters.has_slots() =>
            {
                Err(format!(
                    "plaintext modulus {} has no slots at n = {}: ciphertexts hold coefficients, which do not rotate",
                    self.parameters.plain_modulus().unwrap_or(0),
                    self.parameters.n()
                ))
            }
            (true, _) => Ok(()),
        }
    }

    /// That what the operation takes besides ciphertexts is there, and possible.
    fn check_attributes(&self, operation: &Operation) -> Result<(), String> {
        let Attributes {
            plaintext,
            rotation,
            promise,
            transform,
        } = operation.attributes();
        if let Some(Plaintext { number, .. }) = plaintext {
            there_is("plaintext", number, self.plaintexts.len())?;
        }
        if let Some(by) = rotation {
            self.check_rotation(by)?;
        }
        if let Some(number) = transform {
            there_is("transform", number, self.transforms.len())?;
        }
        match promise {
            Some(Promise { bound, .. }) if bound.is_nan() || bound < 0.0 => {
                Err(format!("a promise of {bound}"))
            }
            Some(promise) if promise.limits_errors() => self.check_error_promise(promise.error),
            _ => Ok(()),
        }
    }

    /// That something may be promised of errors: a real number's, which are not published.
    fn check_error_promise(&self, error: f64) -> Result<(), String> {
        if !(error > 0.0 && error.is_finite()) {
            return Err(format!("a promise that errors stay within {error}"));
        }
        if self.parameters.plain_modulus().is_some() {
            return Err("a promise about errors, which BFV's results do not have".into());
        }
        if self.guarantee.publish {
            return Err(
                "a promise about errors in a program whose results are published: a false one would give the key away"
                    .into(),
            );
        }
        Ok(())
    }

    /// Level, scale and size that follow from the operands, by the rules of the operation.
    fn expected(&self, step: &Step, operands: &[&Step]) -> Result<Expected, String> {
        let facts = step.operation.facts();
        if let [a, b] = operands {
            equal_levels(a, b)?;
        }
        if let Some(size) = facts.takes {
            operands.iter().try_for_each(|a| sized(a, size))?;
        }
        Ok(Expected {
            size: match facts.parts {
                Parts::Two => 2,
                Parts::Three => 3,
                Parts::Same => operands.iter().map(|a| a.size).max().unwrap_or(2),
            },
            level: self.expected_level(facts.level, step, operands)?,
            scale: self.expected_scale(facts.scale, step, operands)?,
        })
    }

    fn expected_level(&self, rule: Level, step: &Step, operands: &[&Step]) -> Result<u32, String> {
        let top = self.parameters.primes().len() as u32 - 1;
        let own = operands.first().map_or(top, |a| a.level);
        match rule {
            Level::Top => Ok(top),
            Level::Chosen => Ok(step.level.min(top)),
            Level::Same => Ok(own),
            Level::Lower if step.level < own => Ok(step.level),
            Level::Lower => Err(format!("level {} is not below {own}", step.level)),
            Level::Next => own.checked_sub(1).ok_or("no level is left".into()),
            Level::Refreshed => self.refreshed_level(operands),
        }
    }

    /// The level after a refresh, whose operand has levels to spare and the set's scale, or about.
    fn refreshed_level(&self, operands: &[&Step]) -> Result<u32, String> {
        let Some(bootstrapping) = &self.bootstrapping else {
            return Err("the program has no bootstrapping".into());
        };
        let params = bootstrapping.params();
        for a in operands {
            if (a.level as usize) < params.input_level() {
                let needed = params.input_level();
                return Err(format!(
                    "an operand of level {}; {needed} is needed",
                    a.level
                ));
            }
            if !params.scale_is_near(a.scale) {
                return Err(format!(
                    "an operand of scale 2^{:.2}; within 2^{:.2} ± {SCALE_ROOM} is needed",
                    a.scale.log2(),
                    self.parameters.scale().log2()
                ));
            }
        }
        Ok(params.output_level() as u32)
    }

    fn expected_scale(&self, rule: Scale, step: &Step, operands: &[&Step]) -> Result<f64, String> {
        let plaintext = step.operation.plaintext().map(|p| p.scale);
        let transform = self.transform(step).map(|t| t.scale);
        let (own, more) = match operands {
            [] => (self.parameters.scale(), None),
            [a, more @ ..] => (a.scale, more.first().map(|b| b.scale)),
        };
        let mut others = [more, plaintext, transform].into_iter().flatten();
        match rule {
            Scale::Set => Ok(self.parameters.scale()),
            Scale::Chosen => Ok(step.scale),
            Scale::Same => {
                others.try_for_each(|scale| equal_scales(own, scale))?;
                Ok(own)
            }
            Scale::Product => {
                plaintext.map_or(Ok(()), |scale| self.check_plain_scale(scale))?;
                Ok(others.fold(own, |product, scale| product * scale))
            }
            Scale::Square => Ok(own * own),
            Scale::Divided => {
                let level = operands.first().map_or(0, |a| a.level);
                Ok(own / self.parameters.primes()[level as usize] as f64)
            }
        }
    }

    fn check_plain_scale(&self, scale: f64) -> Result<(), String> {
        let right = match self.parameters.plain_modulus() {
            Some(_) => scale == 1.0,
            None => scale >= 1.0 && scale.is_finite(),
        };
        if right {
            Ok(())
        } else {
            Err(format!("a plaintext cannot have scale {scale}"))
        }
    }

    fn check_rotation(&self, by: i32) -> Result<(), String> {
        let half = (self.parameters.row_width() / 2) as i32;
        if by != 0 && (-half < by || by == -half && half > 1) && by <= half {
            return Ok(());
        }
        Err(format!(
            "a rotation by {by}; from {} to {half} without 0 is needed",
            1 - half
        ))
    }

    fn compare(&self, step: &Step, expected: Expected) -> Result<(), String> {
        if step.level != expected.level {
            return Err(format!(
                "level {}; its operands give {}",
                step.level, expected.level
            ));
        }
        if step.size != expected.size {
            return Err(format!(
                "{} polynomials; its operands give {}",
                step.size, expected.size
            ));
        }
        if self.parameters.plain_modulus().is_some() && step.scale != 1.0 {
            return Err(format!("scale {} in BFV, which has none", step.scale));
        }
        equal_scales(step.scale, expected.scale)
    }

    fn check_result(&self) -> Result<(), Error> {
        if let Some(output) = self
            .outputs
            .iter()
            .find(|&&o| o as usize >= self.steps.len())
        {
            return Err(layout("outputs", format!("there is no step {output}")));
        }
        let elements = shape::elements(&self.result_shape);
        let there = self.outputs.len() * self.parameters.slots();
        let whole = self.result.runs().iter().all(|run| run.first.is_some());
        if self.outputs.is_empty()
            || elements != Some(self.result.len())
            || self.result.elements() > there
            || !whole
        {
            let message = format!(
                "shape {:?} takes {} of {there} slots of {} outputs",
                self.result_shape,
                self.result.len(),
                self.outputs.len()
            );
            return Err(layout("result", message));
        }
        self.check_reading()
    }

    fn check_reading(&self) -> Result<(), Error> {
        let exact = self.parameters.plain_modulus().is_some();
        let wrong = |message: String| Err(layout("reading of the result", message));
        match self.reading {
            Reading { divisor: 0, .. } => wrong("a divisor of 0".into()),
            Reading { complex: true, .. } if exact => wrong("complex numbers in BFV".into()),
            Reading { divisor, .. } if divisor > 1 && !exact => wrong(format!(
                "a divisor of {divisor} in CKKS, which divides by itself"
            )),
            Reading { complex: true, .. } if self.result_shape.first() != Some(&2) => {
                wrong(format!(
                    "complex numbers have a first axis of extent 2, the shape is {:?}",
                    self.result_shape
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Derived from a step's operands.
struct Expected {
    level: u32,
    scale: f64,
    size: u8,
}

fn layout(what: impl Into<String>, message: String) -> Error {
    Error::Layout {
        what: what.into(),
        message,
    }
}

fn equal_levels(a: &Step, b: &Step) -> Result<(), String> {
    if a.level == b.level {
        Ok(())
    } else {
        Err(format!("levels {} and {} differ", a.level, b.level))
    }
}

fn equal_scales(a: f64, b: f64) -> Result<(), String> {
    if a >= 2.0_f64.powi(-64) && a.is_finite() && (a / b - 1.0).abs() <= SCALE_TOLERANCE {
        return Ok(());
    }
    Err(format!(
        "scales 2^{:.2} and 2^{:.2} differ",
        a.log2(),
        b.log2()
    ))
}

fn there_is(what: &str, number: u32, there: usize) -> Result<(), String> {
    if (number as usize) < there {
        Ok(())
    } else {
        Err(format!("there is no {what} {number}, there are {there}"))
    }
}

fn sized(a: &Step, size: u8) -> Result<(), String> {
    if a.size == size {
        Ok(())
    } else {
        Err(format!(
            "an operand of {} polynomials; {size} are needed",
            a.size
        ))
    }
}
