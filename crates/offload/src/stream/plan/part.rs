// SPDX-License-Identifier: Apache-2.0
//! A part of a program planned for a core: operations placed, as tiles and instructions, in submissions.

use std::collections::BTreeMap;

use isa::{BuildInfo, Instruction, Shape, State};
use polynomial::{Form, Graph, Limb, Origin, PolyOp};
use zq::Word;

use crate::stream::allocate::{Plan, Rules, allocate};
use crate::stream::legality::{kind, on_data, terms};
use crate::stream::partition::{Half, Layout, split};
use crate::stream::schedule::{PortShare, apart, order, overlap};
use crate::stream::select::{Placement, Selector, TileId, Tiles};
use crate::{Offer, OffloadError, Usage};

/// Why the host does what the device could do.
const CHEAPER: &str = "fewer polynomials cross so";

/// Whether a report names a task.
fn is_named(task: &str) -> bool {
    !matches!(task, "input" | "output" | "sum")
}

/// A part of a program planned for a core.
pub struct PlannedPart {
    pub layout: Layout,
    pub placement: Placement,
    pub tiles: Tiles,
    pub plan: Plan,
    /// See [`Offer::resident`].
    resident: bool,
}

/// Reorders the instructions of each submission; returns the cycles of all submissions.
fn ordered(info: &BuildInfo, mut port: PortShare, plan: &mut Plan) -> u64 {
    let (mut state, mut cycles) = (State::new(info), 0);
    for submission in &mut plan.submissions {
        for (number, spec) in &submission.conversions {
            state.conversions[usize::from(*number)] = spec.as_ref().map(|spec| Shape {
                inputs: spec.inputs.len() as u8,
                own: false,
            });
        }
        port.submit(submission);
        let program = std::mem::take(&mut submission.program);
        let (program, taken) = overlap(info, &state, &port, program);
        submission.program = program;
        cycles += taken;
    }
    cycles
}

impl PlannedPart {
    /// A program placed and in instructions, without a plan yet.
    ///
    /// # Errors
    /// What the build cannot do.
    pub fn new<W: Word>(
        info: &BuildInfo,
        offer: &Offer,
        graph: &Graph<W>,
    ) -> Result<Self, OffloadError> {
        let layout = Layout::new(info, graph);
        let placement = Placement::new(info, offer, graph, &layout)?;
        let selector = Selector {
            info,
            graph,
            layout: &layout,
            placement: &placement,
        };
        let tiles = selector.select(order(graph, &layout, &placement))?;
        Ok(Self {
            layout,
            placement,
            tiles,
            plan: Plan::default(),
            resident: offer.resident,
        })
    }

    /// A plan of the operations, with streamed operands where the build has them and they are faster; for `keep` see
    /// [`Rules`].
    ///
    /// # Errors
    /// What the build cannot do.
    pub fn planned(
        &self,
        info: &BuildInfo,
        port: &PortShare,
        keep: usize,
    ) -> Result<Plan, OffloadError> {
        let plan = |streams| -> Result<(Plan, u64), OffloadError> {
            let rules = Rules {
                streams,
                keep,
                resident: self.resident,
            };
            let mut plan = allocate(info, &self.layout, &self.tiles, rules)?;
            if self.resident {
                apart(&mut plan);
            }
            let cycles = ordered(info, port.clone(), &mut plan);
            Ok((plan, cycles))
        };
        let (loaded, cycles) = plan(false)?;
        if !info.stream || self.resident {
            return Ok(loaded);
        }
        // A streamed operand saves a slot, one loaded ahead the wait for its first word.
        let (streamed, taken) = plan(true)?;
        Ok(if cycles < taken { loaded } else { streamed })
    }

    /// The tiles and their plan.
    pub fn tiles_and_plan(&self) -> (&Tiles, &Plan) {
        (&self.tiles, &self.plan)
    }

    /// Whether the host does a bundle that something depends on.
    pub fn is_on_host(&self, number: usize) -> bool {
        self.placement.operations[number].is_on_host()
    }

    /// Bytes of memory that it takes, about.
    pub fn bytes(&self) -> usize {
        let submissions = self.plan.submissions.iter();
        let instructions: usize = submissions.map(|one| one.program.len()).sum();
        instructions * size_of::<Instruction>()
            + self.plan.loads.len() * size_of::<TileId>()
            + self.tiles.bytes()
            + size_of_val(&self.placement.operations[..])
    }

    /// Counts each task of its program that the device has a part in.
    pub fn count<W: Word>(&self, info: &BuildInfo, graph: &Graph<W>, usage: &mut Usage) {
        let mut there: BTreeMap<u32, bool> = BTreeMap::new();
        for (number, bundle) in graph.bundles().iter().enumerate() {
            // A source stands where it was first used: in a part, maybe at a task of another.
            let is_given = matches!(bundle.operation, PolyOp::Source(..));
            if is_given || !self.placement.operations[number].uses.is_needed {
                continue;
            }
            let on_device = self.placement.operations[number].on_device;
            *there.entry(bundle.task).or_default() |= on_device;
            usage.host_operations += u64::from(!on_device);
        }
        self.count_host_work(graph, &there, usage);
        for (task, there) in there {
            let name = graph.tasks()[task as usize].name;
            if is_named(name) {
                usage.count(name, there);
            }
        }
        self.count_operands(info, graph, usage);
    }

    /// Counts what the host does with inputs and with results of the device; `there`: for each task whether the device
    /// has a part in it.
    fn count_host_work<W: Word>(
        &self,
        graph: &Graph<W>,
        there: &BTreeMap<u32, bool>,
        usage: &mut Usage,
    ) {
        for number in on_data(graph).filter(|number| self.is_on_host(*number)) {
            let bundle = &graph.bundles()[number];
            let because = match self.placement.operations[number].unsupported {
                Some(reason) => reason.to_string(),
                None => CHEAPER.to_owned(),
            };
            let key = (kind(&bundle.operation), because);
            let is_named = is_named(graph.tasks()[bundle.task as usize].name);
            let is_whole = is_named && !there.get(&bundle.task).copied().unwrap_or_default();
            let own = usage.host_work.entry(key).or_default();
            own.count += 1;
            own.beside += u64::from(!is_whole);
            own.terms += terms(graph, bundle);
        }
    }

    /// Counts reads and loads of operands by what they are.
    fn count_operands<W: Word>(&self, info: &BuildInfo, graph: &Graph<W>, usage: &mut Usage) {
        let bytes = (self.layout.n * info.lanes as usize * info.word_bytes()) as u64;
        let name = |tile: TileId| {
            let first = self.tiles[tile].tile.limbs.iter().flatten().next();
            match first.and_then(|limb| graph.origin(*limb)) {
                Some(Origin::Ciphertext) => "ciphertexts",
                Some(Origin::Key) => "keys",
                Some(Origin::Plaintext) => "plaintexts",
                Some(Origin::Randomness) => "randomness",
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
    pub fn uses<W: Word>(&self, graph: &Graph<W>) -> Vec<u32> {
        let mut uses = vec![0; graph.limb_count()];
        let mut count = |limb: &Limb| uses[limb.0 as usize] += 1;
        for (bundle, placed) in graph.bundles().iter().zip(&self.placement.operations) {
            if placed.is_on_host() {
                bundle.operands.iter().flatten().for_each(&mut count);
            }
        }
        let uploads = self
            .plan
            .submissions
            .iter()
            .flat_map(|submission| &submission.uploads);
        for (_, tile) in uploads {
            self.tiles[*tile]
                .tile
                .limbs
                .iter()
                .flatten()
                .for_each(&mut count);
        }
        graph.outputs().iter().for_each(&mut count);
        uses
    }

    /// A limb's words in a section.
    pub fn words<W: Word>(
        &self,
        graph: &Graph<W>,
        limb: Limb,
        section: usize,
        whole: &[W],
    ) -> Vec<W> {
        let Some(half) = self.layout.sections[section].half else {
            return whole.to_vec();
        };
        if graph.bundle_of(limb).form == Form::Values {
            let middle = whole.len() / 2;
            return match half {
                Half::Left => whole[..middle].to_vec(),
                Half::Right => whole[middle..].to_vec(),
            };
        }
        split(graph, graph.modulus_of(limb), half, whole)
    }
}
