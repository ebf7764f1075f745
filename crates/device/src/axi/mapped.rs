// SPDX-License-Identifier: Apache-2.0
//! Files that are mapped: registers, and memory that a device shares.
//!
//! Beside [`crate::simulator`] the only unsafe code of this crate: every pointer is that of a mapping that lives as
//! long as `self`, and every access is checked against its length.

use std::fs::File;

use memmap2::{MmapOptions, MmapRaw};

use crate::files::cause;

/// A mapped part of a file.
pub struct Mapped {
    map: MmapRaw,
}

impl Mapped {
    /// Map `bytes` of a file from `offset` on, a multiple of the system's page.
    pub fn new(file: &File, offset: u64, bytes: u64) -> Result<Self, String> {
        let size = usize::try_from(bytes).map_err(|_| format!("cannot map {bytes} bytes"))?;
        let map = MmapOptions::new().offset(offset).len(size).map_raw(file);
        let map = map.map_err(|error| format!("cannot map {bytes} bytes: {}", cause(&error)))?;
        Ok(Self { map })
    }

    /// The place of a register, which lies inside the mapping and is aligned.
    fn register(&self, offset: usize) -> *mut u32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.map.len());
        // SAFETY: the offset is inside the mapping.
        unsafe { self.map.as_mut_ptr().add(offset) }.cast()
    }

    /// Read a register by one access of 32 bits. Registers are little-endian.
    pub fn read(&self, offset: usize) -> u32 {
        // SAFETY: inside the mapping and aligned.
        u32::from_le(unsafe { self.register(offset).read_volatile() })
    }

    /// Write a register by one access of 32 bits.
    pub fn write(&mut self, offset: usize, value: u32) {
        // SAFETY: inside the mapping and aligned; nothing of this program refers to it.
        unsafe { self.register(offset).write_volatile(value.to_le()) }
    }

    /// Copy memory out.
    pub fn load(&self, at: usize, out: &mut [u8]) {
        assert!(at <= self.map.len() && out.len() <= self.map.len() - at);
        // SAFETY: inside the mapping; `out` is this program's own memory.
        unsafe {
            std::ptr::copy_nonoverlapping(self.map.as_ptr().add(at), out.as_mut_ptr(), out.len())
        }
    }

    /// Copy memory in.
    pub fn store(&mut self, at: usize, bytes: &[u8]) {
        assert!(at <= self.map.len() && bytes.len() <= self.map.len() - at);
        // SAFETY: inside the mapping; `bytes` is this program's own memory.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.map.as_mut_ptr().add(at),
                bytes.len(),
            )
        }
    }
}

/// Nothing after this overtakes memory accesses before it, as a device sees them.
pub fn barrier() {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    // The fence orders what processors see of each other; a device is outside of their domain.
    #[cfg(any(target_arch = "aarch64", target_arch = "arm"))]
    // SAFETY: a barrier has no other effect.
    unsafe {
        std::arch::asm!("dsb sy", options(nostack, preserves_flags));
    }
}
