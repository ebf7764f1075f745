// SPDX-License-Identifier: Apache-2.0
//! Shortage of memory as an error.
//!
//! An array whose length comes from input must not end the process when the system has no room for it. Arrays of words
//! therefore unwind with [`OutOfMemory`], silently, up to the [`attempt`] that a boundary wraps around its work.

use std::alloc::{Layout, alloc_zeroed};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::Word;

/// The system refused memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("out of memory: {bytes} bytes were refused")]
pub struct OutOfMemory {
    /// Bytes of the array there was no room for.
    pub bytes: usize,
}

impl OutOfMemory {
    /// Gives up the work in hand. Nothing is printed: it is an error, not a defect.
    pub fn raise(bytes: usize) -> ! {
        resume_unwind(Box::new(Self { bytes }))
    }
}

/// Does `work`, or says how much memory was missing for it. Other panics pass through.
///
/// # Errors
/// [`OutOfMemory`].
pub fn attempt<T>(work: impl FnOnce() -> T) -> Result<T, OutOfMemory> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        *payload
            .downcast::<OutOfMemory>()
            .unwrap_or_else(|other| resume_unwind(other))
    })
}

/// An empty vector with room for `count` items; unwinds with [`OutOfMemory`] where there is none.
pub fn reserved<T>(count: usize) -> Vec<T> {
    let mut items = Vec::new();
    if items.try_reserve_exact(count).is_err() {
        OutOfMemory::raise(count.saturating_mul(size_of::<T>()));
    }
    items
}

/// `len` zeros; unwinds with [`OutOfMemory`] where there is no room.
pub(crate) fn zeros<W: Word>(len: usize) -> Vec<W> {
    let refused = || OutOfMemory::raise(len.saturating_mul(size_of::<W>()));
    let Ok(layout) = Layout::array::<W>(len) else {
        refused()
    };
    if layout.size() == 0 {
        return Vec::new();
    }
    // SAFETY: the size is not zero.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        refused()
    }
    // SAFETY: the global allocator gave these bytes for this layout; all bytes zero is the word zero.
    unsafe { Vec::from_raw_parts(start.cast(), len, len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AlignedVec;

    #[test]
    fn arrays_that_no_memory_holds_are_errors() {
        let words = 1 << 58;
        let refused = attempt(|| AlignedVec::<u64>::zeros(words)).unwrap_err();
        assert!(refused.bytes >= words * 8, "{refused}");
        let refused = attempt(|| reserved::<u128>(usize::MAX)).unwrap_err();
        assert_eq!(refused.bytes, usize::MAX);
    }

    #[test]
    fn work_that_fits_is_done_and_other_panics_pass() {
        assert_eq!(attempt(|| zeros::<u64>(3)), Ok(vec![0; 3]));
        assert_eq!(attempt(|| zeros::<u128>(0)), Ok(vec![]));
        let other = catch_unwind(|| attempt(|| resume_unwind(Box::new("other"))));
        assert!(other.is_err());
    }
}
