// SPDX-License-Identifier: Apache-2.0
//! Tiles, the contents of slots, and instructions on them.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};

use isa::Op;
use polynomial::Limb;

use super::conversion::{Move, Spec};

/// The content of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Its section.
    pub section: usize,
    /// A limb for each lane that matters.
    pub limbs: Vec<Option<Limb>>,
    /// Whether it carries the Montgomery factor, which products remove.
    pub carried: bool,
}

/// The number of a tile.
pub type TileId = u32;

/// An instruction on tiles.
#[derive(Clone, Debug)]
pub struct TileOp {
    /// The instruction.
    pub op: Op,
    /// Its section.
    pub section: usize,
    /// The stage it runs in.
    pub stage: u32,
    /// The result.
    pub dst: TileId,
    /// a, b, c; `None` reads the zero slot.
    pub sources: [Option<TileId>; 3],
    /// The constants of CMODMUL, one for each lane.
    pub constants: Option<Vec<u128>>,
    /// The conversion of LIFT.
    pub conversion: Option<Spec>,
    /// The move of AUTO or DECOMP.
    pub moved: Option<Move>,
}

impl TileOp {
    /// Whether it runs in the third unit.
    pub fn is_aside(&self) -> bool {
        self.conversion.is_some() || self.moved.is_some()
    }
}

/// A tile of a program.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its content.
    pub tile: Tile,
    /// The device makes it; else the host gives it.
    pub is_made: bool,
    /// The host reads it once it is made.
    pub is_wanted: bool,
}

/// All instructions with their tiles, which an index gives by number.
#[derive(Clone, Debug, Default)]
pub struct Tiles {
    /// Instructions in order.
    pub ops: Vec<TileOp>,
    entries: Vec<Entry>,
    /// The tile with the original of a limb in a section.
    pub made: HashMap<(usize, Limb), TileId>,
    by_content: HashMap<Tile, TileId>,
    pub carried: HashMap<TileId, TileId>,
    /// The instruction that makes a tile.
    pub makers: HashMap<TileId, usize>,
}

impl Tiles {
    /// Bytes of memory that they take, about: each tile stands in a list and, by its content, in an index.
    pub fn bytes(&self) -> usize {
        let limbs: usize = self.entries.iter().map(|one| one.tile.limbs.len()).sum();
        size_of_val(&self.ops[..])
            + 2 * self.entries.len() * size_of::<Entry>()
            + 2 * limbs * size_of::<Option<Limb>>()
    }

    pub fn add(&mut self, tile: Tile, is_made: bool) -> TileId {
        self.entries.push(Entry {
            tile,
            is_made,
            is_wanted: false,
        });
        self.entries.len() as TileId - 1
    }

    /// The number of tiles.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Tiles that the host gives.
    pub fn given(&self) -> impl Iterator<Item = (TileId, &Tile)> {
        let entries = (0..).zip(&self.entries);
        entries
            .filter(|(_, entry)| !entry.is_made)
            .map(|(id, entry)| (id, &entry.tile))
    }

    /// A tile that the device makes; `own` are the limbs whose original it holds.
    pub fn make<'l>(
        &mut self,
        section: usize,
        limbs: Vec<Option<Limb>>,
        own: impl Iterator<Item = &'l Limb>,
    ) -> TileId {
        let dst = self.add(
            Tile {
                section,
                limbs,
                carried: false,
            },
            true,
        );
        self.made.extend(own.map(|limb| ((section, *limb), dst)));
        dst
    }

    pub fn push(&mut self, op: TileOp) {
        self.makers.insert(op.dst, self.ops.len());
        self.ops.push(op);
    }

    pub fn maker(&self, tile: TileId) -> Option<&TileOp> {
        self.makers.get(&tile).map(|&op| &self.ops[op])
    }

    /// Whether a tile has the original of a limb: the tile of a digit has copies of earlier limbs.
    pub fn is_home(&self, tile: TileId, limb: Limb) -> bool {
        let section = self[tile].tile.section;
        self.made.get(&(section, limb)) == Some(&tile)
    }

    pub fn give(&mut self, tile: Tile) -> TileId {
        if let Some(&known) = self.by_content.get(&tile) {
            return known;
        }
        let id = self.add(tile.clone(), false);
        self.by_content.insert(tile, id);
        id
    }
}

impl Index<TileId> for Tiles {
    type Output = Entry;

    fn index(&self, id: TileId) -> &Entry {
        &self.entries[id as usize]
    }
}

impl IndexMut<TileId> for Tiles {
    fn index_mut(&mut self, id: TileId) -> &mut Entry {
        &mut self.entries[id as usize]
    }
}
