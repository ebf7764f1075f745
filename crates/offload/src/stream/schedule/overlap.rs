// SPDX-License-Identifier: Apache-2.0
//! The order of instructions within a submission: transfers beside work.
//!
//! Issue is in order, so a transfer that waits for its unit holds back the work behind it. Five queues keep their own
//! order: work, loads and copies, stores, base conversions, pointwise instructions where they have a unit.
//! The next instruction is the one of their heads that can start earliest.

use std::collections::{HashMap, VecDeque};

use isa::{BuildInfo, Instruction, Op, State, TWIDDLE_SLOT, Unit};
use model::{Timing, schedule_from};

use super::port_share::PortShare;

/// Queues: work, loads and copies, stores, base conversions, pointwise instructions where they have a unit.
const QUEUES: usize = 5;
/// Units.
const UNITS_IN_ALL: usize = 4;
/// The unit of each queue.
const UNITS: [usize; QUEUES] = [0, 1, 1, 2, 3];
/// Which queue is first where several could start: work depends on loads, and nothing on stores.
const RANKS: [u8; QUEUES] = [1, 0, 4, 2, 3];

fn queue(timing: &Timing, i: &Instruction) -> usize {
    let products = match timing.pointwise_pipe {
        Some(_) => 4,
        None => 0,
    };
    if i.streams() {
        // With the product that reads it.
        return products;
    }
    match (timing.unit(i), i.op) {
        (Unit::Compute, _) => 0,
        (Unit::Pointwise, _) => products,
        (Unit::Rns, _) => 3,
        (_, Op::Store) => 2,
        _ => 1,
    }
}

/// Instructions at the front of a queue that are looked at: one that can start goes before those that wait.
const WINDOW: usize = 8;

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
pub fn predecessors(program: &[Instruction]) -> Vec<Vec<usize>> {
    let mut writer = HashMap::new();
    let mut readers: HashMap<Place, Vec<usize>> = HashMap::new();
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

/// The same program with its instructions reordered, if that is faster on a device that holds what `state` says; its
/// cycles there.
pub fn overlap(
    info: &BuildInfo,
    state: &State,
    port: &PortShare,
    program: Vec<Instruction>,
) -> (Vec<Instruction>, u64) {
    let merged = merge(info, state, port, &program);
    let cycles = |program: &[Instruction]| schedule_from(info, state, program).counters.cycles;
    let (faster, before) = (cycles(&merged), cycles(&program));
    if faster < before {
        (merged, faster)
    } else {
        (program, before)
    }
}

/// Slots that each unit holds, and until when: no two units share one, not even to read.
#[derive(Default)]
struct Holds {
    until: HashMap<(usize, u8), u64>,
}

impl Holds {
    fn start(&self, unit: usize, i: &Instruction) -> u64 {
        let others = (0..UNITS_IN_ALL).filter(|&other| other != unit);
        let slots = || i.reads().chain(i.writes());
        let ends = others.flat_map(|other| slots().map(move |slot| (other, slot)));
        ends.filter_map(|hold| self.until.get(&hold).copied())
            .max()
            .unwrap_or(0)
    }

    fn take(&mut self, unit: usize, slots: impl Iterator<Item = u8>, until: u64) {
        for slot in slots {
            let known = self.until.entry((unit, slot)).or_default();
            *known = until.max(*known);
        }
    }
}

fn merge(
    info: &BuildInfo,
    state: &State,
    port: &PortShare,
    program: &[Instruction],
) -> Vec<Instruction> {
    let timing = Timing::new(info);
    let before = predecessors(program);
    let alone = |i: &Instruction| {
        let shape = state.conversions.get(usize::from(i.const_idx)).copied();
        match (i.op, shape.flatten()) {
            (Op::Lift | Op::Scale, Some(shape)) => {
                timing.conversion(i, u64::from(shape.inputs) + u64::from(shape.own))
            }
            _ => timing.alone(i),
        }
    };
    // The product that reads what an instruction streams follows it.
    let reader = |index: usize| program[index].streams().then_some(index + 1);
    let mut queues: [VecDeque<usize>; QUEUES] = Default::default();
    let is_reader = |index: usize| index > 0 && program[index - 1].streams();
    (0..program.len())
        .filter(|&index| !is_reader(index))
        .for_each(|index| queues[queue(&timing, &program[index])].push_back(index));
    // When each instruction ends, once it is placed.
    let mut ends: Vec<Option<u64>> = vec![None; program.len()];
    // When each unit takes another, and when the sequencer does.
    let (mut ready, mut issue, mut holds) = ([0; UNITS_IN_ALL], 0, Holds::default());
    let mut order = Vec::with_capacity(program.len());
    while order.len() < program.len() {
        let start = |which: usize, at: usize| {
            let index = queues[which][at];
            let unit = UNITS[which];
            let Some(reader) = reader(index) else {
                let mut start = issue
                    .max(ready[unit])
                    .max(holds.start(unit, &program[index]));
                for earlier in &before[index] {
                    start = start.max(ends[*earlier]?);
                }
                return Some((start, RANKS[which], at, which));
            };
            // It may run ahead of the product behind it by the time that its first word takes.
            let ahead = alone(&program[index]).saturating_sub(timing.issue(&program[reader]));
            let mut start = ready[unit].max(holds.start(unit, &program[reader]));
            for earlier in &before[reader] {
                start = start.max(ends[*earlier]?);
            }
            let mut start = start.saturating_sub(ahead).max(issue).max(ready[1]);
            for earlier in &before[index] {
                start = start.max(ends[*earlier]?);
            }
            Some((start, RANKS[which], at, which))
        };
        let near = |which: usize| (0..queues[which].len().min(WINDOW)).map(move |at| (which, at));
        let choices = (0..QUEUES).flat_map(near);
        let Some((start, _, at, which)) = choices.filter_map(|(which, at)| start(which, at)).min()
        else {
            // No head is free: cannot be, as the first instruction not yet placed depends on placed ones only.
            return program.to_vec();
        };
        let Some(index) = queues[which].remove(at) else {
            return program.to_vec();
        };
        if let Some(reader) = reader(index) {
            let unit = UNITS[which];
            let (load, i) = (&program[index], &program[reader]);
            let begin = (start + 1).max(ready[unit]).max(holds.start(unit, i));
            let begin = before[reader]
                .iter()
                .filter_map(|&earlier| ends[earlier])
                .fold(begin, u64::max);
            let loaded = (start + alone(load)).max(begin + timing.issue(i)) + 1;
            let end = loaded.max(begin + timing.issue(i));
            holds.take(unit, i.reads(), end);
            holds.take(unit, i.writes(), end + timing.pipe);
            (ready[unit], ready[1], issue) = (end, loaded, begin + 1);
            (ends[index], ends[reader]) = (Some(loaded), Some(end));
            order.extend([*load, *i]);
            continue;
        }
        let (i, unit) = (&program[index], UNITS[which]);
        let taken = match which {
            0 => timing.issue(i),
            1 | 2 if matches!(i.op, Op::Load | Op::Store) => (alone(i) + 1) * port.turns(i),
            _ => alone(i) + 1,
        };
        let end = start + taken;
        if i.op.is_transform() {
            // The source is given up after the first stage.
            let first = i.n() as u64 / (2 * timing.butterflies) + 2;
            holds.take(unit, std::iter::once(i.src_a), start + first);
            holds.take(unit, i.writes().chain([0, 1, i.src_c]), end + timing.pipe);
        } else {
            holds.take(unit, i.reads(), end);
            let drain = if which == 0 { timing.pipe } else { 0 };
            holds.take(unit, i.writes(), end + drain);
        }
        ready[unit] = end;
        ends[index] = Some(end);
        issue = start + 1;
        order.push(*i);
    }
    order
}
