// SPDX-License-Identifier: Apache-2.0
//! The order of instructions within a submission: transfers beside work.
//!
//! Issue is in order, so a transfer that waits for its unit holds back the work behind it. Three queues keep their own order:
//! work, loads and copies, stores. The next instruction is the one of their heads that can start earliest.

use isa::{BuildInfo, Instruction, Op, TWIDDLE_SLOT, Unit};
use model::{Timing, schedule};

/// Queues: work, loads and copies, stores.
const QUEUES: usize = 3;

fn queue(i: &Instruction) -> usize {
    match (i.op.spec().unit, i.op) {
        (Unit::Compute, _) => 0,
        (_, Op::Store) => 2,
        _ => 1,
    }
}

/// Something that instructions read and write.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Slot(u8),
    Buffer(u32),
}

fn reads(i: &Instruction) -> Vec<Place> {
    let mut places: Vec<Place> = i.reads().map(Place::Slot).collect();
    if i.op.is_transform() {
        places.push(Place::Slot(TWIDDLE_SLOT));
    }
    if i.op == Op::Load {
        places.push(Place::Buffer(i.buf_idx));
    }
    places
}

fn writes(i: &Instruction) -> Vec<Place> {
    let mut places: Vec<Place> = i.writes().map(Place::Slot).collect();
    if i.op.is_transform() {
        places.extend([0, 1].map(Place::Slot));
    }
    if i.op == Op::Store {
        places.push(Place::Buffer(i.buf_idx));
    }
    places
}

/// For each instruction the earlier ones that it must come after.
fn predecessors(program: &[Instruction]) -> Vec<Vec<usize>> {
    let mut writer = std::collections::HashMap::new();
    let mut readers: std::collections::HashMap<Place, Vec<usize>> =
        std::collections::HashMap::new();
    let mut all = Vec::with_capacity(program.len());
    for (index, i) in program.iter().enumerate() {
        let mut before: Vec<usize> = Vec::new();
        for place in reads(i) {
            before.extend(writer.get(&place));
            readers.entry(place).or_default().push(index);
        }
        for place in writes(i) {
            before.extend(writer.insert(place, index));
            before.extend(
                readers
                    .remove(&place)
                    .unwrap_or_default()
                    .iter()
                    .filter(|&&r| r != index),
            );
        }
        all.push(before);
    }
    all
}

/// The same program with its instructions reordered, if that is faster.
pub fn overlap(info: &BuildInfo, program: Vec<Instruction>) -> Vec<Instruction> {
    let merged = merge(info, &program);
    let cycles = |program: &[Instruction]| schedule(info, program).counters.cycles;
    if cycles(&merged) < cycles(&program) {
        merged
    } else {
        program
    }
}

fn merge(info: &BuildInfo, program: &[Instruction]) -> Vec<Instruction> {
    let timing = Timing::new(info);
    let before = predecessors(program);
    let mut queues: [Vec<usize>; QUEUES] = Default::default();
    (0..program.len()).for_each(|index| queues[queue(&program[index])].push(index));
    let mut heads = [0; QUEUES];
    // When each instruction ends, once it is placed.
    let mut ends: Vec<Option<u64>> = vec![None; program.len()];
    // When the compute unit and the memory unit take another, and when the sequencer does.
    let (mut ready, mut issue) = ([0; 2], 0);
    let mut order = Vec::with_capacity(program.len());
    while order.len() < program.len() {
        let start = |which: usize| {
            let &index = queues[which].get(heads[which])?;
            let mut start = issue.max(ready[which.min(1)]);
            for earlier in &before[index] {
                start = start.max(ends[*earlier]?);
            }
            // Stores wait for loads that can start as soon: work depends on those.
            Some((start, [1, 0, 2][which], which, index))
        };
        let Some((start, _, which, index)) = (0..QUEUES).filter_map(start).min() else {
            // No head is free: cannot be, as the first instruction not yet placed depends on placed ones only.
            return program.to_vec();
        };
        let i = &program[index];
        let (taken, end) = match which {
            0 => (timing.issue(i), start + timing.issue(i)),
            _ => (timing.alone(i) + 1, start + timing.alone(i) + 1),
        };
        ready[which.min(1)] = start + taken;
        ends[index] = Some(end);
        issue = start + 1;
        heads[which] += 1;
        order.push(*i);
    }
    order
}
