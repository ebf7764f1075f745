// SPDX-License-Identifier: Apache-2.0
//! Memory of large arrays, on huge pages where the system has them.
//!
//! A key switch streams tens of megabytes; on pages of 4 KiB the translation of addresses takes a twelfth of its time
//! (docs/performance.md). Arrays of all threads share regions, which the kernel is asked to back with huge pages and
//! whose parts an allocator of their own hands out. Regions are not given back to the system, their parts are used
//! again. An array too large for that has a mapping of its own, on huge pages as well, and gives it back.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut, RangeInclusive};
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use memmap2::{MmapMut, MmapOptions};
use talc::{OomHandler, Span, Talc};

use super::shortage;
use super::zeroed::Zeroed;
use crate::fork::{self, Taken};

/// Set to 0 it turns regions off: every array comes from the usual allocator, whose checks a sanitizer knows.
const ENV: &str = "RINGSMITH_HUGE_PAGES";

/// Smaller arrays are the usual allocator's business; larger ones may be needed once, and are mapped.
const BYTES: RangeInclusive<usize> = 1 << 16..=1 << 24;

/// Bytes of address space taken at a time; memory only as it is touched.
const REGION_BYTES: usize = 1 << 25;

/// Bytes of a huge page.
const PAGE_BYTES: usize = 1 << 21;

/// First words of arrays stand on cache lines.
const ALIGNMENT: usize = 64;

/// Words, all zero at first.
pub(crate) enum Buffer<W: Zeroed> {
    Heap(Vec<W>),
    Pages(Block<W>),
    Mapped(Mapping<W>),
}

impl<W: Zeroed> Buffer<W> {
    pub fn zeros(len: usize) -> Self {
        let bytes = len.saturating_mul(size_of::<W>());
        let made = match bytes {
            _ if BYTES.contains(&bytes) => Block::zeros(len).map(Self::Pages),
            _ if bytes > *BYTES.end() => Mapping::zeros(len, bytes).map(Self::Mapped),
            _ => None,
        };
        made.unwrap_or_else(|| Self::Heap(shortage::zeros(len)))
    }
}

impl<W: Zeroed> Default for Buffer<W> {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl<W: Zeroed> Deref for Buffer<W> {
    type Target = [W];
    #[inline(always)]
    fn deref(&self) -> &[W] {
        match self {
            Self::Heap(words) => words,
            Self::Pages(words) => words,
            Self::Mapped(words) => words,
        }
    }
}

impl<W: Zeroed> DerefMut for Buffer<W> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [W] {
        match self {
            Self::Heap(words) => words,
            Self::Pages(words) => words,
            Self::Mapped(words) => words,
        }
    }
}

/// The regions, unless they are turned off or the program is interpreted.
static REGIONS: OnceLock<Option<Mutex<Talc<Regions>>>> = OnceLock::new();

/// Their lock is the last that a thread takes.
static TAKEN: Taken = Taken::new(1, || Box::new(freeze()));

fn regions() -> Option<&'static Mutex<Talc<Regions>>> {
    let make = || {
        let off = cfg!(miri) || std::env::var_os(ENV).is_some_and(|value| value == "0");
        (!off).then(|| Mutex::new(Talc::new(Regions { count: 0 })))
    };
    TAKEN.register();
    fork::once(&REGIONS, make).as_ref()
}

/// The lock of the regions: no thread allocates or frees a block while it lives.
pub(crate) type Guard = MutexGuard<'static, Talc<Regions>>;

/// Locks the regions, if there are any yet: see [`fork`].
pub(crate) fn freeze() -> Option<Guard> {
    let regions = REGIONS.get()?.as_ref()?;
    Some(regions.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Takes another region when the others are full.
pub(crate) struct Regions {
    count: usize,
}

impl OomHandler for Regions {
    fn handle_oom(talc: &mut Talc<Self>, layout: Layout) -> Result<(), ()> {
        // A region must hold the block and what the allocator notes beside it, or it would be asked for again and
        // again.
        if layout.size() > REGION_BYTES / 2 {
            return Err(());
        }
        let map = MmapOptions::new()
            .len(REGION_BYTES + PAGE_BYTES)
            .map_anon()
            .map_err(drop)?;
        // A system without huge pages may refuse: the memory is as good, only slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        let skipped = map.as_ptr().align_offset(PAGE_BYTES);
        let start = map.as_ptr().cast_mut().wrapping_add(skipped);
        // SAFETY: the mapping is this region's alone, holds these bytes and is never unmapped.
        let claimed = unsafe { talc.claim(Span::from_base_size(start, REGION_BYTES)) };
        core::mem::forget(map);
        talc.oom_handler.count += 1;
        claimed.map(drop)
    }
}

/// Part of a region.
pub(crate) struct Block<W: Zeroed> {
    start: NonNull<u8>,
    layout: Layout,
    word: PhantomData<W>,
}

// SAFETY: a block owns its words alone, like a vector.
unsafe impl<W: Zeroed> Send for Block<W> {}
// SAFETY: a shared block gives shared slices alone, and its words are `Sync` (bound of `Zeroed`).
unsafe impl<W: Zeroed> Sync for Block<W> {}

impl<W: Zeroed> Block<W> {
    /// `len` zeros, more than none; `None` when the system has no memory for another region, or regions are turned off.
    fn zeros(len: usize) -> Option<Self> {
        let layout = Layout::array::<W>(len).ok()?.align_to(ALIGNMENT).ok()?;
        assert!(layout.size() > 0, "a block without words");
        let mut regions = regions()?.lock().ok()?;
        // SAFETY: the size is not zero.
        let start = unsafe { regions.malloc(layout) }.ok()?;
        drop(regions);
        // SAFETY: the block has these bytes; all bytes zero is the word zero.
        unsafe { start.write_bytes(0, layout.size()) };
        Some(Self {
            start,
            layout,
            word: PhantomData,
        })
    }

    fn len(&self) -> usize {
        self.layout.size() / size_of::<W>()
    }
}

impl<W: Zeroed> Drop for Block<W> {
    fn drop(&mut self) {
        if let Some(Ok(mut regions)) = regions().map(Mutex::lock) {
            // SAFETY: the block came from these regions with this layout and is not used again.
            unsafe { regions.free(self.start, self.layout) };
        }
    }
}

impl<W: Zeroed> Deref for Block<W> {
    type Target = [W];
    #[inline(always)]
    fn deref(&self) -> &[W] {
        // SAFETY: the block holds as many words, all of them written.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr().cast(), self.len()) }
    }
}

impl<W: Zeroed> DerefMut for Block<W> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [W] {
        // SAFETY: the block holds as many words, all of them written, and `&mut self` borrows it alone.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len()) }
    }
}

/// A mapping that one array has to itself.
pub(crate) struct Mapping<W: Zeroed> {
    map: MmapMut,
    len: usize,
    word: PhantomData<W>,
}

impl<W: Zeroed> Mapping<W> {
    /// `len` zeros, which are `bytes` bytes; `None` when the system has no memory for them, or regions are turned off.
    fn zeros(len: usize, bytes: usize) -> Option<Self> {
        regions()?;
        let map = MmapOptions::new().len(bytes).map_anon().ok()?;
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Some(Self {
            map,
            len,
            word: PhantomData,
        })
    }
}

impl<W: Zeroed> Deref for Mapping<W> {
    type Target = [W];
    #[inline(always)]
    fn deref(&self) -> &[W] {
        // SAFETY: the mapping holds as many words on page boundaries; all bytes zero, which it began with, is a word.
        unsafe { core::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }
}

impl<W: Zeroed> DerefMut for Mapping<W> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [W] {
        // SAFETY: as above, and `&mut self` borrows it alone.
        unsafe { core::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_zero_and_apart() {
        let len = (1 << 17) / size_of::<u64>();
        let mut blocks: Vec<Buffer<u64>> = (0..400).map(|_| Buffer::zeros(len)).collect();
        for (i, block) in blocks.iter_mut().enumerate() {
            assert!(block.len() == len && block.iter().all(|&x| x == 0));
            block.fill(i as u64);
        }
        let kept = |i: usize| blocks[i].iter().all(|&x| x == i as u64);
        assert!((0..400).all(kept));
    }

    #[test]
    fn freed_blocks_are_used_again() {
        let rounds = 20;
        let regions = || super::regions().map_or(0, |r| r.lock().unwrap().oom_handler.count);
        let before = regions();
        for _ in 0..rounds {
            let blocks: Vec<Buffer<u64>> = (0..300).map(|_| Buffer::zeros(1 << 14)).collect();
            assert!(blocks.iter().all(|b| b.iter().all(|&x| x == 0)));
        }
        // Every round needs more than one region; other tests take some meanwhile.
        assert!(regions() - before < rounds);
    }

    #[test]
    fn shorter_arrays_come_from_the_heap_and_longer_ones_are_mapped() {
        for bytes in [0, 8, BYTES.start() - 8, BYTES.end() + 8, 3 * BYTES.end()] {
            let mut buffer = Buffer::<u64>::zeros(bytes / 8);
            let mapped = bytes > *BYTES.end() && super::regions().is_some();
            assert_eq!(matches!(buffer, Buffer::Mapped(_)), mapped, "{bytes}");
            assert!(buffer.len() == bytes / 8 && buffer.iter().all(|&x| x == 0));
            buffer.fill(bytes as u64);
            assert!(buffer.iter().all(|&x| x == bytes as u64));
        }
    }

    #[test]
    fn threads_share_the_regions() {
        let one = |salt: u64| {
            move || {
                for round in 0..50 {
                    let mut buffer = Buffer::<u64>::zeros(10_000 + round);
                    buffer.fill(salt);
                    assert!(buffer.iter().all(|&x| x == salt));
                }
            }
        };
        let threads: Vec<_> = (0..4).map(|s| std::thread::spawn(one(s))).collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
    }
}
