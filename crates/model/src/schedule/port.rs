// SPDX-License-Identifier: Apache-2.0
//! Arbitration of the data port that several cores share. The rules are those of `rs_port_share`.

use isa::{BuildInfo, Instruction, Op, State, Unit};

use super::sequencer::Sequencer;
use crate::timing::{Event, Profile};

/// Cycles from the end of a transfer to the choice of the next one: the core ends a LOAD one cycle after it took the
/// last word, a STORE with the port.
const AFTER_LOAD: u64 = 1;
const AFTER_STORE: u64 = 2;

/// Round-robin arbiter.
struct Port {
    /// There is more than one core.
    is_shared: bool,
    /// First cycle in which the next may be chosen.
    free: u64,
    /// Core with the highest priority.
    first: usize,
}

/// A core that runs a program, up to a transfer that waits for the port.
struct Running<'a> {
    sequencer: Sequencer,
    rest: std::iter::Enumerate<std::slice::Iter<'a, Instruction>>,
    /// The transfer: its place, itself, its start.
    waiting: Option<(usize, &'a Instruction, u64)>,
    /// The product that reads a streamed operand: likewise.
    reader: Option<(usize, &'a Instruction, u64)>,
    events: Vec<Event>,
}

impl<'a> Running<'a> {
    fn new(info: &BuildInfo, state: &State, program: &'a [Instruction]) -> Self {
        let mut running = Self {
            sequencer: Sequencer::new(info, &state.conversions),
            rest: program.iter().enumerate(),
            waiting: None,
            reader: None,
            events: Vec::with_capacity(program.len()),
        };
        running.advance();
        running
    }

    /// Goes on to the next transfer.
    fn advance(&mut self) {
        self.waiting = None;
        for (index, i) in self.rest.by_ref() {
            let start = self.sequencer.start(i);
            if matches!(i.op, Op::Load | Op::Store) {
                self.waiting = Some((index, i, start));
                return;
            }
            let end = start + self.sequencer.cycles(i);
            self.events.push(self.sequencer.take(index, i, start, end));
        }
    }

    /// The cycle from which on the port sees the request of the transfer.
    fn asks(&self) -> Option<u64> {
        self.waiting.map(|(_, _, start)| start + 1)
    }

    /// Goes on from a LOAD into the stream to the product that reads it; the cycle in which the LOAD ends, if the port
    /// ends it in `end`. Of another transfer `end`.
    fn reach(&mut self, end: u64) -> u64 {
        let Some((_, load, start)) = self.waiting.filter(|(_, i, _)| i.streams()) else {
            return end;
        };
        self.sequencer.take_stream(start);
        for (index, i) in self.rest.by_ref() {
            let start = self.sequencer.start(i);
            if i.reads_stream() {
                self.reader = Some((index, i, start));
                return self.sequencer.stream_end(load, start, end);
            }
            let end = start + self.sequencer.cycles(i);
            self.events.push(self.sequencer.take(index, i, start, end));
        }
        end
    }

    /// Has the transfer end in a cycle.
    fn finish(&mut self, end: u64) {
        if let Some((index, i, start)) = self.waiting {
            let event = match self.reader {
                // The units' events stand by their places in the program.
                Some(_) => Event {
                    index,
                    op: i.op,
                    unit: Unit::Memory,
                    start,
                    end,
                },
                None => self.sequencer.take(index, i, start, end),
            };
            self.events.push(event);
        }
        if let Some((index, i, start)) = self.reader.take() {
            let event = self.sequencer.take_reader(index, i, start, end);
            self.events.push(event);
            // What stands between the two has gone before.
            self.events.sort_by_key(|event| event.index);
        }
        self.advance();
    }
}

/// The timelines of programs that the cores of a device begin in the same cycle, each core holding what its state says.
pub fn schedule_together(info: &BuildInfo, programs: &[(&State, &[Instruction])]) -> Vec<Profile> {
    let mut cores: Vec<Running<'_>> = programs
        .iter()
        .map(|(state, program)| Running::new(info, state, program))
        .collect();
    let mut port = Port {
        is_shared: info.cores > 1,
        free: 0,
        first: 0,
    };
    while port.serve(&mut cores) {}
    cores
        .into_iter()
        .map(|core| core.sequencer.profile(core.events))
        .collect()
}

impl Port {
    /// Serves the next transfer; false if there is none.
    fn serve(&mut self, cores: &mut [Running<'_>]) -> bool {
        let Some(earliest) = cores.iter().filter_map(Running::asks).min() else {
            return false;
        };
        let chosen_at = earliest.max(self.free);
        let count = cores.len();
        let mut turn = (0..count).map(|step| (self.first + step) % count);
        let by = |core: &Running<'_>, cycle: u64| core.asks().is_some_and(|asks| asks <= cycle);
        let Some(owner) = turn.find(|&c| by(&cores[c], chosen_at)) else {
            return false;
        };
        let Some((_, transfer, _)) = cores[owner].waiting else {
            return false;
        };
        // Chosen in one cycle, offered in the next.
        let alone =
            chosen_at + cores[owner].sequencer.cycles(transfer) - u64::from(!self.is_shared);
        let joins = |(c, core): (usize, &Running<'_>)| {
            let same = core.waiting.is_some_and(|(_, i, _)| is_common(i, transfer));
            c == owner || (same && by(core, chosen_at + 1))
        };
        let joined: Vec<bool> = cores.iter().enumerate().map(joins).collect();
        let together = || joined.iter().copied();
        // A word that one of them cannot take yet waits for all.
        let mut end = alone;
        for (core, _) in cores.iter_mut().zip(together()).filter(|(_, joins)| *joins) {
            end = end.max(core.reach(alone));
        }
        for (core, _) in cores.iter_mut().zip(together()).filter(|(_, joins)| *joins) {
            core.finish(end);
        }
        let after = match transfer.op {
            Op::Store => AFTER_STORE,
            _ => AFTER_LOAD,
        };
        self.free = if self.is_shared { end + after } else { 0 };
        self.first = (owner + 1) % count;
        true
    }
}

/// Whether two LOADs are served by one transfer.
fn is_common(i: &Instruction, other: &Instruction) -> bool {
    let what = |i: &Instruction| (i.op, i.buf_idx, i.log2_n);
    i.op == Op::Load && what(i) == what(other)
}
