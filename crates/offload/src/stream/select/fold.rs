// SPDX-License-Identifier: Apache-2.0
//! Folding of products with constants into base conversions: their constants absorb any factor of operand or result,
//! and a factor commutes with a transform. Where a transform's operand comes from the host, so does its Montgomery
//! factor.

use isa::Op;

use super::tile::{Tile, TileId, TileOp, Tiles};
use crate::OffloadError;

/// Producer and consumers of a tile.
#[derive(Clone, Default)]
struct Uses {
    maker: Option<usize>,
    readers: Vec<usize>,
}

/// Those of each tile.
fn uses(tiles: &Tiles) -> Vec<Uses> {
    let mut uses = vec![Uses::default(); tiles.count()];
    for (at, op) in tiles.ops.iter().enumerate() {
        uses[op.dst as usize].maker = Some(at);
        for tile in op.sources.iter().flatten() {
            uses[*tile as usize].readers.push(at);
        }
    }
    uses
}

/// Folds each product with constants that is the only reader of a conversion's result, or of its transform, or whose
/// result has a conversion as its only reader.
///
/// # Errors
/// [`OffloadError::Shape`] for a lane's word that cannot be a modulus.
pub fn fold(tiles: &mut Tiles) -> Result<(), OffloadError> {
    let is_product = |op: &TileOp| op.op == Op::Cmodmul;
    if !tiles.ops.iter().any(is_product) {
        return Ok(());
    }
    let mut uses = uses(tiles);
    let mut kept = Vec::with_capacity(tiles.ops.len());
    for at in 0..tiles.ops.len() {
        kept.push(!fold_one(tiles, &mut uses, at)?);
    }
    let mut kept = kept.into_iter();
    tiles.ops.retain(|_| kept.next() == Some(true));
    Ok(())
}

/// Whether this instruction is such a product, and is now part of the conversion.
fn fold_one(tiles: &mut Tiles, uses: &mut Vec<Uses>, at: usize) -> Result<bool, OffloadError> {
    let op = &tiles.ops[at];
    let (Op::Cmodmul, Some(constants), Some(source)) = (op.op, op.constants.clone(), op.sources[0])
    else {
        return Ok(false);
    };
    if op.sources[2].is_some() {
        return Ok(false);
    }
    let dst = op.dst;
    if let Some(reader) = only_reader(tiles, uses, dst)
        && let Some(conversion) = &mut tiles.ops[reader].conversion
    {
        conversion.times_before(&constants)?;
        tiles.ops[reader].sources[0] = Some(source);
        replace(&mut uses[source as usize].readers, at, reader);
        return Ok(true);
    }
    if tiles[dst].tile.carried
        && let Some((transform, given)) = transform_of_given(tiles, uses, source)
    {
        carry(tiles, uses, (transform, given), dst);
        return Ok(true);
    }
    let Some((last, conversion)) = behind(tiles, uses, source) else {
        return Ok(false);
    };
    if let Some(spec) = &mut tiles.ops[conversion].conversion {
        spec.times_after(&constants)?;
    }
    tiles.ops[last].dst = dst;
    uses[dst as usize].maker = Some(last);
    Ok(true)
}

/// The transform that makes a tile with one reader, if nothing else reads its operand, which the host gives; and that
/// operand.
fn transform_of_given(tiles: &Tiles, uses: &[Uses], tile: TileId) -> Option<(usize, TileId)> {
    only_reader(tiles, uses, tile)?;
    let transform = uses[tile as usize].maker?;
    let made = &tiles.ops[transform];
    let given = made.sources[0].filter(|given| !tiles[*given].is_made)?;
    let is_alone = uses[given as usize].readers == [transform];
    (made.op == Op::Ntt && is_alone).then_some((transform, given))
}

/// Has the host give a transform's operand with the Montgomery factor, and the transform make `dst`.
fn carry(
    tiles: &mut Tiles,
    uses: &mut Vec<Uses>,
    (transform, given): (usize, TileId),
    dst: TileId,
) {
    let carried = tiles.give(Tile {
        carried: true,
        ..tiles[given].tile.clone()
    });
    uses.resize(tiles.count(), Uses::default());
    uses[given as usize].readers.clear();
    uses[carried as usize].readers.push(transform);
    uses[dst as usize].maker = Some(transform);
    let op = &mut tiles.ops[transform];
    (op.sources[0], op.dst) = (Some(carried), dst);
}

fn replace(readers: &mut [usize], from: usize, to: usize) {
    readers
        .iter_mut()
        .filter(|reader| **reader == from)
        .for_each(|reader| *reader = to);
}

/// The instruction that reads a tile, if only one does and not the host.
fn only_reader(tiles: &Tiles, uses: &[Uses], tile: TileId) -> Option<usize> {
    match uses[tile as usize].readers[..] {
        [reader] if !tiles[tile].is_wanted => Some(reader),
        _ => None,
    }
}

/// Producer of a tile with one reader: a conversion, or the transform of its result; and the conversion.
fn behind(tiles: &Tiles, uses: &[Uses], tile: TileId) -> Option<(usize, usize)> {
    only_reader(tiles, uses, tile)?;
    let last = uses[tile as usize].maker?;
    let made: &TileOp = &tiles.ops[last];
    match (made.op, made.sources[0]) {
        (Op::Lift, _) => Some((last, last)),
        (Op::Ntt, Some(source)) => {
            only_reader(tiles, uses, source)?;
            let conversion = uses[source as usize].maker?;
            (tiles.ops[conversion].op == Op::Lift).then_some((last, conversion))
        }
        _ => None,
    }
}
