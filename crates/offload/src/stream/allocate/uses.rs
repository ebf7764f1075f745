// SPDX-License-Identifier: Apache-2.0
//! When tiles are used.

use crate::stream::select::{TileId, Tiles};

/// When tiles are used.
pub struct Uses {
    /// For each tile the places of its readers in the order of execution, rising.
    of: Vec<Vec<usize>>,
    /// The next transform from each place on.
    pub next_transform: Vec<usize>,
}

impl Uses {
    pub fn new(tiles: &Tiles) -> Self {
        let mut of = vec![Vec::new(); tiles.count()];
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
    pub fn after(&self, tile: TileId, place: usize) -> Option<usize> {
        let uses = &self.of[tile as usize];
        uses.get(uses.partition_point(|&at| at <= place)).copied()
    }

    pub fn last(&self, tile: TileId) -> Option<usize> {
        self.of[tile as usize].last().copied()
    }
}
