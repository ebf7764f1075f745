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
