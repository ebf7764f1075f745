// SPDX-License-Identifier: Apache-2.0
//! Ciphertexts of the encrypted arguments: read, and compared with the program's input steps.

use super::interface::{Facts, Scheme};
use super::value::Value;
use crate::{Error, Input};
use ckks::SCALE_TOLERANCE;
use program::Program;
use program::step::Step;
use rlwe::{KeyId, Threads};
use std::fmt::Display;
use std::sync::Arc;

/// Reads the ciphertexts; each may expand a seed, so threads share them.
pub fn read<'a, S: Scheme>(
    scheme: &S,
    inputs: &[Input<'a>],
    threads: &Threads,
) -> Result<Vec<Value<'a, S::Ciphertext>>, Error> {
    threads.try_map(inputs, |input| match input {
        Input::Bytes(bytes) => Ok(Value::Own(Arc::new(scheme.read(bytes)?))),
        Input::Ciphertext(any) => match any.downcast_ref() {
            Some(ciphertext) => Ok(Value::Lent(ciphertext)),
            None => Err(Error::Input(
                "the ciphertexts are of another scheme or word width than the program".into(),
            )),
        },
    })
}

/// Fails unless every ciphertext fits its input step, all under one key: `owner` if it is known.
pub fn check<S: Scheme>(
    scheme: &S,
    program: &Program,
    inputs: &[Value<'_, S::Ciphertext>],
    mut owner: Option<KeyId>,
) -> Result<(), Error> {
    if inputs.len() != program.input_count() {
        return Err(Error::Input(format!(
            "{} ciphertexts came, the program takes {}",
            inputs.len(),
            program.input_count()
        )));
    }
    let places = places(program);
    let handed = program.handed();
    for (number, (input, place)) in inputs.iter().zip(places).enumerate() {
        let (facts, step) = (scheme.facts(input), &program.steps[number]);
        // Of a result that nothing was done to, both halves may still be a seed.
        let fresh = handed[number].is_none();
        let seeded = fresh.then_some(program.encryption.is_secret());
        compare(program, step, &facts, seeded).map_err(|(name, got, wanted)| {
            Error::Input(format!(
                "{place} has {name} {got}, the program has {name} {wanted} there; send what this program's own client or \
                 server made, in its order"
            ))
        })?;
        let known = *owner.get_or_insert(facts.key);
        if facts.key != known {
            return Err(Error::Keys(format!(
                "{place} belongs to key {}, its message to key {known}",
                facts.key
            )));
        }
    }
    Ok(())
}

fn places(program: &Program) -> impl Iterator<Item = String> + '_ {
    let slots = program.parameters.slots();
    program.arguments.iter().flat_map(move |argument| {
        (0..argument.ciphertexts(slots))
            .map(|number| format!("ciphertext {number} of argument {}", argument.name))
    })
}

/// The first fact that differs: its name, given and expected value.
pub fn compare(
    program: &Program,
    step: &Step,
    facts: &Facts,
    seeded: Option<bool>,
) -> Result<(), (&'static str, String, String)> {
    fn same<T: PartialEq + Display>(
        name: &'static str,
        got: T,
        wanted: T,
    ) -> Result<(), (&'static str, String, String)> {
        if got == wanted {
            return Ok(());
        }
        Err((name, got.to_string(), wanted.to_string()))
    }
    if let Some(slots) = facts.slots {
        same("slots", slots, program.parameters.slots())?;
    }
    same("seeded", facts.seeded, seeded.unwrap_or(facts.seeded))?;
    same("level", facts.level, step.level as usize)?;
    same("size", facts.size, usize::from(step.size))?;
    match facts.scale {
        Some(scale) if (scale / step.scale - 1.0).abs() > SCALE_TOLERANCE => {
            Err(("scale", scale.to_string(), step.scale.to_string()))
        }
        _ => Ok(()),
    }
}
