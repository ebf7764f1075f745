// SPDX-License-Identifier: Apache-2.0
//! The decoder of programs. An input is a whole object, or a byte that chooses a parameter set and what follows the
//! head (names and parameters), which a fuzzer could not guess. What is accepted also runs on plain arguments of zero.

mod edits;

use crate::check::check;
use crate::dice::Dice;
use program::expression::Numbers;
use program::{Assume, Limits, Program};
use rlwe::wire::{self, Tag, Writer};
use rlwe::{SecurityPolicy, Threads};
use std::sync::OnceLock;

/// Programs of every kind of step, expression and field, of both schemes; nameless, as a head has no names.
fn known() -> &'static [Program] {
    static KNOWN: OnceLock<Vec<Program>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let text = include_str!("../../../../spec/vectors/program.txt");
        let lines = text.lines().filter_map(|line| line.strip_prefix("bytes: "));
        lines.map(|digits| nameless(&from_hex(digits))).collect()
    })
}

fn from_hex(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len()).step_by(2);
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    pairs.map(byte).collect()
}

fn nameless(bytes: &[u8]) -> Program {
    let mut program = read(bytes, &Limits::default()).expect("a valid program");
    program.name.clear();
    program.variant.clear();
    program
}

fn read(bytes: &[u8], limits: &Limits) -> Result<Program, program::Error> {
    Program::from_bytes(bytes, SecurityPolicy::insecure(), limits)
}

/// What stands before the rest of a nameless program of that known program's set.
fn head(of: &Program) -> Vec<u8> {
    let parameters = of.parameters.to_bytes();
    let mut out = Writer::new();
    out.u32(0);
    out.u32(0);
    out.u32(parameters.len() as u32);
    out.bytes(&parameters);
    out.as_bytes().to_vec()
}

/// The known program whose set an input's first byte chooses.
fn chosen(byte: u8) -> &'static Program {
    &known()[usize::from(byte) % known().len()]
}

/// The input of a nameless program of a known one's set.
fn input_of(program: &Program, known: u8) -> Vec<u8> {
    let bytes = program.to_bytes();
    let payload = &bytes[wire::HEADER_LEN..bytes.len() - wire::CHECKSUM_LEN];
    let rest = &payload[head(chosen(known)).len()..];
    [&[known], rest].concat()
}

/// Inputs that are accepted.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    (0..).zip(known()).map(|(i, p)| input_of(p, i)).collect()
}

/// Another program in place of `data`: what `data` is, or else a known program, with a few parts changed as parts of
/// programs. Of four, three promise what they keep, so that the checks behind the promise are reached too.
pub(crate) fn mutated(data: &[u8], dice: &mut Dice) -> Vec<u8> {
    let (number, mut program) = taken(data).unwrap_or_else(|| {
        let number = dice.below(known().len()) as u8;
        (number, chosen(number).clone())
    });
    for _ in 0..1 + dice.below(4) {
        edits::edit(&mut program, dice);
    }
    if dice.below(4) > 0
        && program.check(&limits()).is_ok()
        && let Ok(bound) = program.bound(Assume::None, None)
    {
        program.guarantee.bits = bound.bits;
    }
    input_of(&program, number)
}

/// The program of an input that is accepted, with the byte that chooses its set.
fn taken(data: &[u8]) -> Option<(u8, Program)> {
    Some((*data.first()?, judged(data).ok()?))
}

/// The program of an input, or its refusal.
pub(crate) fn judged(data: &[u8]) -> Result<Program, program::Error> {
    let (known, payload) = payload_of(data);
    let owner = known.parameters.fingerprint();
    read(&wire::seal(Tag::Program, owner, &payload), &limits())
}

/// The known program whose set an input chooses, and the payload that the input stands for.
fn payload_of(data: &[u8]) -> (&'static Program, Vec<u8>) {
    let (&first, rest) = data.split_first().unwrap_or((&0, data));
    let known = chosen(first);
    (known, [&head(known)[..], rest].concat())
}

/// Values are refused or not; there is nothing else to them. An argument may be as large as its maker has memory for.
fn evaluate(program: &Program) {
    let elements = |shape: &[u32]| shape.iter().map(|&axis| axis as usize).product::<usize>();
    let shapes = program.plain_shapes();
    if shapes.iter().any(|shape| elements(shape) > 1 << 16) {
        return;
    }
    let exact = program.parameters.plain_modulus().is_some();
    let zeros = |shape: &&[u32]| match exact {
        true => Numbers::Integers(vec![0; elements(shape)]),
        false => Numbers::Reals(vec![0.0; elements(shape)]),
    };
    let arguments: Vec<Numbers> = shapes.iter().map(zeros).collect();
    if let Ok(values) = program.evaluate(&arguments)
        && let Ok(effects) = program.measure(&values, &Threads::ONE)
    {
        let _ = program.check_plaintexts(&effects);
    }
}

fn limits() -> Limits {
    Limits {
        plain_work: 1 << 16,
        ..Limits::default()
    }
}

pub(crate) fn program(data: &[u8]) {
    let (known, payload) = payload_of(data);
    let owner = known.parameters.fingerprint();
    for input in [data, &payload] {
        check(input, Tag::Program, owner, |bytes| {
            let program = read(bytes, &limits())?;
            evaluate(&program);
            Ok::<_, program::Error>(program.to_bytes())
        });
    }
}
