// SPDX-License-Identifier: Apache-2.0
//! What the device does, and with which instructions.

mod addends;
mod conversion;
mod fold;
mod instructions;
mod placed;
mod placement;
mod stages;
mod tile;
mod uses;

pub use conversion::{Move, Spec, digit};
pub use instructions::Selector;
pub use placed::SectionOp;
pub use placement::Placement;
pub use tile::{Tile, TileId, TileOp, Tiles};
