// SPDX-License-Identifier: Apache-2.0
//! A program repeated, as one: an engine can overlap the computation of one run with the transfers of another.

use crate::program::{Program, Secrecy};
use crate::step::Step;

impl Program {
    /// Whether [`Program::repeated`] gives what the single runs give:
    /// no step draws zeros, which differ from run to run.
    pub fn can_repeat(&self) -> bool {
        let draws = |step: &Step| step.operation.encrypts();
        !self.steps.iter().any(draws)
    }

    /// The program on `count` sets of ciphertexts, at least one, one set after another; outputs likewise. Plain
    /// arguments are those of all runs.
    #[must_use]
    pub fn repeated(&self, count: usize) -> Self {
        let inputs = self.input_count();
        let own = self.steps.len() - inputs;
        // Inputs of all runs stand first, then the operations of each.
        let place = |run: usize, number: u32| match number as usize {
            input if input < inputs => (run * inputs + input) as u32,
            operation => (count * inputs + run * own + operation - inputs) as u32,
        };
        let mut program = self.clone();
        let encrypted = self.arguments.iter();
        let encrypted = encrypted.filter(|argument| argument.secrecy != Secrecy::Plain);
        let further = (1..count).flat_map(|_| encrypted.clone().cloned());
        program.arguments.extend(further);
        program.steps = self.steps[..inputs].repeat(count);
        program.outputs.clear();
        for run in 0..count {
            let moved = |step: &Step| Step {
                operation: step.operation.with_operands(|number| place(run, number)),
                ..*step
            };
            program.steps.extend(self.steps[inputs..].iter().map(moved));
            let outputs = self.outputs.iter().map(|&number| place(run, number));
            program.outputs.extend(outputs);
        }
        program
    }
}
