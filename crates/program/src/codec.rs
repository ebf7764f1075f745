// SPDX-License-Identifier: Apache-2.0
//! A program as bytes (`docs/format.md`, "Program"). Reading takes memory only for bytes that are there, then checks
//! everything; what is accepted encodes to the same bytes, so the hash of the bytes names the program.

mod expression;
mod fields;
mod sections;
mod step;
mod transform;

use crate::Error;
use crate::bootstrapping::Bootstrapping;
use crate::check::Limits;
use crate::handed::{Handed, Producer, Received};
use crate::parameters::Parameters;
use crate::program::{
    Argument, Encryption, Guarantee, PlaintextSource, Program, Range, Reading, Secrecy, Strength,
};
use crate::step::SourceLine;
pub(crate) use fields::refused;
use fields::{
    choice, list, read_map, read_shape, read_text, write_count, write_map, write_shape, write_text,
};
use rlwe::SecurityPolicy;
use rlwe::wire::{self, Reader, Tag, Writer};
use sha2::{Digest, Sha256};

impl Program {
    /// The program as an object of the byte format.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        write_text(&mut out, &self.name);
        write_text(&mut out, &self.variant);
        let parameters = self.parameters.to_bytes();
        write_count(&mut out, parameters.len());
        out.bytes(&parameters);
        out.u8(self.encryption.code());
        write_guarantee(&mut out, &self.guarantee);
        write_count(&mut out, self.arguments.len());
        self.arguments
            .iter()
            .for_each(|a| write_argument(&mut out, a));
        write_count(&mut out, self.expressions.len());
        self.expressions
            .iter()
            .for_each(|e| expression::write(&mut out, e));
        write_count(&mut out, self.plaintexts.len());
        self.plaintexts
            .iter()
            .for_each(|p| write_plaintext(&mut out, p));
        write_count(&mut out, self.transforms.len());
        self.transforms
            .iter()
            .for_each(|t| transform::write(&mut out, t));
        write_count(&mut out, self.lines.len());
        self.lines.iter().for_each(|l| write_line(&mut out, l));
        write_count(&mut out, self.steps.len());
        self.steps.iter().for_each(|s| step::write(&mut out, s));
        write_count(&mut out, self.outputs.len());
        self.outputs.iter().for_each(|&o| out.u32(o));
        write_shape(&mut out, &self.result_shape);
        write_map(&mut out, &self.result);
        write_end(&mut out, self);
        out.seal(Tag::Program, self.parameters.fingerprint())
    }

    /// Reads [`Program::to_bytes`] and checks it; parameters are judged by the reader's own policy.
    ///
    /// # Errors
    /// [`Error`] naming the first thing that is wrong.
    pub fn from_bytes(
        bytes: &[u8],
        policy: SecurityPolicy,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let (header, payload) = wire::open_as(Tag::Program, bytes)?;
        let mut input = Reader::new(payload);
        let (name, variant) = (
            read_text(&mut input, "the name")?,
            read_text(&mut input, "the variant")?,
        );
        let parameters = read_parameters(&mut input, policy, limits)?;
        if header.params != parameters.fingerprint() {
            return Err(Error::Parameters(
                "not those of the envelope's fingerprint".into(),
            ));
        }
        let last = Encryption::ALL.len() as u8 - 1;
        let encryption = choice(&mut input, "the encryption", last)?;
        let encryption = Encryption::ALL[usize::from(encryption)];
        let mut program = Self {
            name,
            variant,
            parameters,
            bootstrapping: None,
            encryption,
            guarantee: read_guarantee(&mut input)?,
            arguments: list(&mut input, "arguments", 24, read_argument)?,
            expressions: list(&mut input, "expressions", 2, expression::read)?,
            plaintexts: list(&mut input, "plaintexts", 16, read_plaintext)?,
            transforms: list(&mut input, "transforms", 17, transform::read)?,
            lines: list(&mut input, "source lines", 12, read_line)?,
            steps: list(&mut input, "steps", 22, step::read)?,
            outputs: list(
                &mut input,
                "outputs",
                4,
                |input| Ok(input.u32("an output")?),
            )?,
            result_shape: read_shape(&mut input)?,
            result: read_map(&mut input)?,
            reading: read_reading(&mut input)?,
        };
        program.bootstrapping = read_bootstrapping(&mut input, &program.parameters, policy)?;
        input.finish()?;
        program.check(limits)?;
        program.check_guarantee()?;
        Ok(program)
    }

    /// SHA-256 of the bytes: the program's name among programs.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.to_bytes()).into()
    }
}

/// Refuses a degree beyond the limit before tables are made.
fn read_parameters(
    input: &mut Reader<'_>,
    policy: SecurityPolicy,
    limits: &Limits,
) -> Result<Parameters, Error> {
    let len = input.ranged("the length of the parameters", 0..=1 << 16)? as usize;
    let bytes = input.bytes(len, "the parameters")?;
    wire::inspect(bytes)?;
    let degree = bytes
        .get(wire::HEADER_LEN + 1)
        .map_or(0, |&log_n| 1_u64 << log_n.min(63));
    if degree > limits.degree as u64 {
        return Err(Error::Limit {
            what: "coefficients a polynomial",
            got: degree,
            limit: limits.degree as u64,
        });
    }
    Parameters::from_bytes(bytes, policy)
}

fn write_guarantee(out: &mut Writer, guarantee: &Guarantee) {
    out.f64(guarantee.bits);
    out.u32(guarantee.failure_bits);
    out.f64(guarantee.tolerance);
    out.u8(kind_of(guarantee));
}

/// 0: certain, 1: certain with room for publication, 2: probable.
pub(super) fn kind_of(guarantee: &Guarantee) -> u8 {
    match guarantee.strength {
        Strength::Certain => u8::from(guarantee.publish),
        Strength::Probable => 2,
    }
}

fn read_guarantee(input: &mut Reader<'_>) -> Result<Guarantee, Error> {
    let bits = input.f64("the guarantee")?;
    let failure_bits = input.u32("the failure probability")?;
    let tolerance = input.f64("the tolerance")?;
    let kind = choice(input, "the kind of the guarantee", 2)?;
    Ok(Guarantee {
        bits,
        failure_bits,
        tolerance,
        publish: kind == 1,
        strength: Strength::ALL[usize::from(kind == 2)],
    })
}

/// Numbers that are read as they are take no bytes, unless a bootstrapping follows.
fn write_end(out: &mut Writer, program: &Program) {
    match &program.bootstrapping {
        None => write_reading(out, program.reading),
        Some(bootstrapping) => {
            out.u8(u8::from(program.reading.complex));
            out.u64(program.reading.divisor);
            bootstrapping.write(out);
        }
    }
}

/// A bootstrapping, judged by the reader's policy as the set is.
fn read_bootstrapping(
    input: &mut Reader<'_>,
    parameters: &Parameters,
    policy: SecurityPolicy,
) -> Result<Option<Bootstrapping>, Error> {
    if input.left() == 0 {
        return Ok(None);
    }
    let literal = Bootstrapping::read(input)?;
    match parameters {
        Parameters::Ckks(set) => Ok(Some(Bootstrapping::new(set, &literal, policy)?)),
        _ => Err(refused("a bootstrapping", 1, "none in BFV")),
    }
}

/// Numbers that are read as they are take no bytes.
fn write_reading(out: &mut Writer, reading: Reading) {
    if reading != Reading::default() {
        out.u8(u8::from(reading.complex));
        out.u64(reading.divisor);
    }
}

fn read_reading(input: &mut Reader<'_>) -> Result<Reading, Error> {
    if input.left() == 0 {
        return Ok(Reading::default());
    }
    let reading = Reading {
        complex: choice(input, "complex numbers of the result", 1)? == 1,
        divisor: input.u64("the divisor of the result")?,
    };
    if reading == Reading::default() && input.left() == 0 {
        return Err(refused(
            "a reading of the result",
            1,
            "none where numbers are read as they are",
        ));
    }
    Ok(reading)
}

fn write_argument(out: &mut Writer, argument: &Argument) {
    write_declaration(out, argument);
    if let Secrecy::Encrypted(packing) = &argument.secrecy {
        write_map(out, packing);
    }
    write_producer(out, argument);
}

/// The program whose result an argument is, if it is one.
fn write_producer(out: &mut Writer, argument: &Argument) {
    let Some(producer) = &argument.producer else {
        return;
    };
    write_text(out, &producer.name);
    out.bytes(&producer.identity);
    write_count(out, producer.ciphertexts.len());
    for own in &producer.ciphertexts {
        out.u32(own.output);
        out.u32(own.level);
        out.f64(own.scale);
        match own.noise {
            Received::Reals {
                log2_error,
                magnitude,
                everywhere,
            } => [log2_error, magnitude, everywhere]
                .into_iter()
                .for_each(|x| out.f64(x)),
            Received::Integers {
                log2_variance,
                factors,
            } => {
                out.f64(log2_variance);
                out.u32(factors);
            }
        }
    }
}

/// `reals`: of a range of reals.
fn read_producer(input: &mut Reader<'_>, reals: bool) -> Result<Producer, Error> {
    let name = read_text(input, "the name of a result's program")?;
    let identity = input.array("the identity of a result's program")?;
    let least = if reals { 40 } else { 28 };
    let ciphertexts = list(input, "ciphertexts of a result", least, |input| {
        Ok(Handed {
            output: input.u32("an output")?,
            level: input.u32("a level")?,
            scale: input.f64("a scale")?,
            noise: if reals {
                Received::Reals {
                    log2_error: input.f64("an error")?,
                    magnitude: input.f64("a magnitude")?,
                    everywhere: input.f64("a magnitude")?,
                }
            } else {
                Received::Integers {
                    log2_variance: input.f64("a variance")?,
                    factors: input.u32("factors of the secret")?,
                }
            },
        })
    })?;
    Ok(Producer {
        name,
        identity,
        ciphertexts,
    })
}

/// An argument without its packing.
fn write_declaration(out: &mut Writer, argument: &Argument) {
    write_text(out, &argument.name);
    write_shape(out, &argument.shape);
    match argument.range {
        Range::Reals { low, high } => {
            out.u8(0);
            out.f64(low);
            out.f64(high);
        }
        Range::Integers { low, high } => {
            out.u8(1);
            out.u64(low as u64);
            out.u64(high as u64);
        }
    }
    let encrypted = u8::from(argument.secrecy != Secrecy::Plain);
    out.u8(encrypted + u8::from(argument.producer.is_some()));
}

fn read_argument(input: &mut Reader<'_>) -> Result<Argument, Error> {
    let name = read_text(input, "an argument's name")?;
    let shape = read_shape(input)?;
    let range = match choice(input, "a range", 1)? {
        0 => Range::Reals {
            low: input.f64("a limit")?,
            high: input.f64("a limit")?,
        },
        _ => Range::Integers {
            low: input.u64("a limit")? as i64,
            high: input.u64("a limit")? as i64,
        },
    };
    let code = choice(input, "an argument's secrecy", 2)?;
    let secrecy = match code {
        0 => Secrecy::Plain,
        _ => Secrecy::Encrypted(read_map(input)?),
    };
    let reals = matches!(range, Range::Reals { .. });
    let producer = match code {
        2 => Some(read_producer(input, reals)?),
        _ => None,
    };
    Ok(Argument {
        name,
        shape,
        range,
        secrecy,
        producer,
    })
}

fn write_plaintext(out: &mut Writer, plaintext: &PlaintextSource) {
    out.u32(plaintext.expression);
    write_map(out, &plaintext.slots);
    out.f64(plaintext.bound);
}

fn read_plaintext(input: &mut Reader<'_>) -> Result<PlaintextSource, Error> {
    Ok(PlaintextSource {
        expression: input.u32("an expression")?,
        slots: read_map(input)?,
        bound: input.f64("a plaintext's bound")?,
    })
}

fn write_line(out: &mut Writer, line: &SourceLine) {
    write_text(out, &line.file);
    out.u32(line.number);
    write_text(out, &line.text);
}

fn read_line(input: &mut Reader<'_>) -> Result<SourceLine, Error> {
    Ok(SourceLine {
        file: read_text(input, "a file name")?,
        number: input.u32("a line number")?,
        text: read_text(input, "a source line")?,
    })
}
