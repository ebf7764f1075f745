// SPDX-License-Identifier: Apache-2.0
//! The order of instructions within a submission: transfers beside work.
//!
//! Issue is in order, so a transfer that waits for its unit holds back the work behind it. Five queues keep their own
//! order: work, loads and copies, stores, base conversions, pointwise instructions where they have a unit. The next
//! instruction is the one near a queue's head that can start earliest. When a unit and its slots are free again is the
//! scoreboard's rule ([`Timing::holds`]); a dependence within a submission waits until the producer leaves its unit.

use std::collections::{HashMap, VecDeque};

use isa::{BuildInfo, Instruction, Op, Shape, State, TWIDDLE_SLOT, Unit};
use model::{Holds, SlotMasks, Timing, schedule_from};

use super::port_share::PortShare;

/// Queues: work, loads and copies, stores, base conversions, pointwise instructions where they have a unit.
const QUEUES: usize = 5;
/// Units that execute the queues.
const UNITS: usize = 4;
/// The unit of each queue.
const UNIT_OF: [usize; QUEUES] = [COMPUTE, MEMORY, MEMORY, 2, 3];
const COMPUTE: usize = 0;
const MEMORY: usize = 1;
/// Which queue is first where several could start: work depends on loads, and nothing on stores.
const RANKS: [u8; QUEUES] = [1, 0, 4, 2, 3];
/// Instructions at the front of a queue that are looked at: one that can start goes before those that wait.
const WINDOW: usize = 8;

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

/// Something that instructions read and write.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Slot(u8),
    Buffer(u32),
}

fn slots(mask: u64) -> impl Iterator<Item = u8> {
    (0..64).filter(move |slot| mask >> slot & 1 == 1)
}

fn reads(i: &Instruction) -> Vec<Place> {
    let mut places: Vec<Place> = slots(SlotMasks::of(i).reads).map(Place::Slot).collect();
    if i.op.is_transform() {
        places.push(Place::Slot(TWIDDLE_SLOT));
    }
    if i.op == Op::Load {
        places.push(Place::Buffer(i.buf_idx));
    }
    places
}

fn writes(i: &Instruction) -> Vec<Place> {
    let mut places: Vec<Place> = slots(SlotMasks::of(i).writes).map(Place::Slot).collect();
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
    let merged = Merge::new(info, state, port, &program).run();
    let cycles = |program: &[Instruction]| schedule_from(info, state, program).counters.cycles;
    let before = cycles(&program);
    match merged.map(|merged| (cycles(&merged), merged)) {
        Some((faster, merged)) if faster < before => (merged, faster),
        _ => (program, before),
    }
}

/// An instruction to be put in order.
struct Node<'a> {
    i: &'a Instruction,
    /// What it reads or writes.
    slots: Vec<u8>,
    /// Earlier instructions that it must come after.
    before: Vec<usize>,
    /// When those that wait for it can start, once it is placed.
    end: Option<u64>,
    /// The product that reads what it streams, which follows it.
    reader: Option<usize>,
}

/// The instruction that can start next, and when: the least is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    start: u64,
    rank: u8,
    /// Place in its queue.
    at: usize,
    queue: usize,
}

/// Counts a compute slot as free in the last cycle in which the scoreboard still holds it, except the source of a
/// transform. By the exact rule most plans would be shorter, by up to 0.2 %, and a few longer.
fn a_cycle_early(i: &Instruction, until: Holds) -> Holds {
    Holds {
        sources: until.sources - u64::from(!i.op.is_transform()),
        results: until.results - 1,
        ..until
    }
}

/// The queues and what is placed so far.
struct Merge<'a> {
    timing: Timing,
    conversions: &'a [Option<Shape>],
    port: &'a PortShare,
    nodes: Vec<Node<'a>>,
    queues: [VecDeque<usize>; QUEUES],
    /// When each unit takes another instruction.
    ready: [u64; UNITS],
    /// When the sequencer takes another instruction.
    issue: u64,
    /// Until when each unit holds each slot: no two units share one, not even to read.
    held: [[u64; 64]; UNITS],
    order: Vec<Instruction>,
}

impl<'a> Merge<'a> {
    fn new(
        info: &BuildInfo,
        state: &'a State,
        port: &'a PortShare,
        program: &'a [Instruction],
    ) -> Self {
        let timing = Timing::new(info);
        let mut queues: [VecDeque<usize>; QUEUES] = Default::default();
        for (index, i) in program.iter().enumerate() {
            if index == 0 || !program[index - 1].streams() {
                queues[queue(&timing, i)].push_back(index);
            }
        }
        let instructions = program.iter().zip(predecessors(program)).enumerate();
        let node = |(index, (i, before)): (usize, (&'a Instruction, _))| Node {
            i,
            slots: i.reads().chain(i.writes()).collect(),
            before,
            end: None,
            reader: i.streams().then_some(index + 1),
        };
        Self {
            timing,
            conversions: &state.conversions,
            port,
            nodes: instructions.map(node).collect(),
            queues,
            ready: [0; UNITS],
            issue: 0,
            held: [[0; 64]; UNITS],
            order: Vec::with_capacity(program.len()),
        }
    }

    /// The merged program.
    fn run(mut self) -> Option<Vec<Instruction>> {
        while self.order.len() < self.nodes.len() {
            // There always is one: the first instruction not yet placed depends on placed ones only.
            let choice = self.choose()?;
            let index = self.queues[choice.queue].remove(choice.at)?;
            match self.nodes[index].reader {
                Some(reader) => self.place_streamed(choice, index, reader),
                None => self.place(choice, index),
            }
        }
        Some(self.order)
    }

    fn choose(&self) -> Option<Choice> {
        let near = |queue: usize| {
            let window = self.queues[queue].iter().take(WINDOW).enumerate();
            window.filter_map(move |(at, &index)| {
                Some(Choice {
                    start: self.start(index, UNIT_OF[queue])?,
                    rank: RANKS[queue],
                    at,
                    queue,
                })
            })
        };
        (0..QUEUES).flat_map(near).min()
    }

    /// When an instruction can start; `None` while it waits for one that is not placed.
    fn start(&self, index: usize, unit: usize) -> Option<u64> {
        let node = &self.nodes[index];
        let after = self.after(index)?;
        let Some(reader) = node.reader else {
            return Some(self.issue.max(after).max(self.free(unit, index)));
        };
        // The LOAD may run ahead of the product behind it by the time that its first word takes.
        let product = self.nodes[reader].i;
        let ahead = self
            .cycles(node.i)
            .saturating_sub(self.timing.issue(product));
        let product = self.free(unit, reader).max(self.after(reader)?);
        let free = product.saturating_sub(ahead).max(self.issue);
        Some(free.max(self.ready[MEMORY]).max(after))
    }

    fn cycles(&self, i: &Instruction) -> u64 {
        self.timing.cycles(i, self.conversions)
    }

    /// When the instructions before one have ended; `None` if one of them is not placed.
    fn after(&self, index: usize) -> Option<u64> {
        let mut before = self.nodes[index].before.iter();
        before.try_fold(0, |latest: u64, &earlier| {
            Some(latest.max(self.nodes[earlier].end?))
        })
    }

    /// When the unit takes an instruction and no other unit holds one of its slots.
    fn free(&self, unit: usize, index: usize) -> u64 {
        let mut free = self.ready[unit];
        for other in (0..UNITS).filter(|&other| other != unit) {
            for &slot in &self.nodes[index].slots {
                free = free.max(self.held[other][usize::from(slot)]);
            }
        }
        free
    }

    fn hold(&mut self, unit: usize, i: &Instruction, until: Holds) {
        let SlotMasks {
            reads,
            late,
            writes,
        } = SlotMasks::of(i);
        for (mask, until) in [
            (reads & !late, until.sources),
            (writes | late, until.results),
        ] {
            for slot in slots(mask) {
                let known = &mut self.held[unit][usize::from(slot)];
                *known = until.max(*known);
            }
        }
        self.ready[unit] = until.unit;
    }

    fn place(&mut self, choice: Choice, index: usize) {
        let (i, unit) = (self.nodes[index].i, UNIT_OF[choice.queue]);
        let end = choice.start + self.cycles(i);
        let mut until = self.timing.holds(i, choice.start, end);
        if unit == COMPUTE {
            until = a_cycle_early(i, until);
        }
        if matches!(i.op, Op::Load | Op::Store) {
            let end = choice.start + (until.unit - choice.start) * self.port.turns(i);
            until = Holds {
                unit: end,
                sources: end,
                results: end,
            };
        }
        self.hold(unit, i, until);
        self.nodes[index].end = Some(until.unit);
        self.issue = choice.start + 1;
        self.order.push(*i);
    }

    /// A LOAD into the stream with the product that reads it.
    fn place_streamed(&mut self, choice: Choice, index: usize, reader: usize) {
        let unit = UNIT_OF[choice.queue];
        let (load, product) = (self.nodes[index].i, self.nodes[reader].i);
        let begin = (choice.start + 1).max(self.free(unit, reader));
        let begin = begin.max(self.after(reader).unwrap_or(0));
        let worked = begin + self.timing.issue(product);
        let loaded = (choice.start + self.cycles(load)).max(worked) + 1;
        let until = Holds {
            unit: loaded,
            sources: loaded,
            results: loaded + self.timing.pipe,
        };
        self.hold(unit, product, until);
        self.ready[MEMORY] = loaded;
        self.nodes[index].end = Some(loaded);
        self.nodes[reader].end = Some(loaded);
        self.issue = begin + 1;
        self.order.extend([*load, *product]);
    }
}
