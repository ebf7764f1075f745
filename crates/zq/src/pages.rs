// SPDX-License-Identifier: Apache-2.0
//! Memory of large arrays, on huge pages where the system has them.
//!
//! A key switch streams tens of megabytes; on pages of 4 KiB the translation of addresses takes a twelfth of its time
//! (docs/performance.md). Arrays of all threads share regions of [`REGION_BYTES`], which the kernel is asked to back with huge
//! pages, and whose parts are handed out by an allocator of its own. Regions are not given back to the system, their parts are used again.

use core::ops::{Deref, DerefMut};

use crate::Word;

/// Smaller arrays are the usual allocator's business, and larger ones: they may be needed once.
const BYTES: core::ops::RangeInclusive<usize> = 1 << 16..=1 << 24;

/// Words, all zero at first.
pub(crate) enum Buffer<W: Word> {
    Heap(Vec<W>),
    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    Pages(linux::Block<W>),
}

impl<W: Word> Buffer<W> {
    pub fn zeros(len: usize) -> Self {
        #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
        if BYTES.contains(&(len * size_of::<W>()))
            && let Some(block) = linux::Block::zeros(len)
        {
            return Self::Pages(block);
        }
        Self::Heap(vec![W::ZERO; len])
    }
}

impl<W: Word> Default for Buffer<W> {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl<W: Word> Deref for Buffer<W> {
    type Target = [W];
    #[inline(always)]
    fn deref(&self) -> &[W] {
        match self {
            Self::Heap(words) => words,
            #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
            Self::Pages(words) => words,
        }
    }
}

impl<W: Word> DerefMut for Buffer<W> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [W] {
        match self {
            Self::Heap(words) => words,
            #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
            Self::Pages(words) => words,
        }
    }
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
mod linux {
    use core::alloc::Layout;
    use core::marker::PhantomData;
    use core::ops::{Deref, DerefMut};
    use core::ptr::NonNull;
    use std::sync::{LazyLock, Mutex};

    use memmap2::{Advice, MmapOptions};
    use talc::{OomHandler, Span, Talc};

    use crate::Word;

    /// Turns huge pages off: every array comes from the usual allocator, whose checks a sanitizer knows.
    const ENV: &str = "RINGSMITH_HUGE_PAGES";

    /// Bytes of address space taken at a time; memory only as it is touched.
    pub(super) const REGION_BYTES: usize = 1 << 25;

    /// Bytes of a huge page.
    const PAGE_BYTES: usize = 1 << 21;

    /// First words of arrays stand on cache lines.
    const ALIGNMENT: usize = 64;

    static REGIONS: LazyLock<Option<Mutex<Talc<Regions>>>> = LazyLock::new(|| {
        let off = std::env::var_os(ENV).is_some_and(|value| value == "0");
        (!off).then(|| Mutex::new(Talc::new(Regions { count: 0 })))
    });

    /// Takes another region when the others are full.
    struct Regions {
        count: usize,
    }

    impl OomHandler for Regions {
        fn handle_oom(talc: &mut Talc<Self>, layout: Layout) -> Result<(), ()> {
            // Room for what the allocator notes beside a block.
            if layout.size() > REGION_BYTES / 2 {
                return Err(());
            }
            let map = MmapOptions::new()
                .len(REGION_BYTES + PAGE_BYTES)
                .map_anon()
                .map_err(drop)?;
            // A system without huge pages may refuse: the memory is as good, only slower.
            let _ = map.advise(Advice::HugePage);
            let skipped = map.as_ptr().align_offset(PAGE_BYTES);
            let start = map.as_ptr().cast_mut().wrapping_add(skipped);
            // SAFETY: the mapping is this region's alone, holds these bytes and is never unmapped.
            let claimed = unsafe { talc.claim(Span::from_base_size(start, REGION_BYTES)) };
            core::mem::forget(map);
            talc.oom_handler.count += 1;
            claimed.map(drop)
        }
    }

    /// Regions taken so far.
    #[cfg(test)]
    pub(super) fn regions() -> usize {
        REGIONS
            .as_ref()
            .map_or(0, |r| r.lock().unwrap().oom_handler.count)
    }

    /// Part of a region.
    pub(crate) struct Block<W: Word> {
        start: NonNull<u8>,
        layout: Layout,
        word: PhantomData<W>,
    }

    // SAFETY: a block owns its words alone, like a vector.
    unsafe impl<W: Word> Send for Block<W> {}
    // SAFETY: as above.
    unsafe impl<W: Word> Sync for Block<W> {}

    impl<W: Word> Block<W> {
        /// `len` zeros; `None` when the system has no memory for another region, or they are turned off.
        pub fn zeros(len: usize) -> Option<Self> {
            let layout = Layout::array::<W>(len).ok()?.align_to(ALIGNMENT).ok()?;
            if layout.size() == 0 {
                return None;
            }
            let mut regions = REGIONS.as_ref()?.lock().ok()?;
            // SAFETY: the size is not zero.
            let start = unsafe { regions.malloc(layout) }.ok()?;
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

    impl<W: Word> Drop for Block<W> {
        fn drop(&mut self) {
            if let Some(Ok(mut regions)) = REGIONS.as_ref().map(Mutex::lock) {
                // SAFETY: the block came from these regions with this layout and is not used again.
                unsafe { regions.free(self.start, self.layout) };
            }
        }
    }

    impl<W: Word> Deref for Block<W> {
        type Target = [W];
        #[inline(always)]
        fn deref(&self) -> &[W] {
            // SAFETY: the block holds as many words, all of them written.
            unsafe { core::slice::from_raw_parts(self.start.as_ptr().cast(), self.len()) }
        }
    }

    impl<W: Word> DerefMut for Block<W> {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut [W] {
            // SAFETY: as `deref`, and the block is borrowed alone.
            unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len()) }
        }
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
    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    fn freed_blocks_are_used_again() {
        let rounds = 20;
        let before = linux::regions();
        for _ in 0..rounds {
            let blocks: Vec<Buffer<u64>> = (0..300).map(|_| Buffer::zeros(1 << 14)).collect();
            assert!(blocks.iter().all(|b| b.iter().all(|&x| x == 0)));
        }
        // Every round needs more than one region; other tests take some meanwhile.
        assert!(linux::regions() - before < rounds);
    }

    #[test]
    fn lengths_beyond_the_range_come_from_the_heap() {
        for bytes in [0, 8, BYTES.start() - 8, BYTES.end() + 8] {
            let buffer = Buffer::<u64>::zeros(bytes / 8);
            assert!(matches!(buffer, Buffer::Heap(_)), "{bytes}");
            assert_eq!(buffer.len(), bytes / 8);
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
