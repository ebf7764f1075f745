// SPDX-License-Identifier: Apache-2.0
//! Result of allocation: submissions and their host buffers.

use isa::Instruction;

use crate::stream::partition::Table;
use crate::stream::select::{Move, Spec, TileId};

/// From this number on, a LOAD's buffer is a table's.
pub const TABLES: u32 = 1 << 19;

/// One submission and the host's part before and after it.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// Moduli to set before: index, one for each lane.
    pub moduli: Vec<(u8, Vec<u128>)>,
    /// Constants to set before: index, one for each lane, and the lanes' moduli.
    pub constants: Vec<(u8, Vec<u128>, Vec<u128>)>,
    /// Base conversions to set before, or to forget (`None`), by number.
    pub conversions: Vec<(u8, Option<Spec>)>,
    /// Automorphisms and digits to set before, by number.
    pub moves: Vec<(u8, Move)>,
    /// Tiles to put in buffers before.
    pub uploads: Vec<(u32, TileId)>,
    /// The instructions.
    pub program: Vec<Instruction>,
    /// Tiles to take from buffers afterwards.
    pub downloads: Vec<(u32, TileId)>,
    /// Operations that are done after it.
    pub end: usize,
}

/// The submissions of a program.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// In order.
    pub submissions: Vec<Submission>,
    /// Tables by number, each with a section that it is for.
    pub tables: Vec<(Table, usize)>,
    /// The tile of each LOAD.
    pub loads: Vec<TileId>,
    /// Buffers for tiles.
    pub buffers: u32,
    /// Buffers that can be used again.
    pub free: Vec<u32>,
    /// Buffers that can be used again after the present submission.
    pub freed: Vec<u32>,
}

impl Plan {
    pub fn buffer(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.buffers += 1;
            self.buffers - 1
        })
    }

    pub fn table(&mut self, table: Table, section: usize) -> u32 {
        let known = self.tables.iter().position(|(known, _)| *known == table);
        let number = known.unwrap_or_else(|| {
            self.tables.push((table, section));
            self.tables.len() - 1
        });
        number as u32
    }
}
