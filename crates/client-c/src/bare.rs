// SPDX-License-Identifier: Apache-2.0
//! Without an operating system: memory is C's, and a defect stops the device.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
use core::panic::PanicInfo;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn abort() -> !;
}

struct Heap;

/// Alignment of C's blocks in bytes.
const ALIGNMENT: usize = 8;

// SAFETY: blocks are those of malloc, of the size asked for and aligned as asked for, or null; it does not unwind.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > ALIGNMENT {
            return core::ptr::null_mut();
        }
        // SAFETY: malloc takes any size.
        unsafe { malloc(layout.size()).cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller got the block from `alloc`, so from malloc, and gives it back once.
        unsafe { free(block.cast()) }
    }
}

#[global_allocator]
static HEAP: Heap = Heap;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: abort may be called at any time.
    unsafe { abort() }
}
