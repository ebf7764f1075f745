// SPDX-License-Identifier: Apache-2.0
//! The device programs of a whole run, each with its instructions and its place on this machine's clock.

use std::time::Instant;

use device::{Event, Profile};

/// Most instructions whose start and end a timeline keeps, of each core: 8 MiB.
pub const MOST_KEPT: usize = 1 << 18;

/// A device program that ran.
#[derive(Clone, Debug)]
pub struct Ran {
    /// When it was started, on this machine's clock; a simulation takes longer than the device would.
    pub begun: Instant,
    /// When it was over.
    pub ended: Instant,
    /// What it takes a device, from its first instruction to the end of its last.
    pub cycles: u64,
    /// The same by the latency formulas and the scheduling rules.
    pub predicted_cycles: u64,
    /// Its instructions.
    pub events: Vec<Event>,
    /// 1, or the number of programs that this entry sums up without their instructions: the last entry has all that
    /// came after [`MOST_KEPT`] instructions.
    pub programs: u64,
}

/// What a core ran since it was asked to keep it.
#[derive(Debug, Default)]
pub struct Timeline {
    ran: Vec<Ran>,
    events: usize,
    is_full: bool,
}

impl Timeline {
    /// Adds a program, or sums it up with the last where there is no more room.
    pub fn add(&mut self, (begun, ended): (Instant, Instant), profile: &Profile, predicted: u64) {
        self.events += profile.events.len();
        match self.ran.last_mut().filter(|_| self.is_full) {
            Some(last) => {
                last.ended = ended;
                last.cycles += profile.counters.cycles;
                last.predicted_cycles += predicted;
                last.programs += 1;
            }
            None => self.push((begun, ended), profile, predicted),
        }
    }

    fn push(&mut self, (begun, ended): (Instant, Instant), profile: &Profile, predicted: u64) {
        self.is_full = self.events > MOST_KEPT;
        let events = if self.is_full {
            Vec::new()
        } else {
            profile.events.clone()
        };
        self.ran.push(Ran {
            begun,
            ended,
            cycles: profile.counters.cycles,
            predicted_cycles: predicted,
            events,
            programs: 1,
        });
    }

    /// The programs in order; the timeline goes on empty.
    pub fn take(&mut self) -> Vec<Ran> {
        std::mem::take(self).ran
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isa::{Op, Unit};
    use std::time::Duration;

    fn profile(instructions: usize) -> Profile {
        let event = |index| Event {
            index,
            op: Op::Load,
            unit: Unit::Memory,
            start: 0,
            end: 1,
        };
        let mut profile = Profile {
            events: (0..instructions).map(event).collect(),
            ..Profile::default()
        };
        profile.counters.cycles = instructions as u64;
        profile
    }

    #[test]
    fn programs_beyond_the_bound_are_summed_up() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut timeline = Timeline::default();
        let big = profile(MOST_KEPT / 2);
        for i in 0..5 {
            timeline.add((at(2 * i), at(2 * i + 1)), &big, 5);
        }
        // A small one after the bound does not bring instructions back.
        timeline.add((at(10), at(11)), &profile(3), 2);
        let ran = timeline.take();
        let kept: Vec<usize> = ran.iter().map(|one| one.events.len()).collect();
        assert_eq!(kept, [MOST_KEPT / 2, MOST_KEPT / 2, 0]);
        let last = &ran[2];
        assert_eq!(last.programs, 4);
        assert_eq!((ran[0].predicted_cycles, last.predicted_cycles), (5, 17));
        assert_eq!(last.cycles, 3 * (MOST_KEPT as u64 / 2) + 3);
        assert_eq!((last.begun, last.ended), (at(4), at(11)));
        // Taken, it begins anew.
        timeline.add((at(20), at(21)), &profile(2), 2);
        let again = timeline.take();
        assert_eq!((again.len(), again[0].events.len()), (1, 2));
        assert!(timeline.take().is_empty());
    }
}
