// SPDX-License-Identifier: Apache-2.0
//! Which slot a tile gets.

use isa::Op;

use super::allocator::Allocator;
use crate::OffloadError;
use crate::stream::select::{TileId, TileOp};

impl Allocator<'_> {
    /// Whether a load into a work slot, which waits for the last transform, is hidden by a pointwise operation in
    /// between. Builds with a third unit have other slots, loaded in parallel with the transform.
    pub fn is_hidden_beside_work(&self, place: usize) -> bool {
        let mut before = self.tiles.ops[..place].iter().rev();
        let last = before.find(|op| !op.is_aside());
        let alone = self.info.rns.is_none() && self.info.moves == 0;
        alone || last.is_none_or(|op| !op.op.is_transform())
    }

    /// Whether the last use of a tile from a place on is no later than `transform`, the place of the next one.
    pub fn is_for_work_slots(&self, tile: TileId, place: usize, transform: usize) -> bool {
        self.uses
            .last(tile)
            .is_none_or(|last| last <= transform || last < place)
    }

    /// A free slot among those allowed; if there is none, evicts the tile with the farthest next use.
    pub fn acquire(
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
            let tile = self.slots[usize::from(*slot)].tile?;
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
            .filter(|&slot| self.slots[usize::from(slot)].tile.is_none() && allowed(slot));
        free.min_by_key(|&slot| {
            (
                (slot < 2) != prefers_work,
                self.slots[usize::from(slot)].freed,
            )
        })
    }

    fn evict(&mut self, slot: u8) {
        if let Some(tile) = self.slots[usize::from(slot)].tile {
            self.store(tile);
            self.leave(tile);
        }
    }

    /// Makes room for a transform in slots 0 and 1. Its source, the first of those pinned,
    /// may stay there for the last time.
    pub fn clear_work_slots(
        &mut self,
        place: usize,
        pinned: &[TileId],
    ) -> Result<(), OffloadError> {
        for work in 0..2 {
            let Some(tile) = self.slots[work].tile else {
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

    /// Slot of a transform's result: that of its source if this is its last use.
    pub fn transformed(&mut self, place: usize, pinned: &[TileId]) -> Result<u8, OffloadError> {
        let own = self.home(pinned[0]).slot.filter(|&slot| slot >= 2);
        match own {
            Some(slot) if self.uses.after(pinned[0], place).is_none() => Ok(slot),
            _ => self.acquire(place, pinned, |slot| slot >= 2, false),
        }
    }

    /// Slot of a conversion's result: no work slot, since transforms run in parallel.
    pub fn converted(
        &mut self,
        place: usize,
        op: &TileOp,
        pinned: &[TileId],
    ) -> Result<u8, OffloadError> {
        let over = self
            .home(pinned[0])
            .slot
            .filter(|&slot| slot >= 2 && self.info.is_dual_port(slot) && op.op != Op::Auto)
            .filter(|_| self.uses.after(pinned[0], place).is_none());
        match over {
            Some(slot) => Ok(slot),
            None => self.acquire(place, pinned, |slot| slot >= 2, false),
        }
    }

    /// Slot of a pointwise result: that of an operand at its last use if it is dual-port, else another slot.
    pub fn pointwise(
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
            let slot = self.home(tile).slot?;
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
