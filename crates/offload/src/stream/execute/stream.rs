// SPDX-License-Identifier: Apache-2.0
//! Running a planned program: uploads, submissions, downloads.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use device::{Driver, Profile};
use isa::{Instruction, Op};
use model::Lane;
use polynomial::{Form, Graph, Host, Limb, Memory};
use zeroize::Zeroizing;
use zq::Word;

use super::host_buffers::HostBuffers;
use super::residents::Content;
use super::timeline::Timeline;
use crate::stream::allocate::TABLES;
use crate::stream::cost::add_submission;
use crate::stream::partition::{Half, Table, join, modulus, words};
use crate::stream::plan::PlannedPart;
use crate::stream::select::{Move, Tile, TileId, digit};
use crate::{OffloadError, Usage};

/// Progress callback and cancellation of a run.
pub trait Progress {
    /// `done` of `total` operations are done; `false` stops the run.
    fn tell(&self, done: usize, total: usize) -> bool;

    /// Whether to stop, asked often while the device is at work.
    fn stopped(&self) -> bool;
}

/// Host buffers of whole programs, kept from one to the next.
#[derive(Default)]
pub struct Buffers {
    /// For tiles.
    tiles: Vec<u32>,
    /// With twiddle tables.
    pub tables: HashMap<Table, u32>,
}

/// A device that runs a program.
pub struct Stream<'s> {
    pub driver: &'s mut Driver,
    pub buffers: &'s mut Buffers,
    pub usage: &'s mut Usage,
    /// The last submission that was more than transfers.
    pub last: &'s mut Worked,
    /// Keeps all submissions, if asked to.
    pub timeline: Option<&'s mut Timeline>,
}

/// A submission that is over.
#[derive(Clone, Debug, Default)]
pub struct Worked {
    /// Its timeline on the device.
    pub profile: Profile,
    /// The timeline predicted.
    pub predicted: Profile,
    /// Its instructions.
    pub program: Vec<Instruction>,
}

/// Failure or cancellation of a run.
pub enum Ended<E> {
    /// The host's part failed.
    Host(E),
    /// The device or its plan.
    Device(OffloadError),
    /// It was stopped.
    Stopped,
}

impl<E> From<OffloadError> for Ended<E> {
    fn from(error: OffloadError) -> Self {
        Self::Device(error)
    }
}

impl<E> From<device::DeviceError> for Ended<E> {
    fn from(error: device::DeviceError) -> Self {
        match error {
            device::DeviceError::Interrupted => Self::Stopped,
            error => Self::Device(error.into()),
        }
    }
}

/// Halves of limbs that came from the device, until both are there.
type Halves<W> = HashMap<Limb, Zeroizing<Vec<W>>>;

/// A program on its way through a device.
pub struct Running<'g, W: Word> {
    graph: &'g Graph<W>,
    part: Arc<PlannedPart>,
    memory: Memory<'g, W>,
    halves: Halves<W>,
    /// Submissions that are over.
    done: usize,
    /// Of the submission under way: its instructions.
    program: Vec<Instruction>,
    /// Buffers of the plan whose tile is in a buffer that cores or runs share.
    shared: HashMap<u32, u32>,
}

impl<'g, W: Word> Running<'g, W> {
    /// The instructions of the submission under way.
    pub fn program(&self) -> &[Instruction] {
        &self.program
    }

    /// Operations that are done, and all of them.
    pub fn progress(&self) -> (usize, usize) {
        let done = self.done.checked_sub(1);
        let end = done.map_or(0, |last| self.part.plan.submissions[last].end);
        (end, self.part.tiles.ops.len())
    }

    /// The computed limbs.
    pub fn into_memory(self) -> Memory<'g, W> {
        self.memory
    }
}

impl Stream<'_> {
    /// Starts a part of a program by its plan.
    ///
    /// # Errors
    /// No room for host buffers.
    pub fn start<'g, W: Word>(
        &mut self,
        graph: &'g Graph<W>,
        part: Arc<PlannedPart>,
        buffers: &mut HostBuffers,
    ) -> Result<Running<'g, W>, OffloadError> {
        part.count(self.driver.info(), graph, self.usage);
        while self.buffers.tiles.len() < part.plan.buffers as usize {
            let buffer = buffers.residents.allocate(self.driver)?;
            self.buffers.tiles.push(buffer);
        }
        // The plan assumes that no conversion is set, as no modulus is.
        let conversions = self.driver.conversions().len() as u8;
        (0..conversions).for_each(|number| self.driver.forget_conversion(number));
        Ok(Running {
            memory: Memory::new(graph, part.uses(graph)),
            halves: Halves::new(),
            graph,
            part,
            done: 0,
            program: Vec::new(),
            shared: HashMap::new(),
        })
    }

    /// Sets the tables of the next submission and uploads those of its tiles that are in no host buffer. False if there
    /// is no further submission.
    ///
    /// # Errors
    /// The host's and the device's.
    pub fn prepare<W: Word, H: Host<W>>(
        &mut self,
        running: &mut Running<'_, W>,
        host: &H,
        buffers: &mut HostBuffers,
    ) -> Result<bool, Ended<H::Error>> {
        let (graph, part) = (running.graph, Arc::clone(&running.part));
        let Some(submission) = part.plan.submissions.get(running.done) else {
            return Ok(false);
        };
        for (index, moduli) in &submission.moduli {
            self.driver.set_moduli(*index, moduli)?;
        }
        for (index, constants, moduli) in &submission.constants {
            let carried = self.carried(constants, moduli)?;
            self.driver.set_constant(*index, &carried)?;
        }
        for (number, spec) in &submission.conversions {
            self.driver.forget_conversion(*number);
            if let Some(spec) = spec {
                self.driver.set_conversion(*number, &spec.conversion()?)?;
                self.usage.conversions += 1;
            }
        }
        for (number, moved) in &submission.moves {
            match moved {
                Move::Automorphism(element) => self.driver.set_automorphism(*number, *element)?,
                Move::Digit(shares) => self.driver.set_digit(*number, &digit(shares)?)?,
            }
        }
        let before = self.driver.transfers().bytes_sent;
        for &upload in &submission.uploads {
            self.bring(running, upload, host, buffers)?;
        }
        running.program = self.with_buffers(running, (graph, &part), buffers)?;
        self.usage.written_bytes += self.driver.transfers().bytes_sent - before;
        Ok(true)
    }

    /// Brings a tile to a buffer of the plan, or to one that cores or runs share, unless it is there.
    fn bring<W: Word, H: Host<W>>(
        &mut self,
        running: &mut Running<'_, W>,
        (buffer, tile): (u32, TileId),
        host: &H,
        buffers: &mut HostBuffers,
    ) -> Result<(), Ended<H::Error>> {
        let (graph, part) = (running.graph, &running.part);
        let tile = &part.tiles[tile].tile;
        let owned = Content::of(graph, &part.layout, tile, host);
        let stayed = owned.as_ref().and_then(|(o, what)| buffers.find(o, what));
        if let Some(real) = stayed {
            running.shared.insert(buffer, real);
            return Ok(());
        }
        let words = self.gather((graph, part), tile, &mut running.memory, host)?;
        if let Some(real) = buffers.send(self.driver, owned, &words)? {
            running.shared.insert(buffer, real);
            return Ok(());
        }
        running.shared.remove(&buffer);
        let own = self.buffers.tiles[buffer as usize];
        Ok(self.driver.upload(own, &words)?)
    }

    /// Downloads the results of the prepared submission, which ran from one instant to another.
    ///
    /// # Errors
    /// The device's.
    pub fn settle<W: Word>(
        &mut self,
        running: &mut Running<'_, W>,
        (profile, predicted): (Profile, Profile),
        span: (Instant, Instant),
    ) -> Result<(), OffloadError> {
        self.usage.predicted_cycles += predicted.counters.cycles;
        if let Some(timeline) = &mut self.timeline {
            timeline.add(span, &profile, predicted.counters.cycles);
        }
        add_submission(self.driver.info(), self.usage, &profile, &running.program);
        let program = std::mem::take(&mut running.program);
        if program.iter().any(is_work) {
            *self.last = Worked {
                profile,
                predicted,
                program,
            };
        }
        let part = &running.part;
        for &(buffer, tile) in &part.plan.submissions[running.done].downloads {
            let buffer = self.buffers.tiles[buffer as usize];
            let words = Zeroizing::new(self.driver.download(buffer, part.layout.n)?);
            let target = (&mut running.memory, &mut running.halves);
            scatter((running.graph, part), tile, &words, target);
        }
        running.done += 1;
        Ok(())
    }

    /// Constants with the factor that the build's products lack.
    fn carried(&self, constants: &[u128], moduli: &[u128]) -> Result<Vec<u128>, OffloadError> {
        let one = |(&constant, &q): (&u128, &u128)| {
            let lane = Lane::new(self.driver.info(), modulus(q)?);
            Ok(lane.modulus.mul(constant, lane.factor()))
        };
        constants.iter().zip(moduli).map(one).collect()
    }

    /// The words of a tile that the host gives, `[lane][n]`.
    fn gather<W: Word, H: Host<W>>(
        &self,
        (graph, part): (&Graph<W>, &PlannedPart),
        tile: &Tile,
        memory: &mut Memory<'_, W>,
        host: &H,
    ) -> Result<Zeroizing<Vec<Vec<u128>>>, Ended<H::Error>> {
        let section = &part.layout.sections[tile.section];
        let n = part.layout.n;
        let mut lanes = Zeroizing::new(Vec::with_capacity(tile.limbs.len()));
        for (limb, &q) in tile.limbs.iter().zip(&section.moduli) {
            let Some(limb) = *limb else {
                lanes.push(vec![0; n]);
                continue;
            };
            let whole = memory.take(limb, host).map_err(Ended::Host)?;
            let own = Zeroizing::new(part.words(graph, limb, tile.section, &whole));
            let mut words: Vec<u128> = own.iter().map(|word| word.to_u128()).collect();
            if tile.carried {
                let lane = Lane::new(self.driver.info(), modulus(q)?);
                lane.modulus.scalar_mul_assign(&mut words, lane.factor());
            }
            lanes.push(words);
        }
        Ok(lanes)
    }

    /// The instructions of the next submission with the numbers of real buffers; tables are put there first.
    fn with_buffers<W: Word>(
        &mut self,
        running: &mut Running<'_, W>,
        (graph, part): (&Graph<W>, &PlannedPart),
        buffers: &mut HostBuffers,
    ) -> Result<Vec<Instruction>, OffloadError> {
        let (program, shared) = (
            &part.plan.submissions[running.done].program,
            &mut running.shared,
        );
        let mut out = Vec::with_capacity(program.len());
        for instruction in program {
            let mut i = *instruction;
            if i.buf_idx >= TABLES {
                let (table, section) = &part.plan.tables[(i.buf_idx - TABLES) as usize];
                i.buf_idx = self.table((graph, part), table, *section, buffers)?;
            } else if matches!(i.op, Op::Load | Op::Store) {
                if i.op == Op::Store {
                    shared.remove(&i.buf_idx);
                }
                let own = self.buffers.tiles[i.buf_idx as usize];
                i.buf_idx = shared.get(&i.buf_idx).copied().unwrap_or(own);
            }
            out.push(i);
        }
        Ok(out)
    }

    fn table<W: Word>(
        &mut self,
        (graph, part): (&Graph<W>, &PlannedPart),
        table: &Table,
        section: usize,
        buffers: &mut HostBuffers,
    ) -> Result<u32, OffloadError> {
        if let Some(&buffer) = self.buffers.tables.get(table) {
            return Ok(buffer);
        }
        let section = &part.layout.sections[section];
        let words = words(self.driver.info(), graph, section, table)?;
        let buffer = buffers.residents.for_table(self.driver)?;
        self.driver.upload(buffer, &words)?;
        self.buffers.tables.insert(table.clone(), buffer);
        Ok(buffer)
    }
}

fn is_work(i: &Instruction) -> bool {
    !matches!(i.op, Op::Load | Op::Store)
}

/// Gives the host the limbs of a tile.
fn scatter<W: Word>(
    (graph, part): (&Graph<W>, &PlannedPart),
    id: TileId,
    lanes: &[Vec<u128>],
    (memory, halves): (&mut Memory<'_, W>, &mut Halves<W>),
) {
    let tile = &part.tiles[id].tile;
    for (limb, words) in tile.limbs.iter().zip(lanes) {
        let Some(limb) = limb.filter(|limb| part.tiles.is_home(id, *limb)) else {
            continue;
        };
        let words = words.iter().map(|&word| W::from_u128_lossy(word)).collect();
        if part.layout.halves == 1 {
            memory.put(limb, words);
            continue;
        }
        let words = Zeroizing::new(words);
        let Some(other) = halves.remove(&limb) else {
            halves.insert(limb, words);
            continue;
        };
        let is_right = part.layout.sections[tile.section].half == Some(Half::Right);
        let (left, right) = if is_right {
            (other, words)
        } else {
            (words, other)
        };
        let whole = if graph.bundle_of(limb).form == Form::Values {
            [&left[..], &right[..]].concat()
        } else {
            join(graph, graph.modulus_of(limb), [&left, &right])
        };
        memory.put(limb, whole);
    }
}
