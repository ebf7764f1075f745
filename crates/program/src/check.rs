// SPDX-License-Identifier: Apache-2.0
//! Validity checks of a program: shapes, operands before use, levels, scales, sizes.

mod transform;

use crate::Error;
use crate::expression::{Numbers, Operation as ExpressionOperation};
use crate::handed::Handed;
use crate::program::{Argument, Encryption, Program, Range, Reading, Secrecy, Strength};
use crate::shape;
use crate::step::{Operation, Step};
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
    fn default() -> Self {
        Self {
            degree: 1 << 15,
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
    fn check_numbers(&self, operation: &ExpressionOperation) -> Result<(), String> {
        let (ExpressionOperation::Constant(numbers) | ExpressionOperation::Polynomial(_, numbers)) =
            operation
        else {
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
        if (number as u64) < inputs && step.operation != Operation::Input {
            return Err(format!("the first {inputs} steps are the ciphertexts sent"));
        }
        if number as u64 >= inputs && step.operation == Operation::Input {
            return Err(format!(
                "only the first {inputs} steps are ciphertexts sent"
            ));
        }
        if let Some(plaintext) = step.operation.plaintext()
            && plaintext.number as usize >= self.plaintexts.len()
        {
            let there = self.plaintexts.len();
            return Err(format!(
                "there is no plaintext {}, there are {there}",
                plaintext.number
            ));
        }
        if moves_slots(&step.operation) && !self.parameters.has_slots() {
            return Err(format!(
                "plaintext modulus {} has no slots at n = {}: ciphertexts hold coefficients, which do not rotate",
                self.parameters.plain_modulus().unwrap_or(0),
                self.parameters.n()
            ));
        }
        if step.place.line as usize >= self.lines.len().max(1) {
            return Err(format!("there is no source line {}", step.place.line));
        }
        let of = |index: usize| &self.steps[operands[index] as usize];
        let expected = match handed.get(number) {
            Some(Some(own)) => Expected {
                level: own.level,
                scale: own.scale,
                size: 2,
            },
            _ => self.expected(step, of)?,
        };
        self.compare(step, expected)
    }

    /// Level, scale and size that follow from the operands.
    fn expected<'a>(
        &self,
        step: &Step,
        of: impl Fn(usize) -> &'a Step,
    ) -> Result<Expected, String> {
        let same = |a: &Step| {
            Ok(Expected {
                level: a.level,
                scale: a.scale,
                size: a.size,
            })
        };
        match step.operation {
            Operation::Input => Ok(Expected {
                level: self.top_level(),
                scale: self.parameters.scale(),
                size: 2,
            }),
            Operation::EncryptZero => Ok(Expected {
                level: step.level.min(self.top_level()),
                scale: step.scale,
                size: 2,
            }),
            Operation::Add(..) | Operation::Sub(..) => {
                let (a, b) = (of(0), of(1));
                equal_levels(a, b)?;
                equal_scales(a.scale, b.scale)?;
                Ok(Expected {
                    level: a.level,
                    scale: a.scale,
                    size: a.size.max(b.size),
                })
            }
            Operation::AddPlain(_, plaintext) | Operation::SubPlain(_, plaintext) => {
                equal_scales(of(0).scale, plaintext.scale)?;
                same(of(0))
            }
            Operation::MultiplyPlain(_, plaintext) => {
                self.check_plain_scale(plaintext.scale)?;
                Ok(Expected {
                    scale: of(0).scale * plaintext.scale,
                    ..same(of(0))?
                })
            }
            Operation::Multiply(..) | Operation::Square(_) => {
                let (a, b) = (
                    of(0),
                    if matches!(step.operation, Operation::Square(_)) {
                        of(0)
                    } else {
                        of(1)
                    },
                );
                equal_levels(a, b)?;
                sized(a, 2)?;
                sized(b, 2)?;
                Ok(Expected {
                    level: a.level,
                    scale: a.scale * b.scale,
                    size: 3,
                })
            }
            Operation::Relinearize(_) => {
                sized(of(0), 3)?;
                Ok(Expected {
                    size: 2,
                    ..same(of(0))?
                })
            }
            Operation::Rotate(_, by) => {
                self.check_rotation(by)?;
                sized(of(0), 2)?;
                same(of(0))
            }
            Operation::SwapRows(_) if self.parameters.rows() == 1 => {
                Err("CKKS has one row of slots; only BFV has two to swap".into())
            }
            Operation::SwapRows(_) => {
                sized(of(0), 2)?;
                same(of(0))
            }
            Operation::Rescale(_) => self.rescaled(of(0)),
            Operation::ModDrop(_) if step.level < of(0).level => Ok(Expected {
                level: step.level,
                ..same(of(0))?
            }),
            Operation::ModDrop(_) => {
                Err(format!("level {} is not below {}", step.level, of(0).level))
            }
            Operation::Within(_, promise) if promise.bound >= 0.0 => same(of(0)),
            Operation::Within(_, promise) => Err(format!("a promise of {}", promise.bound)),
            Operation::Negate(_) => same(of(0)),
            Operation::RelinearizeRescale(_) => {
                sized(of(0), 3)?;
                Ok(Expected {
                    size: 2,
                    ..self.rescaled(of(0))?
                })
            }
            Operation::LinearTransform(_, number) => {
                let transform = self.transforms.get(number as usize).ok_or_else(|| {
                    let there = self.transforms.len();
                    format!("there is no transform {number}, there are {there}")
                })?;
                sized(of(0), 2)?;
                Ok(Expected {
                    scale: of(0).scale * transform.scale,
                    ..same(of(0))?
                })
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

    fn rescaled(&self, a: &Step) -> Result<Expected, String> {
        if self.parameters.plain_modulus().is_some() {
            return Err("BFV has no rescaling".into());
        }
        let level = a.level.checked_sub(1).ok_or("no level is left")?;
        let prime = self.parameters.primes()[a.level as usize] as f64;
        Ok(Expected {
            level,
            scale: a.scale / prime,
            size: a.size,
        })
    }

    fn top_level(&self) -> u32 {
        self.parameters.primes().len() as u32 - 1
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

/// Whether an operation moves values between slots.
fn moves_slots(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Rotate(..) | Operation::SwapRows(_) | Operation::LinearTransform(..)
    )
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
