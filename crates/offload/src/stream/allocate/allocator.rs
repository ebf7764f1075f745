// SPDX-License-Identifier: Apache-2.0
//! Allocation of slots to tiles, and the resulting submissions.
//!
//! A tile stays in its slot until its last use. When a slot is needed, the tile with the farthest next use is evicted
//! (Belady's rule); one that the host has a copy of is not stored. Work slots 0 and 1 hold only what is used before the
//! next transform.

use isa::{BuildInfo, Instruction, Op, PROGRAM_WORDS, STREAM_SLOT, TWIDDLE_SLOT, ZERO_SLOT};

use super::plan::{Plan, Submission, TABLES};
use super::tables::Held;
use super::uses::Uses;
use crate::OffloadError;
use crate::stream::partition::Layout;
use crate::stream::select::{Move, Spec, TileId, TileOp, Tiles};

/// Instructions that one operation can bring with it: loads, stores, copies.
const MARGIN: usize = 16;
/// Bytes of tiles that one submission brings in at most, as the host holds them.
const MOST_BYTES: usize = 1 << 27;

/// Which tiles get slots.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Factors that are used once are streamed and take no slot: the build must have streamed operands.
    pub streams: bool,
    /// A tile that the host has is dropped if none of the next `keep` operations uses it: that costs another LOAD and
    /// frees its slot in between.
    pub keep: usize,
    /// Operands are loaded before the work, so into slots that no earlier instruction writes.
    pub resident: bool,
}

/// Where a tile is.
#[derive(Clone, Copy, Default)]
pub struct Home {
    pub slot: Option<u8>,
    /// The host's buffer that has a copy.
    pub buffer: Option<u32>,
}

/// A polynomial slot.
#[derive(Clone, Copy, Default)]
pub struct Slot {
    pub tile: Option<TileId>,
    /// Instructions of the open submission before it was last freed.
    pub freed: usize,
}

/// Allocates slots in the order of operations.
pub struct Allocator<'a> {
    pub info: &'a BuildInfo,
    pub rules: Rules,
    pub layout: &'a Layout,
    pub tiles: &'a Tiles,
    pub uses: Uses,
    pub slots: Vec<Slot>,
    /// By tile.
    pub homes: Vec<Home>,
    pub held: Held,
    pub plan: Plan,
    pub open: Submission,
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
        slots: vec![Slot::default(); info.slots() as usize],
        homes: vec![Home::default(); tiles.count()],
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
            self.slots.iter_mut().for_each(|slot| slot.freed = 0);
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
            if self.home(tile).slot.is_none() && streamed != Some(tile) {
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
        let [src_a, src_b, src_c] = self.sources(op, streamed);
        self.open.program.push(Instruction {
            dst,
            src_a,
            src_b,
            src_c,
            mod_idx,
            const_idx: const_idx.unwrap_or(0),
            ..self.instruction(op.op)
        });
        self.release(place, &pinned);
        self.finish(place, op.dst, dst);
        Ok(())
    }

    /// The slots that an operation reads; the LOAD of a streamed operand comes just before.
    fn sources(&mut self, op: &TileOp, streamed: Option<TileId>) -> [u8; 3] {
        let slot = |source: Option<TileId>| match source {
            Some(tile) => self.home(tile).slot.unwrap_or(ZERO_SLOT),
            None => ZERO_SLOT,
        };
        let [a, b, c] = op.sources.map(slot);
        let Some(tile) = streamed else {
            return [a, b, c];
        };
        let mut load = self.instruction(Op::Load);
        (load.dst, load.buf_idx) = (STREAM_SLOT, self.uploaded(tile));
        self.open.program.push(load);
        // Factors commute; the stream is the second one.
        let other = if op.sources[0] == Some(tile) { b } else { a };
        [other, STREAM_SLOT, c]
    }

    /// Frees the slots of operands that are not used again, or not soon.
    fn release(&mut self, place: usize, pinned: &[TileId]) {
        for &tile in pinned {
            match self.uses.after(tile, place) {
                None => self.forget(tile),
                Some(next) if next - place > self.rules.keep && self.is_with_host(tile) => {
                    self.leave(tile);
                }
                _ => {}
            }
        }
    }

    /// Puts a result in its slot, and stores it if the host wants it.
    fn finish(&mut self, place: usize, tile: TileId, slot: u8) {
        self.hold(tile, slot);
        if self.tiles[tile].is_wanted {
            self.store(tile);
            let buffer = self.home(tile).buffer.unwrap_or_default();
            self.open.downloads.push((buffer, tile));
        }
        if self.uses.after(tile, place).is_none() {
            self.forget(tile);
        }
    }

    pub fn home(&self, tile: TileId) -> Home {
        self.homes[tile as usize]
    }

    pub fn instruction(&self, op: Op) -> Instruction {
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

    pub fn hold(&mut self, tile: TileId, slot: u8) {
        self.slots[usize::from(slot)].tile = Some(tile);
        self.homes[tile as usize].slot = Some(slot);
    }

    pub fn is_with_host(&self, tile: TileId) -> bool {
        self.home(tile).buffer.is_some()
    }

    /// Takes a tile out of its slot.
    pub fn leave(&mut self, tile: TileId) {
        if let Some(slot) = self.homes[tile as usize].slot.take() {
            self.slots[usize::from(slot)] = Slot {
                tile: None,
                freed: self.open.program.len(),
            };
        }
    }

    /// Drops a tile that is not used any more.
    fn forget(&mut self, tile: TileId) {
        self.leave(tile);
        if let Some(buffer) = self.homes[tile as usize].buffer.take() {
            // Only a later submission may use the buffer again: the transfers of this one are not over.
            self.plan.freed.push(buffer);
        }
    }

    pub fn store(&mut self, tile: TileId) {
        if self.is_with_host(tile) {
            return;
        }
        let buffer = self.plan.buffer();
        let mut store = self.instruction(Op::Store);
        store.src_a = self.home(tile).slot.unwrap_or(ZERO_SLOT);
        store.buf_idx = buffer;
        self.open.program.push(store);
        self.homes[tile as usize].buffer = Some(buffer);
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
        if let Some(buffer) = self.home(tile).buffer {
            return buffer;
        }
        let buffer = self.plan.buffer();
        self.open.uploads.push((buffer, tile));
        self.homes[tile as usize].buffer = Some(buffer);
        buffer
    }

    /// The factor of a product that can be streamed: it has no slot and is not used again.
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
                && self.home(*tile).slot.is_none()
                && self.uses.after(*tile, place).is_none()
        };
        b.filter(suits).or(a.filter(suits))
    }
}
