// SPDX-License-Identifier: Apache-2.0
//! Programs on all cores of a device at the same time, one each.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use device::{Driver, predict, run_together};
use isa::{Instruction, Op, Unit};
use model::{Profile, Timing};
use polynomial::{Graph, Host, Memory};
use zq::Word;

use super::host_buffers::HostBuffers;
use super::stream::{Ended, Progress, Running, Stream};
use crate::stream::cost::covered;
use crate::stream::partition::Table;
use crate::stream::plan::Planned;

/// Time breakdown of a core: each cycle counts once, as the first of these that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreTime {
    /// A transform or a pointwise operation in flight.
    pub compute: u64,
    /// A base conversion.
    pub conversion: u64,
    /// A transfer, or its turn at the data port.
    pub memory: u64,
    /// Nothing: the program has ended, or not begun.
    pub idle: u64,
}

/// Statistics of a batch on all cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchStatistics {
    /// Cycles from the first start to the last end of each round, added up.
    pub cycles: u64,
    /// The same by the model.
    pub predicted_cycles: u64,
    /// Cycles of the transfers on the data port; a LOAD shared by several cores counts once.
    pub port_cycles: u64,
    /// Transfers, and those that the port moved for them.
    pub transfers: u64,
    /// See `transfers`.
    pub port_transfers: u64,
    /// Per core.
    pub cores: Vec<CoreTime>,
}

/// Computes a program on each core by their plan; their outputs can be taken from the memories that are returned.
///
/// # Errors
/// [`Ended`]. If a core fails, all cores were reset.
pub fn run<'g, W: Word, H: Host<W>>(
    streams: &mut [Stream<'_>],
    buffers: &mut HostBuffers,
    planned: &Planned,
    jobs: &[(&'g Graph<W>, &H)],
    progress: &dyn Progress,
    shift: &mut BatchStatistics,
) -> Result<Vec<Memory<'g, W>>, Ended<H::Error>> {
    buffers.begin(jobs.len(), streams[0].driver.resets());
    let mut running: Vec<Running<'g, W>> = Vec::with_capacity(jobs.len());
    for ((stream, (graph, _)), part) in streams.iter_mut().zip(jobs).zip(planned.parts()) {
        running.push(stream.start(graph, Arc::clone(part), buffers)?);
    }
    reserve(streams, buffers, planned);
    let cores = shift.cores.len().max(jobs.len());
    shift.cores.resize(cores, CoreTime::default());
    loop {
        let active = prepare(streams, buffers, jobs, &mut running)?;
        if active.is_empty() {
            break;
        }
        submit(streams, &active, &mut running, progress, shift)?;
        let all = running.iter().map(Running::progress);
        let (done, total) = all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if !progress.tell(done, total) {
            return Err(Ended::Stopped);
        }
    }
    Ok(running.into_iter().map(Running::into_memory).collect())
}

/// Keeps room for tables that are not there, before any tile stays.
fn reserve(streams: &mut [Stream<'_>], buffers: &mut HostBuffers, planned: &Planned) {
    let mut missing: HashSet<&Table> = HashSet::new();
    for (stream, part) in streams.iter().zip(planned.parts()) {
        let tables = part.plan.tables.iter().map(|(table, _)| table);
        missing.extend(tables.filter(|table| !stream.buffers.tables.contains_key(*table)));
    }
    buffers.residents.reserve(streams[0].driver, missing.len());
}

/// Prepares the next submission of each core; returns the cores that have one.
fn prepare<W: Word, H: Host<W>>(
    streams: &mut [Stream<'_>],
    buffers: &mut HostBuffers,
    jobs: &[(&Graph<W>, &H)],
    running: &mut [Running<'_, W>],
) -> Result<Vec<usize>, Ended<H::Error>> {
    let mut active = Vec::new();
    for (core, (_, host)) in jobs.iter().enumerate() {
        if core > 0 {
            let known = streams[0].buffers.tables.clone();
            streams[core].buffers.tables.extend(known);
        }
        if streams[core].prepare(&mut running[core], *host, buffers)? {
            active.push(core);
        }
    }
    Ok(active)
}

/// Runs the prepared submissions of these cores at the same time.
fn submit<W: Word, E>(
    streams: &mut [Stream<'_>],
    active: &[usize],
    running: &mut [Running<'_, W>],
    progress: &dyn Progress,
    shift: &mut BatchStatistics,
) -> Result<(), Ended<E>> {
    let programs: Vec<Vec<Instruction>> = active
        .iter()
        .map(|&core| running[core].program().to_vec())
        .collect();
    let mut drivers: Vec<&mut Driver> = streams
        .iter_mut()
        .enumerate()
        .filter(|(core, _)| active.contains(core))
        .map(|(_, stream)| &mut *stream.driver)
        .collect();
    let predicted = predict(&drivers, &programs);
    let begun = Instant::now();
    let profiles = run_together(&mut drivers, &programs, &|| progress.stopped())?;
    let timing = Timing::new(drivers[0].info());
    let ended = Instant::now();
    streams[0].usage.device_seconds += (ended - begun).as_secs_f64();
    shift.add(active, &profiles, &programs, &timing);
    shift.predicted_cycles += longest(&predicted);
    for (&core, profiles) in active.iter().zip(profiles.into_iter().zip(predicted)) {
        streams[core].settle(&mut running[core], profiles, (begun, ended))?;
    }
    Ok(())
}

fn longest(profiles: &[Profile]) -> u64 {
    let cycles = profiles.iter().map(|profile| profile.counters.cycles);
    cycles.max().unwrap_or(0)
}

impl BatchStatistics {
    /// Adds a round of the cores named.
    fn add(
        &mut self,
        active: &[usize],
        profiles: &[Profile],
        programs: &[Vec<Instruction>],
        timing: &Timing,
    ) {
        let cycles = longest(profiles);
        self.cycles += cycles;
        for (core, time) in self.cores.iter_mut().enumerate() {
            let at = active.iter().position(|&other| other == core);
            let spent = at.map_or(CoreTime::default(), |at| CoreTime::of(&profiles[at]));
            time.compute += spent.compute;
            time.conversion += spent.conversion;
            time.memory += spent.memory;
            time.idle += cycles - spent.compute - spent.conversion - spent.memory;
        }
        // A shared LOAD ends in the same cycle for all its cores.
        let mut moved: Vec<(u64, bool, u32, u64)> = Vec::new();
        for (profile, program) in profiles.iter().zip(programs) {
            for event in &profile.events {
                let i = &program[event.index];
                if matches!(i.op, Op::Load | Op::Store) {
                    moved.push((event.end, i.op == Op::Store, i.buf_idx, timing.alone(i)));
                }
            }
        }
        self.transfers += moved.len() as u64;
        moved.sort_unstable();
        moved.dedup();
        self.port_transfers += moved.len() as u64;
        self.port_cycles += moved.iter().map(|one| one.3).sum::<u64>();
    }
}

impl CoreTime {
    /// Of one program.
    fn of(profile: &Profile) -> Self {
        let upto = |units: &[Unit]| {
            let events = profile.events.iter();
            let mut spans: Vec<(u64, u64)> = events
                .filter(|event| units.contains(&event.unit))
                .map(|event| (event.start, event.end))
                .collect();
            covered(&mut spans)
        };
        let compute = upto(&[Unit::Compute, Unit::Pointwise]);
        let worked = upto(&[Unit::Compute, Unit::Pointwise, Unit::Rns]);
        let all = upto(&[Unit::Compute, Unit::Pointwise, Unit::Rns, Unit::Memory]);
        Self {
            compute,
            conversion: worked - compute,
            memory: all - worked,
            idle: 0,
        }
    }
}
