// SPDX-License-Identifier: Apache-2.0
//! Checksums of polynomials: every result is read back and its checksum compared with the one it must have.
//!
//! The expected polynomial comes from executing the instructions on the host's copy of the memory; so an operand word
//! that a slot has lost is caught as well as a wrong result or write.

use isa::BuildInfo;
use model::Memory;

/// Checksum of a lane's coefficients: a polynomial in an odd constant modulo 2^128, so that places count.
pub fn checksum(words: &[u128]) -> u128 {
    const POINT: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    words.iter().fold(1, |sum: u128, word| {
        sum.wrapping_mul(POINT).wrapping_add(*word)
    })
}

/// The host's copy of the expected device memory.
pub(crate) struct Audit {
    pub(super) memory: Memory,
    /// The host buffer that results are read back through.
    pub(super) buffer: u32,
}

impl Audit {
    /// An audit that reads results back through a host buffer. Slots written before are not known to it.
    pub(crate) fn new(info: &BuildInfo, buffer: u32) -> Self {
        Self {
            memory: Memory::new(info.clone()),
            buffer,
        }
    }

    /// Forget everything, as a reset device does.
    pub(crate) fn forget(&mut self) {
        self.memory = Memory::new(self.memory.info.clone());
    }
}
