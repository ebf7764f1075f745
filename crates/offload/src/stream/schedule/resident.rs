// SPDX-License-Identifier: Apache-2.0
//! Transfers apart from work: operands are loaded before it and results stored after it, as far as slots allow, each in
//! a submission of its own.

use isa::{Instruction, Op};

use super::overlap::predecessors;
use crate::stream::allocate::{Plan, Submission};

/// Splits each submission into the transfers that no work precedes, the work, and the stores that no work waits for.
pub fn apart(plan: &mut Plan) {
    let whole = std::mem::take(&mut plan.submissions);
    plan.submissions = whole.into_iter().flat_map(split).collect();
}

fn split(mut whole: Submission) -> Vec<Submission> {
    let (end, downloads) = (whole.end, std::mem::take(&mut whole.downloads));
    let sections = sections(&whole.program).into_iter();
    let mut programs = sections.filter(|section| !section.is_empty());
    // The device is set before the first part, and has all results after the last one.
    whole.program = programs.next().unwrap_or_default();
    let mut parts = vec![whole];
    parts.extend(programs.map(|program| Submission {
        program,
        end,
        ..Submission::default()
    }));
    if let Some(last) = parts.last_mut() {
        last.downloads = downloads;
    }
    parts
}

/// Transfers before, work, stores after; each in the program's order.
fn sections(program: &[Instruction]) -> [Vec<Instruction>; 3] {
    const BEFORE: usize = 0;
    const WORK: usize = 1;
    const AFTER: usize = 2;
    let earlier = predecessors(program);
    let mut section = vec![WORK; program.len()];
    for (at, i) in program.iter().enumerate() {
        let is_transfer = matches!(i.op, Op::Load | Op::Store) && !i.streams();
        if is_transfer && earlier[at].iter().all(|&one| section[one] == BEFORE) {
            section[at] = BEFORE;
        }
    }
    let mut is_awaited = vec![false; program.len()];
    for (at, i) in program.iter().enumerate().rev() {
        if i.op == Op::Store && section[at] == WORK && !is_awaited[at] {
            section[at] = AFTER;
        } else {
            earlier[at].iter().for_each(|&one| is_awaited[one] = true);
        }
    }
    [BEFORE, WORK, AFTER].map(|wanted| {
        let of = program.iter().zip(&section);
        of.filter(|(_, section)| **section == wanted)
            .map(|(i, _)| *i)
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Vec<Instruction> {
        isa::assemble(text).unwrap()
    }

    #[test]
    fn transfers_leave_the_work_as_far_as_slots_allow() {
        let whole = program(
            "load s2 n=64 buf=0\n\
             ntt s2, s2 n=64\n\
             load s3 n=64 buf=1\n\
             pmodmul s0, s2, s3 n=64\n\
             store s0 n=64 buf=2\n\
             load s3 n=64 buf=3\n\
             pmodadd s0, s2, s3 n=64\n\
             store s0 n=64 buf=4\n",
        );
        let [before, work, after] = sections(&whole);
        let pick = |at: &[usize]| at.iter().map(|&at| whole[at]).collect::<Vec<_>>();
        assert_eq!(before, pick(&[0, 2]));
        // Slot 3 is read before it is loaded again, and slot 0 stored before it is written again.
        assert_eq!(work, pick(&[1, 3, 4, 5, 6]));
        assert_eq!(after, pick(&[7]));
    }

    #[test]
    fn the_first_part_sets_the_device_and_the_last_one_has_the_results() {
        let mut plan = Plan::default();
        plan.submissions.push(Submission {
            moduli: vec![(0, vec![97])],
            uploads: vec![(0, 5)],
            downloads: vec![(1, 6)],
            program: program("load s2 n=64 buf=0\nntt s2, s2 n=64\nstore s2 n=64 buf=1\n"),
            end: 9,
            ..Submission::default()
        });
        apart(&mut plan);
        let parts = &plan.submissions;
        assert!(
            parts
                .iter()
                .all(|part| part.program.len() == 1 && part.end == 9)
        );
        let counts =
            |part: &Submission| (part.moduli.len(), part.uploads.len(), part.downloads.len());
        let found: Vec<_> = parts.iter().map(counts).collect();
        assert_eq!(found, [(1, 1, 0), (0, 0, 0), (0, 0, 1)]);
    }
}
