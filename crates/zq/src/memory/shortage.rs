// SPDX-License-Identifier: Apache-2.0
//! Shortage of memory as an error.
//!
//! An array whose length comes from input must not end the process when the system has no room for it. Arrays of words
//! therefore unwind with [`OutOfMemory`], silently, up to the [`attempt`] that a boundary wraps around its work.
//!
//! Between arrays there are small vectors, whose allocation cannot fail in Rust but by aborting. A library inside
//! somebody else's process therefore installs [`Reserve`] as its allocator: what little they need comes from a reserve,
//! and the next array is refused.

use std::alloc::{GlobalAlloc, Layout, System, alloc_zeroed};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::zeroed::Zeroed;

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

/// The system's allocator with a few mebibytes put aside for small allocations when the system has no more.
pub struct Reserve;

/// Bytes put aside; twice the largest allocation that they are for.
const RESERVE: Layout = match Layout::from_size_align(4 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("the alignment is a power of two"),
};
static PUT_ASIDE: Aside = Aside::new();
/// Whether a reserve is kept: not in programs with another allocator.
static KEPT: AtomicBool = AtomicBool::new(false);

impl Reserve {
    /// Puts the reserve aside.
    pub fn keep() {
        KEPT.store(true, Ordering::Relaxed);
        PUT_ASIDE.refill();
    }
}

/// A reserve, or none.
struct Aside(AtomicPtr<u8>);

impl Aside {
    const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// Whether the reserve is there, after an attempt to put it aside again.
    fn refill(&self) -> bool {
        if !self.0.load(Ordering::Acquire).is_null() {
            return true;
        }
        // SAFETY: the layout has a size; nothing is written there, so it takes addresses only.
        let fresh = unsafe { System.alloc(RESERVE) };
        let swapped =
            (self.0).compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire);
        if swapped.is_err() && !fresh.is_null() {
            // SAFETY: allocated above with this layout, and not stored: another thread was faster.
            unsafe { System.dealloc(fresh, RESERVE) };
        }
        swapped.is_err() || !fresh.is_null()
    }

    /// Gives the reserve back to the system; tells whether there was one.
    fn spend(&self) -> bool {
        let held = self.0.swap(null_mut(), Ordering::AcqRel);
        if held.is_null() {
            return false;
        }
        // SAFETY: allocated by `refill` with this layout, and taken out by this thread alone.
        unsafe { System.dealloc(held, RESERVE) };
        true
    }

    /// `take()`, once more with the reserve spent if a small allocation fails.
    fn or_spend(&self, size: usize, take: impl Fn() -> *mut u8) -> *mut u8 {
        let taken = take();
        if taken.is_null() && size <= RESERVE.size() / 2 && self.spend() {
            return take();
        }
        taken
    }
}

// SAFETY: every block comes from the system's allocator and goes back to it with the same layout.
unsafe impl GlobalAlloc for Reserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller gives a layout with a size, which is all that the system's allocator asks for, each time.
        PUT_ASIDE.or_spend(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller gives a layout with a size, and the system's allocator asks for no more.
        PUT_ASIDE.or_spend(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller gives a live block of this layout, which `System` made, and a size that it may grow or
        // shrink to; a failed attempt leaves the block as it was.
        PUT_ASIDE.or_spend(size, || unsafe { System.realloc(start, layout, size) })
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller gives back a live block of this layout, and all blocks come from `System`.
        unsafe { System.dealloc(start, layout) }
    }
}

/// Whether the reserve is spent: the system has no memory left, and the rest is for small allocations.
fn short() -> bool {
    KEPT.load(Ordering::Relaxed) && !PUT_ASIDE.refill()
}

/// An empty vector with room for `count` items; unwinds with [`OutOfMemory`] where there is none.
pub fn reserved<T>(count: usize) -> Vec<T> {
    let mut items = Vec::new();
    if short() || items.try_reserve_exact(count).is_err() {
        OutOfMemory::raise(count.saturating_mul(size_of::<T>()));
    }
    items
}

/// `len` zeros; unwinds with [`OutOfMemory`] where there is no room.
pub(crate) fn zeros<W: Zeroed>(len: usize) -> Vec<W> {
    let refused = || OutOfMemory::raise(len.saturating_mul(size_of::<W>()));
    let Ok(layout) = Layout::array::<W>(len) else {
        refused()
    };
    if layout.size() == 0 {
        return Vec::new();
    }
    if short() {
        refused()
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
    fn small_allocations_spend_the_reserve_and_large_ones_do_not() {
        // One of its own: arrays of the tests beside this one fill the reserve of the process.
        let aside = Aside::new();
        assert!(aside.refill());
        let failing_once = |size: usize| {
            let tries = std::cell::Cell::new(0);
            let given = aside.or_spend(size, || {
                tries.set(tries.get() + 1);
                if tries.get() == 1 {
                    null_mut()
                } else {
                    std::ptr::dangling_mut()
                }
            });
            (!given.is_null(), tries.get())
        };
        assert_eq!(failing_once(1 << 30), (false, 1));
        assert_eq!(failing_once(100), (true, 2));
        assert_eq!(failing_once(100), (false, 1), "it is spent");
        assert!(aside.refill(), "and put aside again when there is room");
        assert_eq!(failing_once(100), (true, 2));
    }

    #[test]
    fn work_that_fits_is_done_and_other_panics_pass() {
        assert_eq!(attempt(|| zeros::<u64>(3)), Ok(vec![0; 3]));
        assert_eq!(attempt(|| zeros::<u128>(0)), Ok(vec![]));
        let other = catch_unwind(|| attempt(|| resume_unwind(Box::new("other"))));
        assert!(other.is_err());
    }
}
