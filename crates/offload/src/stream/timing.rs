// SPDX-License-Identifier: Apache-2.0
//! Cycles of parts that are laid out, by the latency formulas and the scheduling rules.

use std::collections::HashMap;

use isa::{BuildInfo, Instruction, Op, Shape, State, Unit};
use model::{Timing, schedule_together};
use zq::Word;

use super::account::account;
use super::allocate::TABLES;
use super::laid::Laid;
use super::section::Table;
use super::tile::Tile;
use crate::Usage;

/// Between the numbers of two cores' own buffers.
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
    /// Issue cycles of the compute unit of the core that has most: no order of the instructions and no number of slots
    /// can save them.
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

/// What parts that are laid out take of an idle device, without what the host does.
pub(super) fn timed<W: Word>(info: &BuildInfo, parts: &[Laid<'_, W>]) -> Prediction {
    let mut found = Prediction {
        cores: parts.len(),
        ..Prediction::default()
    };
    let mut cores: Vec<Core<'_, '_, W>> = parts.iter().map(|laid| Core::new(info, laid)).collect();
    let mut buffers = Buffers::default();
    for round in 0.. {
        let mut active: Vec<&mut Core<'_, '_, W>> = Vec::with_capacity(cores.len());
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
            account(info, &mut found.usage, profile, &core.program);
            let work = core.program.iter();
            let work = work.filter(|i| core.timing.unit(i) == Unit::Compute);
            core.issue += work.map(|i| core.timing.issue(i)).sum::<u64>();
        }
    }
    found.least_cycles = cores.iter().map(|core| core.issue).max().unwrap_or(0);
    found
}

/// A core and its part of a program.
struct Core<'a, 'g, W: Word> {
    laid: &'a Laid<'g, W>,
    timing: Timing,
    state: State,
    /// The submission under way.
    program: Vec<Instruction>,
    /// Buffers of its plan whose tile others may load.
    common: HashMap<u32, u32>,
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

impl<'a, 'g, W: Word> Core<'a, 'g, W> {
    fn new(info: &BuildInfo, laid: &'a Laid<'g, W>) -> Self {
        Self {
            laid,
            timing: Timing::new(info),
            state: State::new(info),
            program: Vec::new(),
            common: HashMap::new(),
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
        let Some(submission) = self.laid.plan.submissions.get(round) else {
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
            let tile = self.laid.tiles.tiles[tile as usize].clone();
            let fresh = all.used;
            let shared = *all.tiles.entry(tile).or_insert(fresh);
            all.used += u32::from(shared == fresh);
            self.common.insert(buffer, shared);
        }
        self.program.clear();
        for instruction in &submission.program {
            let mut i = *instruction;
            if i.buf_idx >= TABLES {
                let (table, _) = &self.laid.plan.tables[(i.buf_idx - TABLES) as usize];
                let fresh = all.used;
                i.buf_idx = *all.tables.entry(table.clone()).or_insert(fresh);
                all.used += u32::from(i.buf_idx == fresh);
            } else if matches!(i.op, Op::Load | Op::Store) {
                if i.op == Op::Store {
                    self.common.remove(&i.buf_idx);
                }
                // A core's own buffers, beyond the common ones.
                let own = OWN * (number as u32 + 1) + i.buf_idx;
                i.buf_idx = self.common.get(&i.buf_idx).copied().unwrap_or(own);
            }
            self.program.push(i);
        }
        true
    }
}
