// SPDX-License-Identifier: Apache-2.0
//! Allocation of slots to tiles, and the resulting submissions.
//!
//! A tile stays in its slot until its last use. When a slot is needed, the tile with the farthest next use is evicted
//! (Belady's rule); one that the host has a copy of is not stored. Work slots 0 and 1 hold only what is used before the
//! next transform.

use isa::{BuildInfo, Instruction, Op, PROGRAM_WORDS, STREAM_SLOT, TWIDDLE_SLOT, ZERO_SLOT};

use super::plan::{Plan, Submission, TABLES};
use super::tables::Held;
use crate::OffloadError;
use crate::stream::partition::Layout;
use crate::stream::select::{Move, Spec, TileId, TileOp, Tiles};

/// Instructions that one operation can bring with it: loads, stores, copies.
const MARGIN: usize = 16;
/// Bytes of tiles that one submission brings in at most, as the host holds them.
const MOST_BYTES: usize = 1 << 27;

/// When each tile is used.
struct Uses {
    /// Places in the order of execution, rising.
    of: Vec<Vec<usize>>,
    /// The next transform from each place on.
    next_transform: Vec<usize>,
}

impl Uses {
    fn new(tiles: &Tiles) -> Self {
        let mut of = vec![Vec::new(); tiles.tiles.len()];
        for (place, op) in tiles.ops.iter().enumerate() {
            for tile in op.sources.iter().flatten() {
                let uses: &mut Vec<usize> = &mut of[*tile as usize];
                if uses.last() != Some(&place) {
                    uses.push(place);
                }
            }
        }
        let mut next = usize::MAX;
        let mut next_transform = vec![next; tiles.ops.len()];
        for (place, op) in tiles.ops.iter().enumerate().rev() {
            if op.op.is_transform() {
                next = place;
            }
            next_transform[place] = next;
        }
        Self { of, next_transform }
    }

    /// The first use after a place.
    fn after(&self, tile: TileId, place: usize) -> Option<usize> {
        let uses = &self.of[tile as usize];
        uses.get(uses.partition_point(|&at| at <= place)).copied()
    }

    fn last(&self, tile: TileId) -> Option<usize> {
        self.of[tile as usize].last().copied()
    }
}

/// What slots are given to.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Factors that are used once take no slot: the build must have streamed operands.
    pub streams: bool,
    /// A tile that the host has is dropped when it is not used in the next operations, so many: it costs a LOAD, and
    /// leaves a slot for what comes before.
    pub keep: usize,
    /// Operands are loaded before the work, so to slots that nothing before writes.
    pub resident: bool,
}

/// Slots being given out.
struct Allocator<'a> {
    info: &'a BuildInfo,
    rules: Rules,
    layout: &'a Layout,
    tiles: &'a Tiles,
    uses: Uses,
    /// Tile of each slot, and the instruction after which it was last free.
    slots: Vec<(Option<TileId>, usize)>,
    slot_of: Vec<Option<u8>>,
    buffer_of: Vec<Option<u32>>,
    held: Held,
    plan: Plan,
    open: Submission,
}

/// The submissions of a program.
///
/// # Errors
/// [`OffloadError::Build`] if there are too few slots.
pub fn allocate(
    info: &BuildInfo,
    layout: &Layout,
    tiles: &Tiles,
    rules: Rules,
) -> Result<Plan, OffloadError> {
    let mut allocator = Allocator {
        info,
        rules,
        layout,
        tiles,
        uses: Uses::new(tiles),
        slots: vec![(None, 0); info.slots() as usize],
        slot_of: vec![None; tiles.tiles.len()],
        buffer_of: vec![None; tiles.tiles.len()],
        held: Held::new(info),
        plan: Plan::default(),
        open: Submission::default(),
    };
    let part = |op: &TileOp| match rules.resident {
        // Operands of each section are loaded before its work.
        true => (op.stage, op.section),
        false => (op.stage, 0),
    };
    let mut last = (0, 0);
    for (place, op) in tiles.ops.iter().enumerate() {
        if part(op) != last || allocator.is_full() {
            allocator.submit(place);
            last = part(op);
        }
        allocator.execute(place, op)?;
    }
    allocator.submit(tiles.ops.len());
    Ok(allocator.plan)
}

impl Allocator<'_> {
    fn is_full(&self) -> bool {
        let bytes = 16 * self.info.lanes as usize * self.layout.n;
        self.open.program.len() + MARGIN > PROGRAM_WORDS
            || self.open.uploads.len() * bytes > MOST_BYTES
    }

    fn submit(&mut self, place: usize) {
        let mut open = std::mem::take(&mut self.open);
        self.held.submitted();
        if self.rules.resident {
            // All slots that are free now can be loaded before the work that follows.
            self.slots.iter_mut().for_each(|slot| slot.1 = 0);
        }
        self.plan.free.append(&mut self.plan.freed);
        let sets =
            !open.moduli.is_empty() || !open.conversions.is_empty() || !open.moves.is_empty();
        if sets || !open.program.is_empty() {
            open.end = place;
            self.plan.submissions.push(open);
        }
    }

    fn execute(&mut self, place: usize, op: &TileOp) -> Result<(), OffloadError> {
        let (mod_idx, const_idx) = match (&op.conversion, &op.moved) {
            (Some(spec), _) => (0, Some(self.conversion(spec, place))),
            (_, Some(moved)) => (0, Some(self.moved(moved, place))),
            _ => (self.select(op, place), self.constant(op, place)),
        };
        let pinned: Vec<TileId> = op.sources.iter().flatten().copied().collect();
        let streamed = self.streamed(place, op);
        for &tile in &pinned {
            if self.slot_of[tile as usize].is_none() && streamed != Some(tile) {
                self.load(place, op, tile, &pinned)?;
            }
        }
        let dst = if op.op.is_transform() {
            self.table(op, mod_idx);
            self.clear_work_slots(place, &pinned)?;
            self.transformed(place, &pinned)?
        } else if op.is_aside() {
            self.converted(place, op, &pinned)?
        } else {
            self.pointwise(place, op, &pinned)?
        };
        let mut instruction = self.instruction(op.op);
        let slot = |source: Option<TileId>| match source {
            Some(tile) => self.slot_of[tile as usize].unwrap_or(ZERO_SLOT),
            None => ZERO_SLOT,
        };
        let [mut a, mut b, c] = op.sources.map(slot);
        if let Some(tile) = streamed {
            // Factors commute; the stream is the second one.
            if op.sources[0] == Some(tile) {
                a = b;
            }
            b = STREAM_SLOT;
            let mut load = self.instruction(Op::Load);
            (load.dst, load.buf_idx) = (STREAM_SLOT, self.uploaded(tile));
            self.open.program.push(load);
        }
        (
            instruction.dst,
            instruction.src_a,
            instruction.src_b,
            instruction.src_c,
        ) = (dst, a, b, c);
        (instruction.mod_idx, instruction.const_idx) = (mod_idx, const_idx.unwrap_or(0));
        self.open.program.push(instruction);
        for tile in pinned {
            match self.uses.after(tile, place) {
                None => self.forget(tile),
                Some(next) if next - place > self.rules.keep && self.is_with_host(tile) => {
                    self.leave(tile);
                }
                _ => {}
            }
        }
        self.hold(op.dst, dst);
        if self.tiles.is_wanted[op.dst as usize] {
            self.store(op.dst);
            let buffer = self.buffer_of[op.dst as usize].unwrap_or_default();
            self.open.downloads.push((buffer, op.dst));
        }
        if self.uses.after(op.dst, place).is_none() {
            self.forget(op.dst);
        }
        Ok(())
    }

    fn instruction(&self, op: Op) -> Instruction {
        let mut i = Instruction::new(op);
        i.log2_n = self.layout.n.trailing_zeros() as u8;
        i
    }

    /// The modulus index of a section, which a new submission sets if this one has used all of them.
    fn select(&mut self, op: &TileOp, place: usize) -> u8 {
        let moduli = &self.layout.sections[op.section].moduli;
        if let Some(index) = self.held.modulus(moduli, &mut self.open) {
            return index;
        }
        self.submit(place);
        self.held.modulus(moduli, &mut self.open).unwrap_or(0)
    }

    /// The constants of CMODMUL, likewise.
    fn constant(&mut self, op: &TileOp, place: usize) -> Option<u8> {
        let (constants, section) = (op.constants.as_ref()?, &self.layout.sections[op.section]);
        if let Some(index) = self.held.constant(constants, section, &mut self.open) {
            return Some(index);
        }
        self.submit(place);
        self.select(op, place);
        self.held.constant(constants, section, &mut self.open)
    }

    /// The number of a base conversion, likewise.
    fn conversion(&mut self, spec: &Spec, place: usize) -> u8 {
        if let Some(number) = self.held.conversion(spec, &mut self.open) {
            return number;
        }
        self.submit(place);
        self.held.conversion(spec, &mut self.open).unwrap_or(0)
    }

    /// The number of an automorphism or a digit, likewise.
    fn moved(&mut self, moved: &Move, place: usize) -> u8 {
        if let Some(number) = self.held.moved(moved, &mut self.open) {
            return number;
        }
        self.submit(place);
        self.held.moved(moved, &mut self.open).unwrap_or(0)
    }

    fn table(&mut self, op: &TileOp, mod_idx: u8) {
        let table = self.layout.table(op.section, op.op == Op::Intt);
        if self.held.has_table(mod_idx, &table) {
            return;
        }
        let number = self.plan.table(table.clone(), op.section);
        let mut load = self.instruction(Op::Load);
        (load.dst, load.mod_idx, load.buf_idx) = (TWIDDLE_SLOT, mod_idx, TABLES + number);
        // No transform runs while a table is loaded: one that is held beside another comes before the first.
        let place = match self.layout.origin(op.section) == op.section {
            true => self.open.program.len(),
            false => 0,
        };
        self.open.program.insert(place, load);
        self.held.load_table(mod_idx, table);
    }

    fn hold(&mut self, tile: TileId, slot: u8) {
        self.slots[usize::from(slot)].0 = Some(tile);
        self.slot_of[tile as usize] = Some(slot);
    }

    fn is_with_host(&self, tile: TileId) -> bool {
        self.buffer_of[tile as usize].is_some()
    }

    /// Takes a tile out of its slot.
    fn leave(&mut self, tile: TileId) {
        if let Some(slot) = self.slot_of[tile as usize].take() {
            self.slots[usize::from(slot)] = (None, self.open.program.len());
        }
    }

    /// A tile that is not needed any more.
    fn forget(&mut self, tile: TileId) {
        self.leave(tile);
        if let Some(buffer) = self.buffer_of[tile as usize].take() {
            // A later submission may use it again: this one's transfers are not over.
            self.plan.freed.push(buffer);
        }
    }

    fn store(&mut self, tile: TileId) {
        if self.is_with_host(tile) {
            return;
        }
        let buffer = self.plan.buffer();
        let mut store = self.instruction(Op::Store);
        store.src_a = self.slot_of[tile as usize].unwrap_or(ZERO_SLOT);
        store.buf_idx = buffer;
        self.open.program.push(store);
        self.buffer_of[tile as usize] = Some(buffer);
    }

    fn load(
        &mut self,
        place: usize,
        op: &TileOp,
        tile: TileId,
        pinned: &[TileId],
    ) -> Result<(), OffloadError> {
        let soon = !self.rules.resident
            && !op.op.is_transform()
            && !op.is_aside()
            && !self.info.pointwise_unit
            && self.is_hidden_beside_work(place)
            && self.is_for_work_slots(tile, place, self.uses.next_transform[place]);
        // A transform overwrites the work slots before it reads its addend: no parallel conversion may read from them.
        let apart = op.is_aside()
            || self.info.pointwise_unit
            || op.op.is_transform() && op.sources[2] == Some(tile);
        let slot = self.acquire(place, pinned, |slot| slot >= 2 || !apart, soon)?;
        let mut load = self.instruction(Op::Load);
        (load.dst, load.buf_idx) = (slot, self.uploaded(tile));
        self.open.program.push(load);
        self.hold(tile, slot);
        Ok(())
    }

    /// The buffer that the host has a tile in, for a LOAD.
    fn uploaded(&mut self, tile: TileId) -> u32 {
        self.plan.loads.push(tile);
        if let Some(buffer) = self.buffer_of[tile as usize] {
            return buffer;
        }
        let buffer = self.plan.buffer();
        self.open.uploads.push((buffer, tile));
        self.buffer_of[tile as usize] = Some(buffer);
        buffer
    }

    /// The factor of a product that needs no slot: it is in none, and not used again.
    fn streamed(&self, place: usize, op: &TileOp) -> Option<TileId> {
        if !self.rules.streams || !matches!(op.op, Op::Pmodmul | Op::Pmac) {
            return None;
        }
        let [a, b, c] = op.sources;
        let suits = |tile: &TileId| {
            let once = op
                .sources
                .iter()
                .flatten()
                .filter(|other| *other == tile)
                .count()
                == 1;
            once && Some(*tile) != c
                && self.slot_of[*tile as usize].is_none()
                && self.uses.after(*tile, place).is_none()
        };
        b.filter(suits).or(a.filter(suits))
    }

    /// Whether a load into a work slot, which waits for the last transform, is hidden by a pointwise operation in
    /// between. Builds with a third unit have other slots, loaded in parallel with the transform.
    fn is_hidden_beside_work(&self, place: usize) -> bool {
        let mut before = self.tiles.ops[..place].iter().rev();
        let last = before.find(|op| !op.is_aside());
        let alone = self.info.rns.is_none() && self.info.moves == 0;
        alone || last.is_none_or(|op| !op.op.is_transform())
    }

    /// Whether the last use of a tile from a place on is no later than the next transform.
    fn is_for_work_slots(&self, tile: TileId, place: usize, transform: usize) -> bool {
        self.uses
            .last(tile)
            .is_none_or(|last| last <= transform || last < place)
    }

    /// A free slot among those allowed; if there is none, evicts the tile with the farthest next use.
    fn acquire(
        &mut self,
        place: usize,
        pinned: &[TileId],
        allowed: impl Fn(u8) -> bool,
        prefers_work: bool,
    ) -> Result<u8, OffloadError> {
        if let Some(slot) = self.free(&allowed, prefers_work) {
            return Ok(slot);
        }
        let candidate = |slot: &u8| {
            let tile = self.slots[usize::from(*slot)].0?;
            let next = self
                .uses
                .after(tile, place.wrapping_sub(1))
                .unwrap_or(usize::MAX);
            (!pinned.contains(&tile) && allowed(*slot)).then_some((
                next,
                self.is_with_host(tile),
                *slot,
            ))
        };
        let all = 0..self.slots.len() as u8;
        let victim = all.filter_map(|slot| candidate(&slot)).max();
        let (_, _, slot) = victim.ok_or_else(|| self.too_few())?;
        self.evict(slot);
        Ok(slot)
    }

    fn too_few(&self) -> OffloadError {
        OffloadError::Build {
            operation: "a program",
            what: format!(
                "needs 5 slots or more, three of them dual-port; the build has {} and {}",
                self.info.slots(),
                self.info.dual_port_slots
            ),
        }
    }

    /// The slot free for longest: a load into it can begin earliest. Work slots first or last.
    fn free(&self, allowed: &impl Fn(u8) -> bool, prefers_work: bool) -> Option<u8> {
        let free = (0..self.slots.len() as u8)
            .filter(|&slot| self.slots[usize::from(slot)].0.is_none() && allowed(slot));
        free.min_by_key(|&slot| ((slot < 2) != prefers_work, self.slots[usize::from(slot)].1))
    }

    fn evict(&mut self, slot: u8) {
        if let Some(tile) = self.slots[usize::from(slot)].0 {
            self.store(tile);
            self.leave(tile);
        }
    }

    /// Makes room for a transform in slots 0 and 1. Its source, the first of those pinned,
    /// may stay there for the last time.
    fn clear_work_slots(&mut self, place: usize, pinned: &[TileId]) -> Result<(), OffloadError> {
        for work in 0..2 {
            let Some(tile) = self.slots[work].0 else {
                continue;
            };
            if tile == pinned[0] && self.uses.after(tile, place).is_none() {
                continue;
            }
            if !pinned.contains(&tile) && self.is_with_host(tile) {
                self.leave(tile);
                continue;
            }
            let kept = [pinned, &[tile]].concat();
            let slot = self.acquire(place, &kept, |slot| slot >= 2, false)?;
            let mut copy = self.instruction(Op::Memcpy);
            (copy.dst, copy.src_a) = (slot, work as u8);
            self.open.program.push(copy);
            self.leave(tile);
            self.hold(tile, slot);
        }
        Ok(())
    }

    /// Slot of a transform's result: that of its source if that is dead.
    fn transformed(&mut self, place: usize, pinned: &[TileId]) -> Result<u8, OffloadError> {
        let own = self.slot_of[pinned[0] as usize].filter(|&slot| slot >= 2);
        match own {
            Some(slot) if self.uses.after(pinned[0], place).is_none() => Ok(slot),
            _ => self.acquire(place, pinned, |slot| slot >= 2, false),
        }
    }

    /// Slot of a conversion's result: no work slot, since transforms run in parallel.
    fn converted(
        &mut self,
        place: usize,
        op: &TileOp,
        pinned: &[TileId],
    ) -> Result<u8, OffloadError> {
        let over = self.slot_of[pinned[0] as usize]
            .filter(|&slot| slot >= 2 && self.info.is_dual_port(slot) && op.op != Op::Auto)
            .filter(|_| self.uses.after(pinned[0], place).is_none());
        match over {
            Some(slot) => Ok(slot),
            None => self.acquire(place, pinned, |slot| slot >= 2, false),
        }
    }

    /// Slot of a pointwise result: that of a dead operand if it is dual-port, else another slot.
    fn pointwise(
        &mut self,
        place: usize,
        op: &TileOp,
        pinned: &[TileId],
    ) -> Result<u8, OffloadError> {
        let transform = self
            .uses
            .next_transform
            .get(place + 1)
            .copied()
            .unwrap_or(usize::MAX);
        // Beside transforms, which have the work slots.
        let apart = self.info.pointwise_unit;
        let prefers_work = !apart && self.is_for_work_slots(op.dst, place, transform);
        let over = pinned.iter().find_map(|&tile| {
            let slot = self.slot_of[tile as usize]?;
            let is_last = self.uses.after(tile, place).is_none();
            let suits = slot >= 2 || prefers_work;
            (is_last && suits && self.info.is_dual_port(slot)).then_some(slot)
        });
        match over {
            Some(slot) => Ok(slot),
            None => self.acquire(place, pinned, |slot| slot >= 2 || !apart, prefers_work),
        }
    }
}
