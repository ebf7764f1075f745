// SPDX-License-Identifier: Apache-2.0
//! Running a planned program: uploads, submissions, downloads.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use device::{Driver, Profile};
use isa::{BuildInfo, Instruction, Op, Shape, State, TWIDDLE_SLOT, Unit};
use model::Lane;
use polynomial::{Form, Graph, Host, Limb, Memory, Operation, Origin};
use zeroize::Zeroizing;
use zq::Word;

use super::allocate::{Plan, TABLES, allocate};
use super::common::Common;
use super::convert::{Move, digit};
use super::interleave::{Parts, Tracks};
use super::overlap::overlap;
use super::place::Placement;
use super::predict::timed;
use super::section::{Layout, Table, join, modulus, split, words};
use super::tiles::{Maker, Tile, TileId, TileOp, Tiles};
use crate::ring_split::Half;
use crate::{OffloadError, Usage};

/// Progress callback and cancellation of a run.
pub trait Progress {
    /// So many of all operations are done; `false` stops the run.
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
    pub(super) tables: HashMap<Table, u32>,
}

/// A device that runs a program.
pub struct Stream<'s> {
    pub driver: &'s mut Driver,
    /// Operations that it takes (`tensor`, `key-switch`, …).
    pub operations: &'s BTreeSet<String>,
    pub buffers: &'s mut Buffers,
    pub usage: &'s mut Usage,
    /// Timeline of the last submission.
    pub profile: &'s mut Profile,
    /// Its instructions.
    pub last: &'s mut Vec<Instruction>,
}

/// A program laid out for a device.
pub(super) struct Laid<'g, W: Word> {
    graph: &'g Graph<W>,
    layout: Layout,
    placement: Placement,
    pub(super) tiles: Tiles,
    pub(super) plan: Plan,
}

/// An order of the operations and its submissions.
struct Order {
    ops: Vec<TileOp>,
    plan: Plan,
}

/// The parts of a program laid out for the first cores of a device, in the order that ends first on all of them: one
/// part of each after another, or two at a time.
///
/// # Errors
/// What the build cannot do.
pub(super) fn lay_out<'g, W: Word>(
    info: &BuildInfo,
    operations: &BTreeSet<String>,
    graphs: impl Iterator<Item = &'g Graph<W>>,
) -> Result<Vec<Laid<'g, W>>, OffloadError> {
    let laid = graphs.map(|graph| Laid::new(info, operations, graph));
    let mut laid: Vec<Laid<'g, W>> = laid.collect::<Result<_, _>>()?;
    let parts: Vec<Option<Parts>> = laid.iter().map(|laid| Parts::new(&laid.tiles)).collect();
    if parts.iter().all(Option::is_none) {
        return Ok(laid);
    }
    let mut least = timed(info, &laid).cycles;
    for tracks in [Tracks::SideBySide, Tracks::HalfBehind] {
        let orders = laid.iter_mut().zip(&parts).map(|(laid, parts)| {
            let parts = parts.as_ref();
            parts
                .map(|parts| laid.replan(info, parts.in_tracks(tracks)))
                .transpose()
        });
        let orders: Vec<Option<Order>> = orders.collect::<Result<_, _>>()?;
        let cycles = timed(info, &laid).cycles;
        if cycles < least {
            least = cycles;
        } else {
            for (laid, order) in laid.iter_mut().zip(orders) {
                if let Some(Order { ops, plan }) = order {
                    (laid.tiles.ops, laid.plan) = (ops, plan);
                }
            }
        }
    }
    Ok(laid)
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
    laid: Laid<'g, W>,
    memory: Memory<'g, W>,
    halves: Halves<W>,
    /// Submissions that are over.
    done: usize,
    /// Of the submission under way: its instructions.
    program: Vec<Instruction>,
    /// Buffers of the plan whose tile is in one that cores have in common.
    common: HashMap<u32, u32>,
}

impl<'g, W: Word> Running<'g, W> {
    /// The instructions of the submission under way.
    pub fn program(&self) -> &[Instruction] {
        &self.program
    }

    /// Operations that are done, and all of them.
    pub fn progress(&self) -> (usize, usize) {
        let done = self.done.checked_sub(1);
        let end = done.map_or(0, |last| self.laid.plan.submissions[last].end);
        (end, self.laid.tiles.ops.len())
    }

    /// The computed limbs.
    pub fn into_memory(self) -> Memory<'g, W> {
        self.memory
    }
}

impl Stream<'_> {
    /// Begins a program that is laid out.
    ///
    /// # Errors
    /// No room for host buffers.
    pub(super) fn start<'g, W: Word>(
        &mut self,
        laid: Laid<'g, W>,
    ) -> Result<Running<'g, W>, OffloadError> {
        laid.count(self.driver.info(), self.usage);
        while self.buffers.tiles.len() < laid.plan.buffers as usize {
            self.buffers.tiles.push(self.driver.allocate(1)?);
        }
        // The plan assumes that no conversion is set, as no modulus is.
        let conversions = self.driver.conversions().len() as u8;
        (0..conversions).for_each(|number| self.driver.forget_conversion(number));
        Ok(Running {
            memory: Memory::new(laid.graph, laid.uses()),
            halves: Halves::new(),
            laid,
            done: 0,
            program: Vec::new(),
            common: HashMap::new(),
        })
    }

    /// Sets the tables of the next submission and uploads its tiles to host buffers, those of `common` if cores share
    /// them. False if there is no further submission.
    ///
    /// # Errors
    /// The host's and the device's.
    pub fn prepare<W: Word, H: Host<W>>(
        &mut self,
        running: &mut Running<'_, W>,
        host: &H,
        mut common: Option<&mut Common>,
    ) -> Result<bool, Ended<H::Error>> {
        let laid = &running.laid;
        let Some(submission) = laid.plan.submissions.get(running.done) else {
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
        for &(buffer, tile) in &submission.uploads {
            let tile = &laid.tiles.tiles[tile as usize];
            let words = self.gather(laid, tile, &mut running.memory, host)?;
            match &mut common {
                Some(common) => {
                    let shared = common.upload(self.driver, &words)?;
                    running.common.insert(buffer, shared);
                }
                None => self
                    .driver
                    .upload(self.buffers.tiles[buffer as usize], &words)?,
            }
        }
        running.program = self.with_buffers(laid, &submission.program, &mut running.common)?;
        Ok(true)
    }

    /// Downloads the results of the prepared submission.
    ///
    /// # Errors
    /// The device's.
    pub fn settle<W: Word>(
        &mut self,
        running: &mut Running<'_, W>,
        profile: Profile,
    ) -> Result<(), OffloadError> {
        *self.profile = profile;
        account(
            self.driver.info(),
            self.usage,
            self.profile,
            &running.program,
        );
        *self.last = std::mem::take(&mut running.program);
        let laid = &running.laid;
        for &(buffer, tile) in &laid.plan.submissions[running.done].downloads {
            let buffer = self.buffers.tiles[buffer as usize];
            let words = Zeroizing::new(self.driver.download(buffer, laid.layout.n)?);
            let target = (&mut running.memory, &mut running.halves);
            scatter(laid, tile, &words, target);
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
        laid: &Laid<'_, W>,
        tile: &Tile,
        memory: &mut Memory<'_, W>,
        host: &H,
    ) -> Result<Zeroizing<Vec<Vec<u128>>>, Ended<H::Error>> {
        let section = &laid.layout.sections[tile.section];
        let n = laid.layout.n;
        let mut lanes = Zeroizing::new(Vec::with_capacity(tile.limbs.len()));
        for (limb, &q) in tile.limbs.iter().zip(&section.moduli) {
            let Some(limb) = *limb else {
                lanes.push(vec![0; n]);
                continue;
            };
            let whole = memory.take(limb, host).map_err(Ended::Host)?;
            let part = Zeroizing::new(laid.part(limb, tile.section, &whole));
            let mut words: Vec<u128> = part.iter().map(|word| word.to_u128()).collect();
            if tile.carried {
                let lane = Lane::new(self.driver.info(), modulus(q)?);
                lane.modulus.scalar_mul_assign(&mut words, lane.factor());
            }
            lanes.push(words);
        }
        Ok(lanes)
    }

    /// The instructions with the numbers of real buffers; tables are put there first.
    fn with_buffers<W: Word>(
        &mut self,
        laid: &Laid<'_, W>,
        program: &[Instruction],
        common: &mut HashMap<u32, u32>,
    ) -> Result<Vec<Instruction>, OffloadError> {
        let mut out = Vec::with_capacity(program.len());
        for instruction in program {
            let mut i = *instruction;
            if i.buf_idx >= TABLES {
                let (table, section) = &laid.plan.tables[(i.buf_idx - TABLES) as usize];
                i.buf_idx = self.table(laid, table, *section)?;
            } else if matches!(i.op, Op::Load | Op::Store) {
                if i.op == Op::Store {
                    common.remove(&i.buf_idx);
                }
                let own = self.buffers.tiles[i.buf_idx as usize];
                i.buf_idx = common.get(&i.buf_idx).copied().unwrap_or(own);
            }
            out.push(i);
        }
        Ok(out)
    }

    fn table<W: Word>(
        &mut self,
        laid: &Laid<'_, W>,
        table: &Table,
        section: usize,
    ) -> Result<u32, OffloadError> {
        if let Some(&buffer) = self.buffers.tables.get(table) {
            return Ok(buffer);
        }
        let section = &laid.layout.sections[section];
        let words = words(self.driver.info(), laid.graph, section, table)?;
        let buffer = self.driver.allocate(1)?;
        self.driver.upload(buffer, &words)?;
        self.buffers.tables.insert(table.clone(), buffer);
        Ok(buffer)
    }
}

/// Counts a submission's transfers and work.
pub(super) fn account(
    info: &BuildInfo,
    usage: &mut Usage,
    profile: &Profile,
    program: &[Instruction],
) {
    let lane_bytes = u64::from(info.lanes) * info.word_bytes() as u64;
    usage.instructions += program.len() as u64;
    usage.submissions += 1;
    for instruction in program {
        let bytes = instruction.n() as u64 * lane_bytes;
        match instruction.op {
            Op::Load => usage.send.count(bytes),
            Op::Store => usage.receive.count(bytes),
            _ => {}
        }
        usage.tables += u64::from(instruction.op == Op::Load && instruction.dst == TWIDDLE_SLOT);
    }
    let mut transfers = Vec::new();
    for event in &profile.events {
        match event.op {
            Op::Load => usage.send.cycles += event.end - event.start,
            Op::Store => usage.receive.cycles += event.end - event.start,
            _ => continue,
        }
        transfers.push((event.start, event.end));
    }
    let work = profile
        .events
        .iter()
        .filter(|event| matches!(event.unit, Unit::Compute | Unit::Pointwise));
    let mut work: Vec<(u64, u64)> = work.map(|event| (event.start, event.end)).collect();
    usage.conversion_cycles += profile.counters.busy_rns;
    usage.cycles += profile.counters.cycles;
    let mut all = [transfers.as_slice(), &work].concat();
    let (moving, working) = (covered(&mut transfers), covered(&mut work));
    usage.transfer_cycles += moving;
    usage.compute_cycles += working;
    usage.hidden_cycles += moving + working - covered(&mut all);
}

/// Cycles in any of these intervals.
pub fn covered(intervals: &mut [(u64, u64)]) -> u64 {
    intervals.sort_unstable();
    let (mut end, mut sum) = (0, 0);
    for &mut (from, to) in intervals {
        sum += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    sum
}

/// The submissions of a program: with streamed operands, where the build has them and they are faster.
fn fastest(info: &BuildInfo, layout: &Layout, tiles: &Tiles) -> Result<Plan, OffloadError> {
    let planned = |streams| -> Result<(Plan, u64), OffloadError> {
        let mut plan = allocate(info, layout, tiles, streams)?;
        let cycles = ordered(info, &mut plan);
        Ok((plan, cycles))
    };
    let (loaded, cycles) = planned(false)?;
    if !info.stream {
        return Ok(loaded);
    }
    // A streamed operand saves a slot, one loaded ahead the wait for its first word.
    let (streamed, taken) = planned(true)?;
    Ok(if cycles < taken { loaded } else { streamed })
}

/// Puts the instructions of each submission in order; the cycles of all of them.
fn ordered(info: &BuildInfo, plan: &mut Plan) -> u64 {
    let (mut state, mut cycles) = (State::new(info), 0);
    for submission in &mut plan.submissions {
        for (number, spec) in &submission.conversions {
            state.conversions[usize::from(*number)] = spec.as_ref().map(|spec| Shape {
                inputs: spec.inputs.len() as u8,
                own: false,
            });
        }
        let program = std::mem::take(&mut submission.program);
        let (program, taken) = overlap(info, &state, program);
        submission.program = program;
        cycles += taken;
    }
    cycles
}

impl<'g, W: Word> Laid<'g, W> {
    /// Plans a program for a build that takes these operations.
    ///
    /// # Errors
    /// What the build cannot do.
    pub(super) fn new(
        info: &BuildInfo,
        operations: &BTreeSet<String>,
        graph: &'g Graph<W>,
    ) -> Result<Self, OffloadError> {
        let layout = Layout::new(info, graph);
        let placement = Placement::new(info, operations, graph, &layout);
        let maker = Maker {
            info,
            graph,
            layout: &layout,
            placement: &placement,
        };
        let tiles = maker.make()?;
        let plan = fastest(info, &layout, &tiles)?;
        Ok(Self {
            graph,
            layout,
            placement,
            tiles,
            plan,
        })
    }

    /// Plans the operations anew in another order; the order before.
    ///
    /// # Errors
    /// As [`Laid::new`].
    fn replan(&mut self, info: &BuildInfo, ops: Vec<TileOp>) -> Result<Order, OffloadError> {
        let ops = std::mem::replace(&mut self.tiles.ops, ops);
        let plan = fastest(info, &self.layout, &self.tiles)?;
        let plan = std::mem::replace(&mut self.plan, plan);
        Ok(Order { ops, plan })
    }

    /// Whether the host does a bundle that something depends on.
    pub(super) fn is_on_host(&self, number: usize) -> bool {
        self.placement.is_needed[number] && !self.placement.on_device[number]
    }

    /// Counts each task that the device has a part in.
    pub(super) fn count(&self, info: &BuildInfo, usage: &mut Usage) {
        let mut there: BTreeMap<u32, bool> = BTreeMap::new();
        for (number, bundle) in self.graph.bundles().iter().enumerate() {
            // A source stands where it was first used: in a part, maybe at a task of another.
            let is_given = matches!(bundle.operation, Operation::Source(..));
            if is_given || !self.placement.is_needed[number] {
                continue;
            }
            let on_device = self.placement.on_device[number];
            *there.entry(bundle.task).or_default() |= on_device;
            usage.host_operations += u64::from(!on_device);
        }
        for (task, there) in there {
            let name = self.graph.tasks()[task as usize].name;
            if !matches!(name, "input" | "output" | "sum") {
                usage.count(name, there);
            }
        }
        self.count_operands(info, usage);
    }

    /// Counts reads and loads of operands by what they are.
    fn count_operands(&self, info: &BuildInfo, usage: &mut Usage) {
        let bytes = (self.layout.n * info.lanes as usize * info.word_bytes()) as u64;
        let name = |tile: TileId| {
            let first = self.tiles.tiles[tile as usize]
                .limbs
                .iter()
                .flatten()
                .next();
            match first.and_then(|limb| self.graph.origin(*limb)) {
                Some(Origin::Ciphertext) => "ciphertexts",
                Some(Origin::Key) => "keys",
                Some(Origin::Plaintext) => "plaintexts",
                None => "intermediates",
            }
        };
        for tile in self
            .tiles
            .ops
            .iter()
            .flat_map(|op| op.sources.iter().flatten())
        {
            usage.operands.entry(name(*tile)).or_default().reads += 1;
        }
        for tile in &self.plan.loads {
            let own = usage.operands.entry(name(*tile)).or_default();
            own.loads += 1;
            own.bytes += bytes;
        }
    }

    /// Reads of each limb from the host's memory.
    fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.graph.limb_count()];
        let mut count = |limb: &Limb| uses[limb.0 as usize] += 1;
        let placed = self
            .placement
            .on_device
            .iter()
            .zip(&self.placement.is_needed);
        for (bundle, (on_device, is_needed)) in self.graph.bundles().iter().zip(placed) {
            if *is_needed && !on_device {
                bundle.operands.iter().flatten().for_each(&mut count);
            }
        }
        let uploads = self
            .plan
            .submissions
            .iter()
            .flat_map(|submission| &submission.uploads);
        for (_, tile) in uploads {
            self.tiles.tiles[*tile as usize]
                .limbs
                .iter()
                .flatten()
                .for_each(&mut count);
        }
        self.graph.outputs().iter().for_each(&mut count);
        uses
    }

    /// A limb's words in a section.
    fn part(&self, limb: Limb, section: usize, whole: &[W]) -> Vec<W> {
        let Some(half) = self.layout.sections[section].half else {
            return whole.to_vec();
        };
        if self.graph.bundle_of(limb).form == Form::Values {
            let middle = whole.len() / 2;
            return match half {
                Half::Left => whole[..middle].to_vec(),
                Half::Right => whole[middle..].to_vec(),
            };
        }
        split(self.graph, self.graph.modulus_of(limb), half, whole)
    }
}

/// Gives the host the limbs of a tile.
fn scatter<W: Word>(
    laid: &Laid<'_, W>,
    id: TileId,
    lanes: &[Vec<u128>],
    (memory, halves): (&mut Memory<'_, W>, &mut Halves<W>),
) {
    let tile = &laid.tiles.tiles[id as usize];
    for (limb, words) in tile.limbs.iter().zip(lanes) {
        let Some(limb) = limb.filter(|limb| laid.tiles.is_home(id, *limb)) else {
            continue;
        };
        let words = words.iter().map(|&word| W::from_u128_lossy(word)).collect();
        if laid.layout.halves == 1 {
            memory.put(limb, words);
            continue;
        }
        let words = Zeroizing::new(words);
        let Some(other) = halves.remove(&limb) else {
            halves.insert(limb, words);
            continue;
        };
        let is_right = laid.layout.sections[tile.section].half == Some(Half::Right);
        let (left, right) = if is_right {
            (other, words)
        } else {
            (words, other)
        };
        let whole = if laid.graph.bundle_of(limb).form == Form::Values {
            [&left[..], &right[..]].concat()
        } else {
            join(laid.graph, laid.graph.modulus_of(limb), [&left, &right])
        };
        memory.put(limb, whole);
    }
}
