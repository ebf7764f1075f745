// SPDX-License-Identifier: Apache-2.0
//! One instruction for each section of each operation, in the order of execution.

use std::collections::HashMap;

use isa::{BuildInfo, Op, Reduction};
use polynomial::{Graph, Limb, Operation};
use zq::Word;

use super::place::{Placement, instruction};
use super::section::Layout;

/// What a slot can hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Its section.
    pub section: usize,
    /// A limb for each lane that matters.
    pub limbs: Vec<Option<Limb>>,
    /// Whether it carries the factor that the build's products lack.
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
    made: HashMap<(usize, Limb), TileId>,
    given: HashMap<Tile, TileId>,
    carried: HashMap<TileId, TileId>,
}

/// What making instructions needs to know.
pub struct Maker<'a, W: Word> {
    pub info: &'a BuildInfo,
    pub graph: &'a Graph<W>,
    pub layout: &'a Layout,
    pub placement: &'a Placement,
}

impl<W: Word> Maker<'_, W> {
    /// All instructions of a graph.
    pub fn make(&self) -> Tiles {
        let mut tiles = Tiles::default();
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        for (number, bundle) in self.graph.bundles().iter().enumerate() {
            if !self.placement.on_device[number] {
                continue;
            }
            let mut sets: Vec<usize> = bundle
                .moduli
                .iter()
                .map(|m| self.layout.place(*m).0)
                .collect();
            sets.sort_unstable();
            sets.dedup();
            let sections = sets.iter().flat_map(|set| {
                (0..self.layout.halves).map(move |half| set * self.layout.halves + half)
            });
            order.extend(sections.map(|section| (self.placement.stages[number], section, number)));
        }
        // A section at a time: its tables are loaded once, its digits stay while keys pass by. Every other stage goes backwards
        // through the sections: the table at the turn is there already.
        let turned = |stage: u32, section: usize| match stage % 2 {
            0 => section,
            _ => self.layout.sections.len() - section,
        };
        order.sort_unstable_by_key(|&(stage, section, number)| {
            (stage, turned(stage, section), number)
        });
        for (stage, section, number) in order {
            self.one(&mut tiles, stage, section, number);
        }
        self.mark_wanted(&mut tiles);
        tiles
    }

    /// One operation in one section.
    fn one(&self, tiles: &mut Tiles, stage: u32, section: usize, number: usize) {
        let bundle = &self.graph.bundles()[number];
        let Some(op) = instruction(&bundle.operation) else {
            return;
        };
        let rows = self.rows(section, &bundle.moduli);
        let of = |operand: usize| -> Vec<Option<Limb>> {
            rows.iter()
                .map(|row| row.map(|row| bundle.operands[operand][row]))
                .collect()
        };
        let mut sources = [None; 3];
        for (operand, source) in (0..bundle.operands.len()).zip(&mut sources) {
            *source = Some(self.operand(tiles, section, of(operand)));
        }
        let mut constants = None;
        match &bundle.operation {
            Operation::Neg => sources = [None, sources[0], None],
            Operation::Mul | Operation::MulAdd if self.info.reduction == Reduction::Montgomery => {
                self.carry(tiles, stage, section, &mut sources);
            }
            Operation::Scale(factors) => {
                let factor = |row: &Option<usize>| row.map_or(0, |row| factors[row]);
                constants = Some(rows.iter().map(factor).collect());
            }
            _ => {}
        }
        let limb = |row: &Option<usize>| row.map(|row| Limb(bundle.first.0 + row as u32));
        let limbs: Vec<Option<Limb>> = rows.iter().map(limb).collect();
        let dst = tiles.add(
            Tile {
                section,
                limbs: limbs.clone(),
                carried: false,
            },
            true,
        );
        for limb in limbs.iter().flatten() {
            tiles.made.insert((section, *limb), dst);
        }
        tiles.ops.push(TileOp {
            op,
            section,
            stage,
            dst,
            sources,
            constants,
        });
    }

    /// For each lane the row of an operation's result that it works on.
    fn rows(&self, section: usize, moduli: &[u16]) -> Vec<Option<usize>> {
        let mut rows = vec![None; self.info.lanes as usize];
        for (row, modulus) in moduli.iter().enumerate() {
            let (set, lane) = self.layout.place(*modulus);
            if set == section / self.layout.halves {
                rows[lane] = Some(row);
            }
        }
        rows
    }

    /// The tile that holds these limbs: one that the device made, or one that the host gives.
    fn operand(&self, tiles: &mut Tiles, section: usize, limbs: Vec<Option<Limb>>) -> TileId {
        let mut present = limbs.iter().flatten();
        if let Some(first) = present.next()
            && let Some(&made) = tiles.made.get(&(section, *first))
            && present.all(|limb| tiles.made.get(&(section, *limb)) == Some(&made))
        {
            return made;
        }
        tiles.give(Tile {
            section,
            limbs,
            carried: false,
        })
    }

    /// On Montgomery builds one factor of a product must carry R: one that the host gives, else one is multiplied by it first.
    fn carry(
        &self,
        tiles: &mut Tiles,
        stage: u32,
        section: usize,
        sources: &mut [Option<TileId>; 3],
    ) {
        let given = (0..2)
            .rev()
            .find(|&k| sources[k].is_some_and(|tile| !tiles.is_made[tile as usize]));
        let chosen = given.unwrap_or(1);
        let Some(tile) = sources[chosen] else { return };
        let carried = match tiles.carried.get(&tile) {
            Some(&carried) => carried,
            None => {
                let with = Tile {
                    carried: true,
                    ..tiles.tiles[tile as usize].clone()
                };
                let carried = match given {
                    Some(_) => tiles.give(with),
                    None => self.carried_here(tiles, (stage, section), tile, with),
                };
                tiles.carried.insert(tile, carried);
                carried
            }
        };
        sources[chosen] = Some(carried);
    }

    fn carried_here(
        &self,
        tiles: &mut Tiles,
        (stage, section): (u32, usize),
        tile: TileId,
        with: Tile,
    ) -> TileId {
        let dst = tiles.add(with, true);
        let moduli = &self.layout.sections[section].moduli;
        let factor = |q: &u128| {
            zq::Modulus::new(*q).map_or(1, |modulus| model::Lane::new(self.info, modulus).factor())
        };
        tiles.ops.push(TileOp {
            op: Op::Cmodmul,
            section,
            stage,
            dst,
            sources: [Some(tile), None, None],
            constants: Some(moduli.iter().map(factor).collect()),
        });
        dst
    }

    /// The host wants outputs, operands of its own operations, and limbs of tiles it puts together.
    fn mark_wanted(&self, tiles: &mut Tiles) {
        tiles.is_wanted = vec![false; tiles.tiles.len()];
        let mut wanted: Vec<Limb> = self.graph.outputs().to_vec();
        for (number, bundle) in self.graph.bundles().iter().enumerate() {
            if !self.placement.on_device[number] {
                wanted.extend(bundle.operands.iter().flatten());
            }
        }
        let given = tiles
            .tiles
            .iter()
            .zip(&tiles.is_made)
            .filter(|(_, made)| !**made);
        wanted.extend(given.flat_map(|(tile, _)| tile.limbs.iter().flatten()));
        for limb in wanted {
            for half in 0..self.layout.halves {
                let set = self.layout.place(self.graph.modulus_of(limb)).0;
                if let Some(&tile) = tiles.made.get(&(set * self.layout.halves + half, limb)) {
                    tiles.is_wanted[tile as usize] = true;
                }
            }
        }
    }
}

impl Tiles {
    fn add(&mut self, tile: Tile, made: bool) -> TileId {
        self.tiles.push(tile);
        self.is_made.push(made);
        self.tiles.len() as TileId - 1
    }

    fn give(&mut self, tile: Tile) -> TileId {
        if let Some(&known) = self.given.get(&tile) {
            return known;
        }
        let id = self.add(tile.clone(), false);
        self.given.insert(tile, id);
        id
    }
}
