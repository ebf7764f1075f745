// SPDX-License-Identifier: Apache-2.0
//! Runtime of a bare-metal program: vectors, a heap that counts, semihosting (Arm's document 100863) for text and exit.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::{asm, global_asm};
use core::cell::{Cell, UnsafeCell};
use core::fmt;
use core::panic::PanicInfo;

// Initial stack pointer and reset vector; `.bss` is zero in QEMU's memory, `.data` is loaded in place.
global_asm!(
    ".section .vectors, \"a\"",
    ".word __stack_top",
    ".word reset",
    ".rept 14",
    ".word fault",
    ".endr",
    ".text",
    ".global reset",
    ".thumb_func",
    "reset:",
    // The floating-point unit is off after reset: CPACR, coprocessors 10 and 11.
    "ldr r0, =0xE000ED88",
    "ldr r1, [r0]",
    "orr r1, r1, #0xF00000",
    "str r1, [r0]",
    "dsb",
    "isb",
    "bl start",
    ".thumb_func",
    "fault:",
    "b stop_failed",
);

// SAFETY: the program has a `main` of this type.
unsafe extern "Rust" {
    fn main();
}

#[unsafe(no_mangle)]
extern "C" fn start() -> ! {
    // SAFETY: the program defines `main` so, and it runs once, after the reset.
    unsafe { main() };
    stop(0x20026) // ADP_Stopped_ApplicationExit
}

#[unsafe(no_mangle)]
extern "C" fn stop_failed() -> ! {
    stop(0x20024) // ADP_Stopped_InternalError
}

fn call(operation: u32, argument: usize) {
    // SAFETY: semihosting reads the argument's text at most, and changes r0 alone.
    unsafe { asm!("bkpt #0xAB", inout("r0") operation => _, in("r1") argument) };
}

fn stop(reason: usize) -> ! {
    call(0x18, reason);
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = fmt::Write::write_fmt(&mut Console, format_args!("{info}\n"));
    stop_failed()
}

/// The text that QEMU prints.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            call(0x03, &raw const byte as usize);
        }
        Ok(())
    }
}

const HEAP_BYTES: usize = 3 << 20;

/// A stack of blocks: freed when the last one is, or all above it are. One thread, no interrupt.
pub struct Heap {
    memory: UnsafeCell<[u8; HEAP_BYTES]>,
    marks: Cell<Marks>,
}

#[derive(Clone, Copy)]
struct Marks {
    next: usize,
    used: usize,
    peak: usize,
}

// SAFETY: there is one thread and no interrupt handler, so nothing is shared.
unsafe impl Sync for Heap {}

#[global_allocator]
pub static HEAP: Heap = Heap {
    memory: UnsafeCell::new([0; HEAP_BYTES]),
    marks: Cell::new(Marks {
        next: 0,
        used: 0,
        peak: 0,
    }),
};

impl Heap {
    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.marks.get().used
    }

    /// Most bytes in use since the reset.
    pub fn peak(&self) -> usize {
        self.marks.get().peak
    }

    /// Start over.
    pub fn reset_peak(&self) {
        let marks = self.marks.get();
        self.marks.set(Marks {
            peak: marks.used,
            ..marks
        });
    }

    fn base(&self) -> *mut u8 {
        self.memory.get().cast()
    }
}

// SAFETY: blocks lie within `memory`, aligned, above all blocks in use, so no two overlap; nothing unwinds.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (mut marks, base) = (self.marks.get(), self.base());
        let start = (base as usize + marks.next).next_multiple_of(layout.align()) - base as usize;
        if start + layout.size() > HEAP_BYTES {
            return core::ptr::null_mut();
        }
        marks.next = start + layout.size();
        marks.used += layout.size();
        marks.peak = marks.peak.max(marks.used);
        self.marks.set(marks);
        // SAFETY: the block ends within the memory.
        unsafe { base.add(start) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let mut marks = self.marks.get();
        let start = block as usize - self.base() as usize;
        marks.used -= layout.size();
        if start + layout.size() == marks.next {
            marks.next = start;
        }
        if marks.used == 0 {
            marks.next = 0;
        }
        self.marks.set(marks);
    }
}
