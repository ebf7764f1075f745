// SPDX-License-Identifier: Apache-2.0
//! Contiguous storage whose first word stands on a cache line.

use core::fmt;
use core::ops::{Deref, DerefMut};
use zeroize::Zeroize;

use crate::Word;

/// Bytes of a cache line and of the widest vector register.
const LINE: usize = 64;

/// A fixed-length, zero-initialised array of words, aligned to 64 bytes. Derefs to a slice.
///
/// It over-allocates by one line and skips to the boundary, which needs no `unsafe`.
pub struct AlignedVec<W: Word> {
    buf: Vec<W>,
    start: usize,
    len: usize,
}

impl<W: Word> AlignedVec<W> {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        let pad = LINE / size_of::<W>();
        let buf = vec![W::ZERO; len + pad];
        let start = buf.as_ptr().align_offset(LINE);
        debug_assert!(start <= pad);
        Self { buf, start, len }
    }

    /// A copy of `s`.
    pub fn from_slice(s: &[W]) -> Self {
        let mut v = Self::zeros(s.len());
        v.copy_from_slice(s);
        v
    }

    /// Forgets the words from `len` on, in place. Does nothing if there are fewer.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl<W: Word> Deref for AlignedVec<W> {
    type Target = [W];
    #[inline(always)]
    fn deref(&self) -> &[W] {
        &self.buf[self.start..self.start + self.len]
    }
}

impl<W: Word> DerefMut for AlignedVec<W> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [W] {
        &mut self.buf[self.start..self.start + self.len]
    }
}

impl<W: Word> Clone for AlignedVec<W> {
    fn clone(&self) -> Self {
        Self::from_slice(self)
    }
}

impl<W: Word> Default for AlignedVec<W> {
    fn default() -> Self {
        Self::zeros(0)
    }
}

impl<W: Word> PartialEq for AlignedVec<W> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<W: Word> Eq for AlignedVec<W> {}

impl<W: Word> fmt::Debug for AlignedVec<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<W: Word> Zeroize for AlignedVec<W> {
    /// Wipes the whole allocation, truncated words included; the length stays.
    fn zeroize(&mut self) {
        self.buf.as_mut_slice().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_cache_line_also_after_a_clone() {
        for len in [0, 1, 7, 8, 4096] {
            let mut v = AlignedVec::<u64>::zeros(len);
            v.iter_mut().enumerate().for_each(|(i, x)| *x = i as u64);
            let c = v.clone();
            assert_eq!(
                (v.as_ptr() as usize % LINE, c.as_ptr() as usize % LINE),
                (0, 0)
            );
            assert_eq!((c.len(), &c), (len, &v));
        }
        assert_eq!(AlignedVec::<u128>::zeros(5).as_ptr() as usize % LINE, 0);
    }

    #[test]
    fn zeroize_keeps_the_length_and_wipes_truncated_words() {
        let mut v = AlignedVec::<u64>::from_slice(&[1, 2, 3]);
        v.truncate(2);
        v.zeroize();
        assert_eq!(&*v, &[0, 0]);
        assert!(v.buf.iter().all(|&x| x == 0));
    }
}
