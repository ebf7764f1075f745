// SPDX-License-Identifier: Apache-2.0
//! The share of the data port that a core gets when all cores run a part of a program.

use std::collections::{HashMap, HashSet};

use isa::{Instruction, Op, TWIDDLE_SLOT};

use crate::stream::allocate::Submission;
use crate::stream::select::{Tile, TileId, Tiles};

/// How many turns of the port a core's transfer takes: all cores have one like it at about the same time, but a LOAD of
/// something that they share, a key or a table, serves all of them in one turn.
#[derive(Clone, Debug)]
pub struct PortShare {
    /// Cores that run a part.
    cores: u64,
    /// Tiles that other cores load too.
    shared: HashSet<TileId>,
    /// Buffers that hold one of those.
    buffers: HashSet<u32>,
}

impl PortShare {
    /// The share of each part.
    pub fn new(parts: &[&Tiles]) -> Vec<Self> {
        let mut counts: HashMap<&Tile, usize> = HashMap::new();
        for &tiles in parts {
            for (_, tile) in tiles.given() {
                *counts.entry(tile).or_default() += 1;
            }
        }
        let of_one = |tiles: &&Tiles| Self {
            cores: parts.len() as u64,
            shared: (tiles.given())
                .filter(|(_, tile)| counts[tile] > 1)
                .map(|(id, _)| id)
                .collect(),
            buffers: HashSet::new(),
        };
        parts.iter().map(of_one).collect()
    }

    /// Takes note of what the buffers hold in the next submission.
    pub fn submit(&mut self, submission: &Submission) {
        for i in submission.program.iter().filter(|i| i.op == Op::Store) {
            self.buffers.remove(&i.buf_idx);
        }
        for (buffer, tile) in &submission.uploads {
            if self.shared.contains(tile) {
                self.buffers.insert(*buffer);
            } else {
                self.buffers.remove(buffer);
            }
        }
    }

    /// PortShare until a transfer of the submission is over.
    pub fn turns(&self, i: &Instruction) -> u64 {
        let is_shared = i.dst == TWIDDLE_SLOT || self.buffers.contains(&i.buf_idx);
        if i.op == Op::Load && is_shared {
            1
        } else {
            self.cores
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(limb: u32) -> Tile {
        Tile {
            section: 0,
            limbs: vec![Some(polynomial::Limb(limb))],
            carried: false,
        }
    }

    fn part(limbs: &[u32]) -> Tiles {
        let mut tiles = Tiles::default();
        for &limb in limbs {
            tiles.add(tile(limb), false);
        }
        tiles
    }

    #[test]
    fn a_load_that_cores_share_takes_one_turn() {
        // Tile 0 of the first part, 1 of the second one is the key.
        let (first, second, third) = (part(&[7, 1]), part(&[2, 7]), part(&[3]));
        let mut ports = PortShare::new(&[&first, &second, &third]);
        let mut load = Instruction::new(Op::Load);
        (load.dst, load.buf_idx) = (2, 4);
        let mut store = Instruction::new(Op::Store);
        (store.src_a, store.buf_idx) = (2, 9);
        for (at, key) in [(0, 0), (1, 1)] {
            for (tile, expected) in [(key, 1), (1 - key, 3)] {
                ports[at].submit(&Submission {
                    uploads: vec![(load.buf_idx, tile)],
                    ..Submission::default()
                });
                assert_eq!(ports[at].turns(&load), expected);
                assert_eq!(ports[at].turns(&store), 3);
            }
        }
    }
}
