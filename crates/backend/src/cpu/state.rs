// SPDX-License-Identifier: Apache-2.0
//! The state of a walk as bytes: which tasks are done, and the ciphertexts that others still need.
//!
//! ```text
//! tasks: u32 · done: a byte each · ciphertexts: u32 · of each: step u32, length u64, bytes
//! ```

use crate::Error;
use crate::scheme::inputs::compare;
use crate::scheme::interface::Scheme;
use crate::scheme::plan::Plan;
use crate::scheme::value::Value;
use program::Program;
use rlwe::KeyId;
use std::sync::Arc;

/// What a walk had made at some time; consistent, as tasks under way count as not begun.
pub struct Snapshot<'a, C> {
    /// Of each task.
    pub finished: Vec<bool>,
    /// By step, those that are still used.
    pub values: Vec<(u32, Value<'a, C>)>,
}

impl<C> Snapshot<'_, C> {
    pub fn to_bytes<S: Scheme<Ciphertext = C>>(&self, scheme: &S) -> Vec<u8> {
        let mut bytes = (self.finished.len() as u32).to_le_bytes().to_vec();
        bytes.extend(self.finished.iter().map(|done| u8::from(*done)));
        bytes.extend((self.values.len() as u32).to_le_bytes());
        for (number, value) in &self.values {
            let own = scheme.write(value);
            bytes.extend(number.to_le_bytes());
            bytes.extend((own.len() as u64).to_le_bytes());
            bytes.extend(own);
        }
        bytes
    }

    /// The snapshot of these bytes, and the uses that each step's result still has, after checking that a walk through
    /// the program can have left them.
    pub fn from_bytes<S: Scheme<Ciphertext = C>>(
        bytes: &[u8],
        (program, plan): (&Program, &Plan),
        scheme: &S,
        owner: Option<KeyId>,
    ) -> Result<(Self, Vec<u32>), Error> {
        let mut rest = bytes;
        let tasks = take(&mut rest, 4).map(number)?;
        if tasks as usize != plan.tasks.len() {
            return Err(refused(format!(
                "it has {tasks} tasks, the program {}",
                plan.tasks.len()
            )));
        }
        let done = take(&mut rest, tasks as usize)?;
        if let Some(byte) = done.iter().find(|&&byte| byte > 1) {
            return Err(refused(format!("a task is marked {byte}, not 0 or 1")));
        }
        let finished: Vec<bool> = done.iter().map(|&byte| byte == 1).collect();
        let uses = uses_left(program, plan, &finished)?;
        let mut needed = needed(program, plan, &finished, &uses).into_iter();
        let count = take(&mut rest, 4).map(number)?;
        let mut values = Vec::new();
        for _ in 0..count {
            let step = take(&mut rest, 4).map(number)?;
            if needed.next() != Some(step) {
                return Err(refused(format!(
                    "it has step {step}, which nothing needs next"
                )));
            }
            let length = take(&mut rest, 8)?;
            let length = length
                .iter()
                .rev()
                .fold(0, |n: u64, &b| n << 8 | u64::from(b));
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let value = scheme.read(take(&mut rest, length)?)?;
            let facts = scheme.facts(&value);
            if owner.is_some_and(|owner| owner != facts.key) {
                return Err(refused(format!("step {step} belongs to another key")));
            }
            let own = &program.steps[step as usize];
            compare(program, own, &facts, None).map_err(|(name, got, wanted)| {
                refused(format!("step {step} has {name} {got}, not {wanted}"))
            })?;
            values.push((step, Value::Own(Arc::new(value))));
        }
        match needed.next() {
            Some(step) => Err(refused(format!("it lacks step {step}"))),
            None if rest.is_empty() => Ok((Self { finished, values }, uses)),
            None => Err(refused(format!("{} bytes follow its end", rest.len()))),
        }
    }
}

/// The uses left of each step's result, if what is finished has all that it needed.
fn uses_left(program: &Program, plan: &Plan, finished: &[bool]) -> Result<Vec<u32>, Error> {
    let mut uses = plan.uses.clone();
    for (at, task) in plan.tasks.iter().enumerate() {
        if !finished[at] {
            if let Some(late) = task.users.iter().find(|&&user| finished[user as usize]) {
                return Err(refused(format!("task {late} is done before task {at}")));
            }
            continue;
        }
        let (operands, count) = program.steps[task.steps[0] as usize].operation.operands();
        for &a in &operands[..count] {
            uses[a as usize] -= 1;
        }
    }
    Ok(uses)
}

/// The steps that finished tasks made for others, rising.
fn needed(program: &Program, plan: &Plan, finished: &[bool], uses: &[u32]) -> Vec<u32> {
    let mut made = vec![false; program.steps.len()];
    for (task, _) in plan.tasks.iter().zip(finished).filter(|(_, done)| **done) {
        task.steps
            .iter()
            .for_each(|&step| made[step as usize] = true);
    }
    let steps = 0..program.steps.len() as u32;
    steps
        .filter(|&step| made[step as usize] && uses[step as usize] > 0)
        .collect()
}

fn take<'b>(rest: &mut &'b [u8], length: usize) -> Result<&'b [u8], Error> {
    let (taken, after) = rest
        .split_at_checked(length)
        .ok_or_else(|| refused("it is cut short".into()))?;
    *rest = after;
    Ok(taken)
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u32::from(b))
}

fn refused(reason: String) -> Error {
    Error::Input(format!(
        "the state of a run is not of this program: {reason}; begin anew without it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Keys;
    use crate::scheme::with_scheme;
    use crate::tests::random::Maker;
    use crate::tests::reference::Client;
    use crate::tests::{
        bfv_parameters, bfv_wide_parameters, ckks_parameters, clear, parameters_of,
    };
    use program::step::{Operation, Step};
    use program::{Encryption, Parameters};
    use rlwe::Threads;

    /// Three inputs; a first result 3 that step 4 uses and the client reads; 5, which waits for both.
    fn program_of(parameters: Parameters) -> Arc<Program> {
        let (mut program, _) = Maker::new(parameters, Encryption::Secret, 0).finish();
        program.steps.truncate(3);
        let input = program.steps[0];
        for operation in [
            Operation::Negate(0),
            Operation::Negate(3),
            Operation::Add(3, 4),
        ] {
            program.steps.push(Step { operation, ..input });
        }
        program.outputs = vec![3, 5];
        Arc::new(program)
    }

    fn client_of(program: &Program, seed: &str) -> Client {
        Client::seeded(program, &clear::inputs(program, 1), seed)
    }

    /// Bytes of a state: which tasks are done, and ciphertexts by step.
    fn state(done: &[u8], values: &[(u32, &[u8])]) -> Vec<u8> {
        let mut bytes = (done.len() as u32).to_le_bytes().to_vec();
        bytes.extend(done);
        bytes.extend((values.len() as u32).to_le_bytes());
        for (step, own) in values {
            bytes.extend(step.to_le_bytes());
            bytes.extend((own.len() as u64).to_le_bytes());
            bytes.extend(*own);
        }
        bytes
    }

    /// What a state says is done, the uses that are left, and the state written again.
    type Found = (Vec<bool>, Vec<u32>, Vec<u8>);

    fn read(bytes: &[u8], program: &Arc<Program>, keys: &Keys) -> Result<Found, Error> {
        let plan = Plan::new(program);
        with_scheme!((program, keys, &Threads::ONE), scheme => {
            let owner = scheme.check_keys(program)?;
            let order = (&**program, &plan);
            let (found, uses) = Snapshot::from_bytes(bytes, order, &scheme, owner)?;
            Ok((found.finished.clone(), uses, found.to_bytes(&scheme)))
        })
    }

    fn refusal(bytes: &[u8], program: &Arc<Program>, keys: &Keys) -> String {
        read(bytes, program, keys).unwrap_err().to_string()
    }

    /// A program of each kind, its client, and the state of its first task.
    fn all() -> Vec<(Arc<Program>, Client, Vec<u8>)> {
        let sets = [ckks_parameters(), bfv_parameters(), bfv_wide_parameters()];
        let made = sets.map(|parameters| {
            let program = program_of(parameters);
            let client = client_of(&program, "own");
            let bytes = state(&[1, 0, 0], &[(3, &client.inputs[0])]);
            (program, client, bytes)
        });
        made.into()
    }

    #[test]
    fn a_state_is_read_and_written_again() {
        for (program, client, bytes) in all() {
            let (finished, uses, again) = read(&bytes, &program, &client.keys).unwrap();
            assert_eq!(finished, [true, false, false]);
            // Step 3 is an operand twice and a result; the input that it was made of is not needed any more.
            assert_eq!(uses, [0, 0, 0, 3, 1, 1]);
            assert_eq!(
                read(&again, &program, &client.keys).unwrap(),
                (finished, uses, again.clone())
            );
            let none = state(&[0; 3], &[]);
            assert_eq!(read(&none, &program, &client.keys).unwrap().2, none);
        }
    }

    #[test]
    fn a_ciphertext_of_another_key_is_refused() {
        for (program, client, _) in all() {
            let other = client_of(&program, "other");
            let bytes = state(&[1, 0, 0], &[(3, &other.inputs[0])]);
            let text = refusal(&bytes, &program, &client.keys);
            assert!(
                text.contains("step 3 belongs to another key; begin anew"),
                "{text}"
            );
            // With its own keys it is a state of this program.
            read(&bytes, &program, &other.keys).unwrap();
        }
    }

    #[test]
    fn a_ciphertext_of_another_level_scale_or_size_is_refused() {
        type Change = fn(&mut Step);
        let changes: [(&str, Change); 3] = [
            ("level", |step| step.level -= 1),
            ("scale", |step| step.scale *= 2.0),
            ("size", |step| step.size = 3),
        ];
        for (program, client, bytes) in all() {
            for (name, change) in changes {
                let mut other = (*program).clone();
                change(&mut other.steps[3]);
                let found = read(&bytes, &Arc::new(other), &client.keys);
                if name == "scale" && program.parameters.plain_modulus().is_some() {
                    found.unwrap();
                    continue;
                }
                let text = found.unwrap_err().to_string();
                assert!(text.contains(&format!("step 3 has {name} ")), "{text}");
            }
        }
    }

    #[test]
    fn a_state_of_another_program_is_refused() {
        let program = program_of(bfv_parameters());
        let client = client_of(&program, "own");
        let mut longer = (*program).clone();
        longer.steps.push(longer.steps[5]);
        let bytes = state(&[1, 0, 0], &[(3, &client.inputs[0])]);
        let text = refusal(&bytes, &Arc::new(longer), &client.keys);
        assert!(text.contains("it has 3 tasks, the program 4"), "{text}");
        // A ciphertext of another set.
        let small = program_of(parameters_of(512));
        let small = client_of(&small, "own");
        let bytes = state(&[1, 0, 0], &[(3, &small.inputs[0])]);
        assert!(read(&bytes, &program, &client.keys).is_err());
    }

    #[test]
    fn what_no_walk_leaves_is_refused() {
        let program = program_of(ckks_parameters());
        let client = client_of(&program, "own");
        let own = client.inputs[0].as_slice();
        for (bytes, told) in [
            (state(&[0, 1, 0], &[]), "task 1 is done before task 0"),
            (state(&[2, 0, 0], &[]), "a task is marked 2, not 0 or 1"),
            (state(&[1, 0, 0], &[]), "it lacks step 3"),
            (
                state(&[1, 0, 0], &[(4, own)]),
                "it has step 4, which nothing needs next",
            ),
            (
                state(&[1, 0, 0], &[(3, own), (3, own)]),
                "it has step 3, which nothing needs next",
            ),
            (
                state(&[1, 0, 0], &[(u32::MAX, own)]),
                "which nothing needs next",
            ),
            (
                state(&[0, 0, 0], &[(0, own)]),
                "it has step 0, which nothing needs next",
            ),
            (
                [state(&[0; 3], &[]), vec![7]].concat(),
                "1 bytes follow its end",
            ),
        ] {
            let text = refusal(&bytes, &program, &client.keys);
            assert!(text.contains(told), "{text}, not {told}");
        }
    }

    #[test]
    fn lengths_are_no_reason_to_take_memory_and_damage_none_to_panic() {
        let program = program_of(ckks_parameters());
        let client = client_of(&program, "own");
        let bytes = state(&[1, 0, 0], &[(3, &client.inputs[0])]);
        for end in (0..64).chain([bytes.len() - 1]) {
            let text = refusal(&bytes[..end], &program, &client.keys);
            assert!(text.contains("it is cut short"), "{end}: {text}");
        }
        for (place, size) in [(0, 4), (7, 4), (15, 8)] {
            let mut bad = bytes.clone();
            bad[place..place + size].fill(0xff);
            refusal(&bad, &program, &client.keys);
        }
        for place in 0..bytes.len().min(400) {
            let mut bad = bytes.clone();
            bad[place] ^= 0x55;
            let _ = read(&bad, &program, &client.keys);
        }
    }
}
