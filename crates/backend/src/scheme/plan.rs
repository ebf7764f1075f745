// SPDX-License-Identifier: Apache-2.0
//! Tasks of a program: the steps that are computed together, and the dependences between tasks.

use program::Program;
use std::collections::BTreeMap;

/// Steps computed as one: a single one, or all rotations of one ciphertext, which share its decomposition (hoisting).
#[derive(Debug, PartialEq, Eq)]
pub struct Task {
    /// In program order.
    pub steps: Vec<u32>,
    /// Tasks before it whose results it uses.
    pub waits_for: usize,
    /// Tasks after it that use its results.
    pub users: Vec<u32>,
}

/// The order of a run.
pub struct Plan {
    /// In the order of their first steps.
    pub tasks: Vec<Task>,
    /// Number of uses of each step's result, as an operand or as an output.
    pub uses: Vec<u32>,
    /// The encryptions of zero: their places here number their randomness.
    pub zeros: Vec<u32>,
}

impl Plan {
    pub fn new(program: &Program) -> Self {
        let mut tasks: Vec<Task> = Vec::new();
        let mut task_of: Vec<Option<u32>> = Vec::with_capacity(program.steps.len());
        let mut rotations: BTreeMap<u32, u32> = BTreeMap::new();
        let mut uses = vec![0; program.steps.len()];
        let mut zeros = Vec::new();
        for (number, step) in (0..).zip(&program.steps) {
            let next = tasks.len() as u32;
            let own = if step.operation.is_input() {
                None
            } else if step.operation.attributes().rotation.is_some() {
                let ([of, _], _) = step.operation.operands();
                Some(*rotations.entry(of).or_insert(next))
            } else {
                Some(next)
            };
            task_of.push(own);
            let Some(own) = own else { continue };
            if step.operation.encrypts() {
                zeros.push(number);
            }
            if own < next {
                tasks[own as usize].steps.push(number);
                continue;
            }
            let operands = step.operation.operands();
            let mut before: Vec<u32> = Vec::new();
            for &operand in &operands.0[..operands.1] {
                uses[operand as usize] += 1;
                before.extend(task_of[operand as usize]);
            }
            before.dedup();
            before
                .iter()
                .for_each(|&task| tasks[task as usize].users.push(own));
            tasks.push(Task {
                steps: vec![number],
                waits_for: before.len(),
                users: Vec::new(),
            });
        }
        program
            .outputs
            .iter()
            .for_each(|&output| uses[output as usize] += 1);
        Self { tasks, uses, zeros }
    }

    /// The number of an encryption of zero among all of them.
    pub fn zero_index(&self, step: u32) -> u64 {
        self.zeros.partition_point(|&zero| zero < step) as u64
    }

    /// The most tasks that have equally many before them on their longest way; 1 for a chain.
    pub fn width(&self) -> usize {
        let mut depth = vec![0_usize; self.tasks.len()];
        let mut count = vec![0_usize; self.tasks.len()];
        for (task, at) in self.tasks.iter().zip(0..) {
            let own: usize = depth[at];
            count[own] += 1;
            for &user in &task.users {
                depth[user as usize] = depth[user as usize].max(own + 1);
            }
        }
        count.into_iter().max().unwrap_or(1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{bfv_parameters, random::Maker};
    use program::Encryption;
    use program::step::{Operation, Step};

    /// Three inputs, then these operations.
    fn plan(operations: &[Operation]) -> Plan {
        let (mut program, _) = Maker::new(bfv_parameters(), Encryption::Secret, 0).finish();
        let input = program.steps[0];
        program.steps.truncate(3);
        let step = |&operation: &Operation| Step { operation, ..input };
        program.steps.extend(operations.iter().map(step));
        program.outputs = vec![program.steps.len() as u32 - 1];
        Plan::new(&program)
    }

    #[test]
    fn rotations_of_one_ciphertext_are_one_task_with_one_use_of_it() {
        let plan = plan(&[
            Operation::Rotate(0, 1),
            Operation::Rotate(1, 1),
            Operation::Add(3, 4),
            Operation::Rotate(0, 2),
            Operation::Add(5, 6),
        ]);
        let steps: Vec<&[u32]> = plan
            .tasks
            .iter()
            .map(|task| task.steps.as_slice())
            .collect();
        assert_eq!(steps, [&[3, 6][..], &[4], &[5], &[7]]);
        assert_eq!(plan.tasks[0].users, [2, 3]);
        let waits: Vec<usize> = plan.tasks.iter().map(|task| task.waits_for).collect();
        assert_eq!(waits, [0, 0, 2, 2]);
        assert_eq!(plan.uses, [1, 1, 0, 1, 1, 1, 1, 1]);
        assert_eq!(plan.width(), 2);
    }

    #[test]
    fn a_chain_is_one_wide_and_a_doubled_operand_is_waited_for_once() {
        let plan = plan(&[
            Operation::Negate(0),
            Operation::Add(3, 3),
            Operation::Negate(4),
        ]);
        assert_eq!(plan.width(), 1);
        assert_eq!(plan.tasks[1].waits_for, 1);
        assert_eq!(plan.uses[3], 2);
    }

    #[test]
    fn zeros_are_numbered_in_program_order() {
        let plan = plan(&[
            Operation::EncryptZero,
            Operation::Negate(0),
            Operation::EncryptZero,
            Operation::Add(3, 5),
        ]);
        assert_eq!([3, 5].map(|step| plan.zero_index(step)), [0, 1]);
    }
}
