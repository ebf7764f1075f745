// SPDX-License-Identifier: Apache-2.0
//! Contiguous storage whose first word stands on a cache line.

use core::fmt;
use core::ops::{Deref, DerefMut};
use zeroize::Zeroize;

use super::huge_pages::Buffer;
use super::stock::{Stock, Stored};
use super::wipe::wipe;

/// Bytes of a cache line and of the widest vector register.
const LINE: usize = 64;

/// A fixed-length array of words, aligned to 64 bytes. Derefs to a slice.
///
/// It over-allocates by one line and skips to the boundary. Large arrays are on huge pages. Buffers of dropped arrays
/// are reused ([`Stock`]): fresh pages cost more than the transform of the polynomial they are for.
pub struct AlignedVec<W: Stored> {
    buf: Buffer<W>,
    start: usize,
    len: usize,
}

impl<W: Stored> AlignedVec<W> {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        match Self::reused(len) {
            Some(mut v) => {
                v.fill(W::default());
                v
            }
            None => Self::fresh(len),
        }
    }

    /// `len` words of unspecified content, for callers that write all of them.
    pub fn for_overwrite(len: usize) -> Self {
        Self::reused(len).unwrap_or_else(|| Self::fresh(len))
    }

    fn fresh(len: usize) -> Self {
        Self::around(Buffer::zeros(len + LINE / size_of::<W>()), len)
    }

    fn reused(len: usize) -> Option<Self> {
        let words = len + LINE / size_of::<W>();
        if words * size_of::<W>() < Stock::<W>::LEAST_BYTES {
            return None;
        }
        let own = W::with_stock(|stock| stock.take(words)).flatten();
        let buf = own.or_else(|| W::depot()?.take(words))?;
        Some(Self::around(buf, len))
    }

    fn around(buf: Buffer<W>, len: usize) -> Self {
        let start = buf.as_ptr().align_offset(LINE);
        debug_assert!(start + len <= buf.len());
        Self { buf, start, len }
    }

    /// A copy of `s`.
    pub fn from_slice(s: &[W]) -> Self {
        let mut v = Self::for_overwrite(s.len());
        v.copy_from_slice(s);
        v
    }

    /// Forgets the words from `len` on, in place. Does nothing if there are fewer.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl<W: Stored> Drop for AlignedVec<W> {
    fn drop(&mut self) {
        let buffer = core::mem::take(&mut self.buf);
        W::with_stock(|stock| {
            stock.put(buffer, |oldest| {
                if let Some(mut depot) = W::depot() {
                    depot.put(oldest, drop);
                }
            });
        });
    }
}

impl<W: Stored> Deref for AlignedVec<W> {
    type Target = [W];
    #[inline(always)]
    fn deref(&self) -> &[W] {
        &self.buf[self.start..self.start + self.len]
    }
}

impl<W: Stored> DerefMut for AlignedVec<W> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [W] {
        &mut self.buf[self.start..self.start + self.len]
    }
}

impl<W: Stored> Clone for AlignedVec<W> {
    fn clone(&self) -> Self {
        Self::from_slice(self)
    }
}

impl<W: Stored> Default for AlignedVec<W> {
    fn default() -> Self {
        Self::zeros(0)
    }
}

impl<W: Stored> PartialEq for AlignedVec<W> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<W: Stored> Eq for AlignedVec<W> {}

impl AlignedVec<u64> {
    /// The words as signed numbers, two's complement.
    pub fn as_i64s_mut(&mut self) -> &mut [i64] {
        let words = &mut **self;
        // SAFETY: both types have the same size and alignment, and every pattern of bits is a number of either.
        unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
    }
}

impl<W: Stored> fmt::Debug for AlignedVec<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<W: Stored> Zeroize for AlignedVec<W> {
    /// Wipes the whole allocation, truncated words included; the length stays.
    fn zeroize(&mut self) {
        wipe(&mut self.buf);
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
    fn dropped_arrays_are_reused_and_come_back_as_zeros() {
        let mut v = AlignedVec::<u64>::zeros(5000);
        v.fill(7);
        let address = v.as_ptr();
        drop(v);
        let again = AlignedVec::<u64>::zeros(5000);
        assert_eq!(again.as_ptr(), address);
        assert!(again.iter().all(|&x| x == 0));
        drop(again);
        assert_ne!(AlignedVec::<u64>::zeros(5001).len(), 5000);
        // The stock stays bounded.
        let many: Vec<_> = (0..300)
            .map(|_| AlignedVec::<u64>::zeros(1 << 17))
            .collect();
        drop(many);
        let (count, bytes) = u64::with_stock(|s| (s.buffers.len(), s.bytes)).unwrap();
        assert!(count <= Stock::<u64>::MOST && bytes <= Stock::<u64>::own().most_bytes);
        assert_eq!(
            bytes,
            u64::with_stock(|s| s.buffers.iter().map(|b| 8 * b.len()).sum()).unwrap()
        );
    }

    #[test]
    fn what_one_thread_drops_another_reuses() {
        // No other test here fills arrays of this word.
        let len = 3777;
        let make =
            move |count| -> Vec<_> { (0..count).map(|_| AlignedVec::<u128>::zeros(len)).collect() };
        let left = || u128::depot().unwrap().buffers.len();
        let bytes = (len + LINE / size_of::<u128>()) * size_of::<u128>();
        let kept = (Stock::<u128>::own().most_bytes / bytes).min(Stock::<u128>::MOST);
        drop(make(kept + 20));
        assert_eq!(left(), 20);
        let made = std::thread::spawn(move || make(15)).join().unwrap();
        assert_eq!(left(), 5);
        assert!(made.iter().all(|v| v.iter().all(|&x| x == 0)));
    }

    #[test]
    fn words_are_signed_numbers_too() {
        let mut v = AlignedVec::<u64>::zeros(3);
        v.as_i64s_mut().copy_from_slice(&[-1, 0, i64::MIN]);
        assert_eq!(v[..], [u64::MAX, 0, 1 << 63]);
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
