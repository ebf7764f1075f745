// SPDX-License-Identifier: Apache-2.0
//! Where an operation runs, and how.

use super::uses::Uses;
use crate::stream::legality::Unsupported;

/// An operation of the device, in one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionOp {
    pub stage: u32,
    pub section: usize,
    /// The operation.
    pub number: usize,
}

/// How the move unit does a base conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moving {
    /// Its results are reduced.
    Reduced,
    /// They are not: only products with constants read them.
    Unreduced,
}

/// Where an operation runs, and how.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// It runs on the device.
    pub on_device: bool,
    /// The stage it runs in; in a stage the host is first.
    pub stage: u32,
    /// Why the device cannot do it, if an output depends on it.
    pub unsupported: Option<Unsupported>,
    /// How its result is used.
    pub uses: Uses,
    /// How the move unit does it, if it is a base conversion that this unit can do.
    pub moving: Option<Moving>,
}

impl Placed {
    /// Whether the host does it for an output.
    pub fn is_on_host(&self) -> bool {
        self.uses.is_needed && !self.on_device
    }
}
