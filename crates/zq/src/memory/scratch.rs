// SPDX-License-Identifier: Apache-2.0
//! A buffer that grows to the largest length asked for.

use zeroize::Zeroize;

use super::AlignedVec;
use crate::Word;

/// Reusable work space: after the first use of a size no call allocates. Wiped when dropped.
#[derive(Debug, Default)]
pub struct Scratch<W: Word> {
    buf: AlignedVec<W>,
}

impl<W: Word> Scratch<W> {
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

impl<W: Word> Drop for Scratch<W> {
    fn drop(&mut self) {
        self.buf.zeroize();
    }
}
