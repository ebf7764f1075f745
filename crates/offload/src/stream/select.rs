// SPDX-License-Identifier: Apache-2.0
//! What the device does, and with which instructions.

mod addends;
mod conversion;
mod fold;
mod instructions;
mod placement;
mod tile;

pub use conversion::{Move, Spec, digit};
pub use instructions::Selector;
pub use placement::{Placement, SectionOp};
pub use tile::{Tile, TileId, TileOp, Tiles};
