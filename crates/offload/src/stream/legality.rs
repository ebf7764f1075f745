// SPDX-License-Identifier: Apache-2.0
//! What a build can do of a program, and why not the rest.

mod conversion;
mod operation;
mod unsupported;

pub use conversion::{is_conversion, is_move, is_target, suits};
pub use operation::{Legality, instruction, is_free, is_heavy};
pub use unsupported::{Unsupported, kind, listed, on_data, terms};
