// SPDX-License-Identifier: Apache-2.0
//! One instruction for each section of each operation, in the order of execution.

use isa::{BuildInfo, Op, Reduction};
use polynomial::{Bundle, Graph, Limb, PolyOp};
use zq::Word;

use super::conversion::{Move, Spec};
use super::fold::fold;
use super::placed::{Moving, SectionOp};
use super::placement::Placement;
use super::tile::{Tile, TileId, TileOp, Tiles};
use crate::OffloadError;
use crate::stream::legality::{instruction, is_conversion, is_target, suits};
use crate::stream::partition::Layout;

/// Inputs of instruction selection.
pub struct Selector<'a, W: Word> {
    pub info: &'a BuildInfo,
    pub graph: &'a Graph<W>,
    pub layout: &'a Layout,
    pub placement: &'a Placement,
}

impl<W: Word> Selector<'_, W> {
    /// The instructions of operations in this order.
    ///
    /// # Errors
    /// [`OffloadError::Shape`] for a lane's word that cannot be a modulus.
    pub fn select(&self, order: Vec<SectionOp>) -> Result<Tiles, OffloadError> {
        let mut tiles = Tiles::default();
        for item in order {
            let bundle = &self.graph.bundles()[item.number];
            if is_conversion(&bundle.operation) {
                match self.placement.operations[item.number].moving {
                    Some(moving) => self.move_lanes(&mut tiles, item, bundle, moving),
                    None => self.convert(&mut tiles, item, bundle),
                }
            } else {
                self.one(&mut tiles, item, bundle);
            }
        }
        self.mark_wanted(&mut tiles);
        fold(&mut tiles)?;
        Ok(tiles)
    }

    /// One operation in one section.
    fn one(&self, tiles: &mut Tiles, item: SectionOp, bundle: &Bundle) {
        let Some(mut op) = instruction(&bundle.operation) else {
            return;
        };
        let section = item.section;
        let rows = self.rows(section, &bundle.moduli);
        let of = |limbs: &[Limb]| -> Vec<Option<Limb>> {
            rows.iter().map(|row| row.map(|row| limbs[row])).collect()
        };
        let mut sources = [None; 3];
        let sum = self.placement.addends.of(item.number);
        for (k, operand) in bundle.operands.iter().enumerate() {
            // The transform that makes a sum leaves nothing else.
            if sum.is_none_or(|(_, other)| k == other) {
                sources[k] = Some(self.operand(tiles, section, of(operand)));
            }
        }
        let (mut constants, mut moved) = (None, None);
        match &bundle.operation {
            PolyOp::Neg => sources = [None, sources[0], None],
            PolyOp::Add => {
                if let Some((transform, other)) = sum {
                    let values = &self.graph.bundles()[transform].operands[0];
                    let values = self.operand(tiles, section, of(values));
                    (op, sources) = (Op::Intt, [Some(values), None, sources[other]]);
                }
            }
            PolyOp::Mul | PolyOp::MulAdd if self.info.reduction == Reduction::Montgomery => {
                self.carry(tiles, item, &mut sources);
            }
            PolyOp::Scale(factors) | PolyOp::ScaleAdd(factors) => {
                let factor = |row: &Option<usize>| row.map_or(0, |row| factors[row]);
                constants = Some(rows.iter().map(factor).collect());
                sources = [sources[0], None, sources[1]];
            }
            PolyOp::Permute { element, .. } => moved = Some(Move::Automorphism(*element as u16)),
            _ => {}
        }
        let limbs: Vec<Option<Limb>> = self.results(bundle, &rows);
        let dst = tiles.make(section, limbs.clone(), limbs.iter().flatten());
        tiles.push(TileOp {
            op,
            section,
            stage: item.stage,
            dst,
            sources,
            constants,
            conversion: None,
            moved,
        });
    }

    /// A conversion of single primes to one section, by moves from lane to lane. A lane that no operation
    /// reads gets a reduced value, unless the result is not reduced anyway.
    fn move_lanes(&self, tiles: &mut Tiles, item: SectionOp, bundle: &Bundle, moving: Moving) {
        let section = item.section;
        let moduli = &self.layout.sections[section].moduli;
        let rows = self.rows(section, &bundle.moduli);
        let input = |limb: Limb| {
            let (_, lane) = self.layout.home(self.graph, limb);
            (lane, limb, self.value(self.graph.modulus_of(limb)))
        };
        let set = section / self.layout.halves;
        let inputs: Vec<Option<(usize, Limb, u128)>> = (bundle.groups())
            .map(|(operand, rows)| {
                is_target(bundle, self.layout, set, rows).then(|| input(operand[0]))
            })
            .collect();
        let each = bundle.moduli.len() / inputs.len();
        let used: Vec<_> = inputs.iter().flatten().copied().collect();
        let operands: Vec<Limb> = used.iter().map(|input| input.1).collect();
        let (source, _) = self.layout.place(self.graph.modulus_of(operands[0]));
        let from = &self.layout.sections[source].moduli;
        let share = |(row, &p): (&Option<usize>, &u128)| {
            let filler = || used.iter().find(|(_, _, q)| suits(*q, p)).copied();
            let input = row.map_or_else(filler, |row| inputs[row / each]);
            if let Some((lane, limb, q)) = input {
                return ((lane as u8, q, p), Some(limb));
            }
            let lane = from.iter().position(|q| suits(*q, p)).unwrap_or(used[0].0);
            ((lane as u8, from[lane], p), None)
        };
        let shares: Vec<_> = rows.iter().zip(moduli).map(share).collect();
        let own = self.results(bundle, &rows);
        let mut limbs = own.clone();
        for (limb, ((_, q, p), from)) in limbs.iter_mut().zip(&shares) {
            // A residue modulo its own prime stays as it is; an unreduced tile must have no other reader.
            if source == section && q == p && moving == Moving::Reduced {
                *limb = limb.or(*from);
            }
        }
        let from = self.operand(tiles, source, self.whole(source, &operands));
        let dst = tiles.make(section, limbs, own.iter().flatten());
        tiles.push(TileOp {
            op: Op::Decomp,
            section,
            stage: item.stage,
            dst,
            sources: [Some(from), None, None],
            constants: None,
            conversion: None,
            moved: Some(Move::Digit(
                shares.into_iter().map(|(share, _)| share).collect(),
            )),
        });
    }

    fn value(&self, modulus: u16) -> u128 {
        let plan = &self.graph.plans()[usize::from(modulus)];
        plan.modulus().value().to_u128()
    }

    /// A base conversion to one section.
    fn convert(&self, tiles: &mut Tiles, item: SectionOp, bundle: &Bundle) {
        let section = item.section;
        let prime = |limb: Limb| self.value(self.graph.modulus_of(limb));
        let operand = &bundle.operands[0];
        let (source, first) = self.layout.place(self.graph.modulus_of(operand[0]));
        let own = self.results(bundle, &self.rows(section, &bundle.moduli));
        let mut limbs = own.clone();
        let mut numerator = None;
        match bundle.operation {
            PolyOp::Round { numerator: t } => numerator = Some(t),
            // The representative's residues modulo the input primes are the input.
            _ if source == section => {
                for (&limb, lane) in operand.iter().zip(first..) {
                    limbs[lane].get_or_insert(limb);
                }
            }
            _ => {}
        }
        let lanes = limbs
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |last| last + 1);
        // Lanes in between, which no operation reads, need a prime that the unit takes.
        let filler = self.value(bundle.moduli[0]);
        let spec = Spec {
            first: first as u8,
            inputs: operand.iter().map(|&limb| prime(limb)).collect(),
            outputs: limbs[..lanes]
                .iter()
                .map(|limb| limb.map_or(filler, prime))
                .collect(),
            numerator,
            before: vec![1; operand.len()],
            after: vec![1; lanes],
        };
        let from = self.operand(tiles, source, self.whole(source, operand));
        let dst = tiles.make(section, limbs, own.iter().flatten());
        tiles.push(TileOp {
            op: Op::Lift,
            section,
            stage: item.stage,
            dst,
            sources: [Some(from), None, None],
            constants: None,
            conversion: Some(spec),
            moved: None,
        });
    }

    /// The limbs of a section that limbs were made with, so that conversions of each of them read one tile.
    fn whole(&self, section: usize, operand: &[Limb]) -> Vec<Option<Limb>> {
        let mut limbs = vec![None; self.info.lanes as usize];
        let bundle = self.graph.bundle_of(operand[0]);
        let mut put = |limb: Limb| {
            let (set, lane) = self.layout.home(self.graph, limb);
            if set == section {
                limbs[lane] = Some(limb);
            }
        };
        if operand
            .iter()
            .all(|limb| bundle.limbs().any(|own| own == *limb))
        {
            bundle.limbs().for_each(&mut put);
        } else {
            operand.iter().copied().for_each(&mut put);
        }
        limbs
    }

    fn results(&self, bundle: &Bundle, rows: &[Option<usize>]) -> Vec<Option<Limb>> {
        let limb = |row: &Option<usize>| row.map(|row| Limb(bundle.first.0 + row as u32));
        rows.iter().map(limb).collect()
    }

    /// For each lane the row of an operation's result that it works on.
    fn rows(&self, section: usize, moduli: &[u16]) -> Vec<Option<usize>> {
        let set = section / self.layout.halves;
        self.layout.rows(set, moduli, self.info.lanes as usize)
    }

    /// The tile that holds these limbs: one that the device made, or one that the host gives.
    fn operand(&self, tiles: &mut Tiles, section: usize, limbs: Vec<Option<Limb>>) -> TileId {
        let present = limbs.iter().flatten();
        let made = present.filter_map(|limb| tiles.made.get(&(section, *limb)).copied());
        let holds = |tile: &TileId| {
            let held = &tiles[*tile].tile.limbs;
            limbs
                .iter()
                .zip(held)
                .all(|(limb, held)| limb.is_none() || limb == held)
        };
        if let Some(made) = made.into_iter().find(holds) {
            return made;
        }
        tiles.give(Tile {
            section,
            limbs,
            carried: false,
        })
    }

    /// On Montgomery builds one factor of a product must carry R:
    /// one that the host gives, else one is multiplied by it first.
    fn carry(&self, tiles: &mut Tiles, item: SectionOp, sources: &mut [Option<TileId>; 3]) {
        let one_that =
            |is: &dyn Fn(TileId) -> bool| (0..2).rev().find(|&k| sources[k].is_some_and(is));
        let given = one_that(&|tile| !tiles[tile].is_made);
        let converted = || one_that(&|tile| self.is_from_conversion(tiles, tile));
        let chosen = given.or_else(converted).unwrap_or(1);
        let Some(tile) = sources[chosen] else { return };
        let carried = match tiles.carried.get(&tile) {
            Some(&carried) => carried,
            None => {
                let with = Tile {
                    carried: true,
                    ..tiles[tile].tile.clone()
                };
                let carried = match given {
                    Some(_) => tiles.give(with),
                    None => self.carried_here(tiles, item, tile, with),
                };
                tiles.carried.insert(tile, carried);
                carried
            }
        };
        sources[chosen] = Some(carried);
    }

    fn carried_here(&self, tiles: &mut Tiles, item: SectionOp, tile: TileId, with: Tile) -> TileId {
        let dst = tiles.add(with, true);
        let (section, stage) = (item.section, item.stage);
        let moduli = &self.layout.sections[section].moduli;
        let factor = |q: &u128| {
            zq::Modulus::new(*q).map_or(1, |modulus| model::Lane::new(self.info, modulus).factor())
        };
        tiles.push(TileOp {
            op: Op::Cmodmul,
            section,
            stage,
            dst,
            sources: [Some(tile), None, None],
            constants: Some(moduli.iter().map(factor).collect()),
            conversion: None,
            moved: None,
        });
        dst
    }

    /// Whether a tile has the values of a conversion's results, with no other use: its constants can absorb a factor.
    fn is_from_conversion(&self, tiles: &Tiles, tile: TileId) -> bool {
        let mut at = tile;
        while let Some(op) = tiles.maker(at) {
            match (op.op, op.sources[0]) {
                (Op::Lift, _) => return self.has_one_user(tiles, at),
                (Op::Ntt, Some(source)) if at == tile => at = source,
                (Op::Cmodmul, Some(source)) if self.has_one_user(tiles, at) => at = source,
                _ => break,
            }
        }
        false
    }

    fn has_one_user(&self, tiles: &Tiles, tile: TileId) -> bool {
        let limbs = tiles[tile].tile.limbs.iter().flatten();
        let own = limbs.copied().find(|&limb| tiles.is_home(tile, limb));
        own.is_some_and(|limb| {
            self.placement.operations[self.graph.home(limb)]
                .uses
                .users
                .len()
                == 1
        })
    }

    /// The host wants outputs, operands of its own operations, and limbs of tiles it puts together.
    fn mark_wanted(&self, tiles: &mut Tiles) {
        let mut wanted: Vec<Limb> = self.graph.outputs().to_vec();
        for (placed, bundle) in self.placement.operations.iter().zip(self.graph.bundles()) {
            if placed.is_on_host() {
                wanted.extend(bundle.operands.iter().flatten());
            }
        }
        wanted.extend(
            tiles
                .given()
                .flat_map(|(_, tile)| tile.limbs.iter().flatten()),
        );
        for limb in wanted {
            for half in 0..self.layout.halves {
                let set = self.layout.place(self.graph.modulus_of(limb)).0;
                if let Some(&tile) = tiles.made.get(&(set * self.layout.halves + half, limb)) {
                    tiles[tile].is_wanted = true;
                }
            }
        }
    }
}
