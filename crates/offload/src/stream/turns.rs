// SPDX-License-Identifier: Apache-2.0
//! Turns at the data port that a transfer of a core takes, when all cores run a part of a program.

use std::collections::{HashMap, HashSet};

use isa::{Instruction, Op, TWIDDLE_SLOT};

use super::allocate::Submission;
use super::tile::{Tile, TileId, Tiles};

/// How long a transfer lasts beside those of the other cores: they all have one like it at about the same time. A LOAD
/// of what they have in common, a key or a table, goes to all of them in one turn.
#[derive(Clone, Debug)]
pub struct Turns {
    /// Cores that run a part.
    cores: u64,
    /// Tiles that others load too.
    common: HashSet<TileId>,
    /// Buffers that hold one of those.
    buffers: HashSet<u32>,
}

impl Turns {
    /// Of each of several parts.
    pub fn new(parts: &[&Tiles]) -> Vec<Self> {
        let given = |tiles: &Tiles| -> Vec<TileId> {
            let all = 0..tiles.tiles.len() as TileId;
            all.filter(|&tile| !tiles.is_made[tile as usize]).collect()
        };
        let mut counts: HashMap<&Tile, usize> = HashMap::new();
        for &tiles in parts {
            for tile in given(tiles) {
                *counts.entry(&tiles.tiles[tile as usize]).or_default() += 1;
            }
        }
        let of_one = |tiles: &&Tiles| Self {
            cores: parts.len() as u64,
            common: (given(tiles).into_iter())
                .filter(|&tile| counts[&tiles.tiles[tile as usize]] > 1)
                .collect(),
            buffers: HashSet::new(),
        };
        parts.iter().map(of_one).collect()
    }

    /// Knows what the buffers hold in the next submission.
    pub fn submit(&mut self, submission: &Submission) {
        for i in submission.program.iter().filter(|i| i.op == Op::Store) {
            self.buffers.remove(&i.buf_idx);
        }
        for (buffer, tile) in &submission.uploads {
            if self.common.contains(tile) {
                self.buffers.insert(*buffer);
            } else {
                self.buffers.remove(buffer);
            }
        }
    }

    /// Turns until a transfer of the submission is over.
    pub fn of(&self, i: &Instruction) -> u64 {
        let is_common = i.dst == TWIDDLE_SLOT || self.buffers.contains(&i.buf_idx);
        if i.op == Op::Load && is_common {
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
        Tiles {
            tiles: limbs.iter().map(|&limb| tile(limb)).collect(),
            is_made: vec![false; limbs.len()],
            ..Tiles::default()
        }
    }

    #[test]
    fn what_others_load_too_takes_one_turn() {
        // Tile 0 of the first part, 1 of the second one is the key.
        let (first, second, third) = (part(&[7, 1]), part(&[2, 7]), part(&[3]));
        let mut turns = Turns::new(&[&first, &second, &third]);
        let mut load = Instruction::new(Op::Load);
        (load.dst, load.buf_idx) = (2, 4);
        let mut store = Instruction::new(Op::Store);
        (store.src_a, store.buf_idx) = (2, 9);
        for (at, key) in [(0, 0), (1, 1)] {
            for (tile, expected) in [(key, 1), (1 - key, 3)] {
                turns[at].submit(&Submission {
                    uploads: vec![(load.buf_idx, tile)],
                    ..Submission::default()
                });
                assert_eq!(turns[at].of(&load), expected);
                assert_eq!(turns[at].of(&store), 3);
            }
        }
    }
}
