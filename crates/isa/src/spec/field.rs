// SPDX-License-Identifier: Apache-2.0
//! Bit fields.

/// A bit field of the instruction word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Lowest bit.
    pub lsb: u32,
    /// Width in bits.
    pub bits: u32,
}

impl Field {
    /// Largest value that fits.
    pub const fn max(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// The field's value in `word`.
    pub const fn get(self, word: u64) -> u64 {
        (word >> self.lsb) & self.max()
    }

    /// `value` at the field's place; bits that do not fit are dropped.
    pub const fn put(self, value: u64) -> u64 {
        (value & self.max()) << self.lsb
    }
}
