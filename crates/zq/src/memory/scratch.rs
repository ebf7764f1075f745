// SPDX-License-Identifier: Apache-2.0
//! A buffer that grows to the largest length asked for.

use zeroize::Zeroize;

use super::aligned::AlignedVec;
use super::stock::Stored;

/// Reusable work space: after the first use of a size no call allocates. Wiped when dropped.
#[derive(Debug, Default)]
pub struct Scratch<W: Stored> {
    buf: AlignedVec<W>,
}

impl<W: Stored> Scratch<W> {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// `len` words of unspecified content.
    pub fn take(&mut self, len: usize) -> &mut [W] {
        if self.buf.len() < len {
            self.buf.zeroize();
            self.buf = AlignedVec::zeros(len);
        }
        &mut self.buf[..len]
    }
}

impl<W: Stored> Drop for Scratch<W> {
    fn drop(&mut self) {
        self.buf.zeroize();
    }
}
