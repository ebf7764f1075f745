// SPDX-License-Identifier: Apache-2.0
//! The sequencer: which instruction starts when.

use isa::{Instruction, Op, Unit};

use crate::timing::{Counters, Event, Profile, Timing};

/// Cycles until which a slot is being read and written.
#[derive(Clone, Copy, Default)]
struct Busy {
    reads: u64,
    writes: u64,
}

/// The timeline of a program on an idle device whose command queue is filled faster than it drains.
pub fn schedule(timing: &Timing, program: &[Instruction]) -> Profile {
    let mut sequencer = Sequencer {
        timing,
        slots: [Busy::default(); 64],
        free: [0; 2],
        end: 0,
        head: 0,
        stalls: [0; 2],
    };
    let events: Vec<Event> = program
        .iter()
        .enumerate()
        .map(|(index, i)| sequencer.issue(index, i))
        .collect();
    let counters = Counters {
        cycles: events.iter().map(|event| event.end).max().unwrap_or(0),
        busy_compute: in_flight(&events, Unit::Compute),
        busy_memory: in_flight(&events, Unit::Memory),
        stall_hazard: sequencer.stalls[0],
        stall_unit: sequencer.stalls[1],
    };
    Profile { events, counters }
}

/// Cycles in which a unit had an instruction in flight: the union of its intervals, which are sorted by start.
pub fn in_flight(events: &[Event], unit: Unit) -> u64 {
    let (mut covered, mut busy) = (0, 0);
    for event in events.iter().filter(|event| event.unit == unit) {
        busy += event.end.saturating_sub(covered.max(event.start));
        covered = covered.max(event.end);
    }
    busy
}

struct Sequencer<'a> {
    timing: &'a Timing,
    slots: [Busy; 64],
    /// Cycle from which the compute and the memory unit take an instruction.
    free: [u64; 2],
    /// Cycle after the last write of all so far.
    end: u64,
    /// Cycle from which the next instruction can be looked at.
    head: u64,
    /// Cycles waited for a slot, for a unit.
    stalls: [u64; 2],
}

impl Sequencer<'_> {
    fn issue(&mut self, index: usize, i: &Instruction) -> Event {
        let unit = i.op.spec().unit;
        let ready = self.slots_ready(i);
        let free = match unit {
            Unit::Compute => self.free[0],
            Unit::Memory => self.free[1],
            Unit::Control => self.end,
        };
        let start = self.head.max(ready).max(free);
        self.stalls[0] += ready.max(self.head) - self.head;
        self.stalls[1] += start - ready.max(self.head);
        let end = start + self.timing.alone(i);
        self.occupy(i, start, end);
        match unit {
            Unit::Compute => self.free[0] = start + self.timing.issue(i),
            Unit::Memory => self.free[1] = end,
            Unit::Control => {}
        }
        self.head = if i.op == Op::Sync { end } else { start + 1 };
        self.end = self.end.max(end);
        Event {
            index,
            op: i.op,
            unit,
            start,
            end,
        }
    }

    /// The cycle from which no earlier instruction stands in the way of this one's slots.
    fn slots_ready(&self, i: &Instruction) -> u64 {
        let reads = i.reads().map(|slot| self.slots[usize::from(slot)].writes);
        let writes = i.writes().chain(scratch(i)).map(|slot| {
            let busy = self.slots[usize::from(slot)];
            busy.reads.max(busy.writes)
        });
        reads.chain(writes).max().unwrap_or(0)
    }

    fn occupy(&mut self, i: &Instruction, start: u64, end: u64) {
        let read = start + self.timing.issue(i);
        for slot in i.reads() {
            let busy = &mut self.slots[usize::from(slot)];
            busy.reads = busy.reads.max(read);
        }
        for slot in i.writes().chain(scratch(i)) {
            let busy = &mut self.slots[usize::from(slot)];
            busy.writes = busy.writes.max(end);
        }
    }
}

/// The work slots, if it is a transform.
fn scratch(i: &Instruction) -> impl Iterator<Item = u8> {
    (0..2).filter(move |_| i.op.is_transform())
}
