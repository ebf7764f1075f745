// SPDX-License-Identifier: Apache-2.0
//! Tiles, the contents of slots, and instructions on them.

use std::collections::HashMap;

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

/// All instructions with their tiles.
#[derive(Clone, Debug, Default)]
pub struct Tiles {
    /// Tiles by number.
    pub tiles: Vec<Tile>,
    /// Whether the device makes the tile.
    pub is_made: Vec<bool>,
    /// Whether the host wants it when it is made.
    pub is_wanted: Vec<bool>,
    /// In order.
    pub ops: Vec<TileOp>,
    /// Tiles by the first limb they hold.
    pub made: HashMap<(usize, Limb), TileId>,
    pub given: HashMap<Tile, TileId>,
    pub carried: HashMap<TileId, TileId>,
    /// The instruction that makes a tile.
    pub makers: HashMap<TileId, usize>,
}

impl Tiles {
    pub fn add(&mut self, tile: Tile, made: bool) -> TileId {
        self.tiles.push(tile);
        self.is_made.push(made);
        self.tiles.len() as TileId - 1
    }

    /// A tile that the device makes; it is where to look for some of its limbs.
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

    /// Whether a tile has the original of a limb: a digit's tile has copies of earlier limbs.
    pub fn is_home(&self, tile: TileId, limb: Limb) -> bool {
        let section = self.tiles[tile as usize].section;
        self.made.get(&(section, limb)) == Some(&tile)
    }

    pub fn give(&mut self, tile: Tile) -> TileId {
        if let Some(&known) = self.given.get(&tile) {
            return known;
        }
        let id = self.add(tile.clone(), false);
        self.given.insert(tile, id);
        id
    }
}
