// SPDX-License-Identifier: Apache-2.0
//! Cycles of planned parts by the latency formulas and the scheduling rules.

use std::collections::HashMap;

use isa::{BuildInfo, Instruction, Op, Shape, State, Unit};
use model::{Timing, schedule_together};

use super::usage::add_submission;
use crate::Usage;
use crate::stream::allocate::{Plan, TABLES};
use crate::stream::partition::Table;
use crate::stream::select::{Tile, Tiles};

/// Stride between the numbers of two cores' own buffers.
const OWN: u32 = 1 << 24;

/// What a program would take of a build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// As a run on an idle device has it, to the cycle, all cores.
    pub usage: Usage,
    /// Cycles from the first start to the last end of each submission, whichever core ends last.
    pub cycles: u64,
    /// Cores that had work.
    pub cores: usize,
    /// Issue cycles of the compute unit of the core that has most: the least that any order of the instructions and any
    /// number of slots takes.
    pub least_cycles: u64,
}

impl Prediction {
    /// Adds what comes after it.
    pub fn add(&mut self, other: &Self) {
        self.usage.add(&other.usage);
        self.cycles += other.cycles;
        self.cores = self.cores.max(other.cores);
        self.least_cycles += other.least_cycles;
    }
}

/// What planned parts of a program over rings of degree `n` take of an idle device, the host's work left out.
pub fn timed<'a>(
    info: &BuildInfo,
    n: usize,
    parts: impl Iterator<Item = (&'a Tiles, &'a Plan)>,
) -> Prediction {
    let cores = parts.map(|(tiles, plan)| Core::new(info, tiles, plan));
    let mut cores: Vec<Core<'_>> = cores.collect();
    let mut found = Prediction {
        cores: cores.len(),
        ..Prediction::default()
    };
    let mut buffers = Buffers::default();
    for round in 0.. {
        let mut active: Vec<&mut Core<'_>> = Vec::with_capacity(cores.len());
        for (number, core) in cores.iter_mut().enumerate() {
            if core.prepare(round, number, &mut buffers, &mut found.usage) {
                active.push(core);
            }
        }
        if active.is_empty() {
            break;
        }
        let programs: Vec<_> = active.iter().map(|c| (&c.state, &c.program[..])).collect();
        let profiles = schedule_together(info, &programs);
        let ends = profiles.iter().map(|profile| profile.counters.cycles);
        found.cycles += ends.max().unwrap_or(0);
        for (core, profile) in active.iter_mut().zip(&profiles) {
            found.usage.predicted_cycles += profile.counters.cycles;
            add_submission(info, &mut found.usage, profile, &core.program);
            let work = core.program.iter();
            let work = work.filter(|i| core.timing.unit(i) == Unit::Compute);
            core.issue += work.map(|i| core.timing.issue(i)).sum::<u64>();
        }
    }
    let bytes = n * info.lanes as usize * info.word_bytes();
    found.usage.written_bytes = u64::from(buffers.used) * bytes as u64;
    found.least_cycles = cores.iter().map(|core| core.issue).max().unwrap_or(0);
    found
}

/// A core and its part of a program.
struct Core<'a> {
    tiles: &'a Tiles,
    plan: &'a Plan,
    timing: Timing,
    state: State,
    /// The submission under way.
    program: Vec<Instruction>,
    /// Buffers of its plan whose tile other cores may load.
    shared: HashMap<u32, u32>,
    /// Cycles so far in which its instructions occupied the compute unit's issue.
    issue: u64,
}

/// Host buffers by what they hold: a LOAD of the same by several cores is served once.
#[derive(Default)]
struct Buffers {
    tiles: HashMap<Tile, u32>,
    tables: HashMap<Table, u32>,
    used: u32,
}

impl<'a> Core<'a> {
    fn new(info: &BuildInfo, tiles: &'a Tiles, plan: &'a Plan) -> Self {
        Self {
            tiles,
            plan,
            timing: Timing::new(info),
            state: State::new(info),
            program: Vec::new(),
            shared: HashMap::new(),
            issue: 0,
        }
    }

    /// Makes the next submission ready; false if there is none.
    fn prepare(
        &mut self,
        round: usize,
        number: usize,
        all: &mut Buffers,
        usage: &mut Usage,
    ) -> bool {
        let Some(submission) = self.plan.submissions.get(round) else {
            return false;
        };
        for (conversion, spec) in &submission.conversions {
            usage.conversions += u64::from(spec.is_some());
            self.state.conversions[usize::from(*conversion)] = spec.as_ref().map(|spec| Shape {
                inputs: spec.inputs.len() as u8,
                own: false,
            });
        }
        for &(buffer, tile) in &submission.uploads {
            let tile = self.tiles[tile].tile.clone();
            let fresh = all.used;
            let shared = *all.tiles.entry(tile).or_insert(fresh);
            all.used += u32::from(shared == fresh);
            self.shared.insert(buffer, shared);
        }
        self.program.clear();
        for instruction in &submission.program {
            let mut i = *instruction;
            if i.buf_idx >= TABLES {
                let (table, _) = &self.plan.tables[(i.buf_idx - TABLES) as usize];
                let fresh = all.used;
                i.buf_idx = *all.tables.entry(table.clone()).or_insert(fresh);
                all.used += u32::from(i.buf_idx == fresh);
            } else if matches!(i.op, Op::Load | Op::Store) {
                if i.op == Op::Store {
                    self.shared.remove(&i.buf_idx);
                }
                // A core's own buffers, beyond the shared ones.
                let own = OWN * (number as u32 + 1) + i.buf_idx;
                i.buf_idx = self.shared.get(&i.buf_idx).copied().unwrap_or(own);
            }
            self.program.push(i);
        }
        true
    }
}
