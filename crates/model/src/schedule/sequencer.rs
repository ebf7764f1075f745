// SPDX-License-Identifier: Apache-2.0
//! The sequencer: which instruction starts when. The rules are those of the RTL's scoreboard.
//!
//! Issue is in order, one instruction per unit. Compute instructions share one pipeline of uniform length, so among
//! them only reads of results in flight matter: such a read may start at once if the pipeline is not longer than
//! n/(4P), only the producer is in flight, with the same n, and the slot has two ports; else it waits for the last
//! write. No two units ever share a slot.

use isa::{BuildInfo, Instruction, Op, Shape, TWIDDLE_SLOT, Unit, ZERO_SLOT};

use crate::latency;
use crate::timing::{Counters, Event, Profile, Timing};

/// Cycles in which a unit had an instruction in flight: the union of its intervals, which are sorted by start.
pub fn in_flight(events: &[Event], unit: Unit) -> u64 {
    let (mut covered, mut busy) = (0, 0);
    for event in events.iter().filter(|event| event.unit == unit) {
        busy += event.end.saturating_sub(covered.max(event.start));
        covered = covered.max(event.end);
    }
    busy
}

/// A compute instruction that has not ended: the slots it will have written and read.
struct Flight {
    end: u64,
    writes: u64,
    late: u64,
    log2_n: u8,
    mod_idx: u8,
}

/// The slots of an instruction, a bit each.
pub struct SlotMasks {
    /// Read.
    pub reads: u64,
    /// Read by the last stage only: the addend of an INTT.
    pub late: u64,
    /// Written, scratch included.
    pub writes: u64,
}

impl SlotMasks {
    /// The slots of an instruction, without the zero slot and the stream.
    pub fn of(i: &Instruction) -> Self {
        let mask =
            |slots: &mut dyn Iterator<Item = u8>| slots.fold(0u64, |mask, slot| mask | 1 << slot);
        let late = if i.op == Op::Intt && i.src_c != ZERO_SLOT {
            1 << i.src_c
        } else {
            0
        };
        let scratch = if i.op.is_transform() { 0b11 } else { 0 };
        Self {
            reads: mask(&mut i.reads()),
            late,
            writes: mask(&mut i.writes()) | scratch,
        }
    }

    /// Read or written.
    pub fn all(&self) -> u64 {
        self.reads | self.writes
    }
}

pub(crate) struct Sequencer {
    timing: Timing,
    /// The base conversions that the device holds.
    conversions: Vec<Option<Shape>>,
    dual_port: u64,
    flights: Vec<Flight>,
    /// SlotMasks whose reads by the last compute instruction last until a cycle.
    sources: (u64, u64),
    /// Cycle from which the compute unit takes an instruction.
    compute_ready: u64,
    /// Cycle until which transforms use the twiddle table.
    table_until: u64,
    /// SlotMasks the memory unit holds, and until when.
    memory: (u64, u64),
    /// SlotMasks the base-conversion unit holds, and until when.
    rns: (u64, u64),
    /// SlotMasks the unit for pointwise instructions holds, and until when.
    pointwise: (u64, u64),
    /// Cycle from which the next instruction can be taken.
    head: u64,
    stall_hazard: u64,
    stall_unit: u64,
}

impl Sequencer {
    pub(crate) fn new(info: &BuildInfo, conversions: &[Option<Shape>]) -> Self {
        Self {
            timing: Timing::new(info),
            conversions: conversions.to_vec(),
            dual_port: (1 << info.dual_port_slots) - 1,
            flights: Vec::new(),
            sources: (0, 0),
            compute_ready: 0,
            table_until: 0,
            memory: (0, 0),
            rns: (0, 0),
            pointwise: (0, 0),
            head: 0,
            stall_hazard: 0,
            stall_unit: 0,
        }
    }

    /// The cycle in which the next instruction starts.
    pub(crate) fn start(&mut self, i: &Instruction) -> u64 {
        self.first_chance(i, self.timing.unit(i))
    }

    /// Takes an instruction from its start to its end.
    pub(crate) fn take(&mut self, index: usize, i: &Instruction, start: u64, end: u64) -> Event {
        let unit = self.timing.unit(i);
        let held = self.timing.holds(i, start, end);
        match unit {
            Unit::Compute => self.take_compute(i, start, end),
            Unit::Memory => self.memory = (SlotMasks::of(i).all(), held.unit),
            Unit::Rns => self.rns = (SlotMasks::of(i).all(), held.unit),
            Unit::Pointwise => self.pointwise = (SlotMasks::of(i).all(), held.unit),
            Unit::Control => {}
        }
        self.head = start + 1;
        Event {
            index,
            op: i.op,
            unit,
            start,
            end,
        }
    }

    /// Cycles of an instruction that waits for nothing.
    pub(crate) fn cycles(&self, i: &Instruction) -> u64 {
        self.timing.cycles(i, &self.conversions)
    }

    /// Takes the LOAD of a streamed operand, which ends when the product that reads it lets it.
    pub(crate) fn take_stream(&mut self, start: u64) {
        self.memory = (0, u64::MAX);
        self.head = start + 1;
    }

    /// The cycle in which the LOAD of a streamed operand ends, if not before `end`; the product starts in `reader`.
    pub(crate) fn stream_end(&self, i: &Instruction, reader: u64, end: u64) -> u64 {
        end.max(reader + self.timing.streamed(i))
    }

    /// Ends that LOAD and takes the product that reads its words as they come.
    pub(crate) fn take_reader(
        &mut self,
        index: usize,
        i: &Instruction,
        start: u64,
        load_end: u64,
    ) -> Event {
        self.memory = (0, load_end + 1);
        let unit = self.timing.unit(i);
        // The last product is issued when the last word is there.
        let words = i.n() as u64 / self.timing.butterflies;
        let issue = words.max(load_end.saturating_sub(start));
        let pipe = self.timing.pointwise_pipe.unwrap_or(self.timing.pipe);
        let end = start + issue + pipe;
        match unit {
            Unit::Pointwise => self.pointwise = (SlotMasks::of(i).all(), end + 1),
            _ => self.take_compute(i, start, end),
        }
        self.head = start + 1;
        Event {
            index,
            op: i.op,
            unit,
            start,
            end,
        }
    }

    /// The timeline of all that was taken.
    pub(crate) fn profile(self, events: Vec<Event>) -> Profile {
        let counters = Counters {
            cycles: events.iter().map(|event| event.end).max().unwrap_or(0),
            busy_compute: in_flight(&events, Unit::Compute),
            busy_memory: in_flight(&events, Unit::Memory),
            busy_rns: in_flight(&events, Unit::Rns),
            busy_pointwise: in_flight(&events, Unit::Pointwise),
            stall_hazard: self.stall_hazard,
            stall_unit: self.stall_unit,
        };
        Profile { events, counters }
    }

    /// The first cycle in which the instruction may be taken; something changes only when an earlier one gets that far.
    fn first_chance(&mut self, i: &Instruction, unit: Unit) -> u64 {
        let mut chances: Vec<u64> = self.flights.iter().map(|flight| flight.end + 1).collect();
        chances.extend([
            self.compute_ready,
            self.sources.1,
            self.table_until,
            self.memory.1,
            self.rns.1,
            self.pointwise.1,
            self.head,
        ]);
        chances.retain(|&cycle| cycle >= self.head);
        chances.sort_unstable();
        let slots = SlotMasks::of(i);
        for pair in chances.windows(2) {
            let (now, next) = (pair[0], pair[1]);
            let free = match unit {
                Unit::Compute => now >= self.compute_ready,
                Unit::Memory => now >= self.memory.1,
                Unit::Rns => now >= self.rns.1,
                Unit::Pointwise => now >= self.pointwise.1,
                Unit::Control => true,
            };
            if free && self.clear(i, unit, &slots, now) {
                return now;
            }
            *(if free {
                &mut self.stall_hazard
            } else {
                &mut self.stall_unit
            }) += next - now;
        }
        chances.last().copied().unwrap_or(self.head)
    }

    /// Whether this instruction's slots have no hazard with earlier ones in a cycle.
    fn clear(&self, i: &Instruction, unit: Unit, slots: &SlotMasks, now: u64) -> bool {
        let flights = || self.flights.iter().filter(|flight| flight.end >= now);
        let pending = flights().fold(0, |mask, flight| mask | flight.writes);
        let late = flights().fold(0, |mask, flight| mask | flight.late);
        let until = |(slots, end): (u64, u64)| if now < end { slots } else { 0 };
        let (memory, rns) = (until(self.memory), until(self.rns));
        let pointwise = until(self.pointwise);
        let computing = pending | late | until(self.sources);
        match unit {
            Unit::Control => {
                flights().count() == 0
                    && now >= self.memory.1
                    && now >= self.rns.1
                    && now >= self.pointwise.1
            }
            Unit::Memory => {
                let table = i.dst != TWIDDLE_SLOT || now >= self.table_until;
                slots.all() & (computing | rns | pointwise) == 0 && table
            }
            Unit::Rns => slots.all() & (computing | memory | pointwise) == 0,
            Unit::Pointwise => slots.all() & (computing | memory | rns) == 0,
            Unit::Compute => {
                let same_modulus = flights().all(|flight| flight.mod_idx == i.mod_idx);
                let gapless =
                    latency::stage_gap(i.log2_n.into(), self.timing.butterflies, self.timing.pipe)
                        == 0;
                let alike = flights().all(|flight| flight.log2_n == i.log2_n);
                let chain = gapless && flights().count() == 1 && alike;
                let blocking = pending & if chain { !self.dual_port } else { u64::MAX };
                let table = !i.op.is_transform() || memory >> TWIDDLE_SLOT & 1 == 0;
                slots.reads & (blocking | late) == 0
                    && same_modulus
                    && slots.all() & (memory | rns | pointwise) == 0
                    && table
            }
        }
    }

    fn take_compute(&mut self, i: &Instruction, start: u64, end: u64) {
        let slots = SlotMasks::of(i);
        let held = self.timing.holds(i, start, end);
        self.flights.retain(|flight| flight.end >= start);
        let SlotMasks { late, writes, .. } = slots;
        self.flights.push(Flight {
            end,
            writes,
            late,
            log2_n: i.log2_n,
            mod_idx: i.mod_idx,
        });
        self.compute_ready = held.unit;
        if i.op.is_transform() {
            self.table_until = held.unit + 1;
        }
        self.sources = (slots.reads & !late, held.sources);
    }
}
