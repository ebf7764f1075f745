// SPDX-License-Identifier: Apache-2.0
use super::*;

#[test]
fn a_repeated_program_is_its_runs_side_by_side() {
    let program = sample(bfv_parameters());
    let (inputs, steps) = (program.input_count(), program.steps.len());
    let twice = program.repeated(2);
    assert_eq!(twice.input_count(), 2 * inputs);
    assert_eq!(twice.steps.len(), 2 * steps);
    assert_eq!(twice.plain_shapes(), program.plain_shapes());
    assert_eq!(twice.required_keys(), program.required_keys());
    assert_eq!(program.repeated(1), program);
    let of = |program: &Program, number: u32| program.steps[number as usize];
    // Each run's outputs depend on its own inputs, through the same operations.
    for run in 0..2 {
        let outputs = &twice.outputs[run * program.outputs.len()..][..program.outputs.len()];
        let mut pairs: Vec<(u32, u32)> = program
            .outputs
            .iter()
            .copied()
            .zip(outputs.iter().copied())
            .collect();
        while let Some((single, moved)) = pairs.pop() {
            let (a, b) = (of(&program, single), of(&twice, moved));
            assert_eq!(
                (a.operation.name(), a.level, a.size),
                (b.operation.name(), b.level, b.size)
            );
            if a.operation == Operation::Input {
                assert_eq!(moved as usize, run * inputs + single as usize);
            }
            let ((x, count), (y, _)) = (a.operation.operands(), b.operation.operands());
            pairs.extend(x[..count].iter().copied().zip(y));
        }
    }
    // It draws zeros, which single runs would draw anew.
    assert!(!program.can_repeat());
}
