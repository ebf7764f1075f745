// SPDX-License-Identifier: Apache-2.0
//! Counts instructions: QEMU's clock advances 1 ns with each under `-icount shift=0`, and timer 0 of the board (Arm's
//! CMSDK APB timer, 32 bits, counting down) runs at 25 MHz of it.

use core::arch::asm;

const CONTROL: *mut u32 = 0x4000_0000 as *mut u32;
const VALUE: *mut u32 = 0x4000_0004 as *mut u32;
const RELOAD: *mut u32 = 0x4000_0008 as *mut u32;
/// Nanoseconds, and so instructions, of a tick.
const INSTRUCTIONS: u64 = 40;

/// Lets the timer run. It wraps after 171 billion instructions.
pub fn start() {
    // SAFETY: registers of the board's timer, which nothing else uses.
    unsafe {
        RELOAD.write_volatile(u32::MAX);
        VALUE.write_volatile(u32::MAX);
        CONTROL.write_volatile(1);
    }
}

fn ticks() -> u32 {
    // SAFETY: a register of the board's timer; reading it changes nothing.
    unsafe { u32::MAX - VALUE.read_volatile() }
}

/// What an operation returns, and its instructions, to within a tick.
pub fn counted<T>(operation: impl FnOnce() -> T) -> (T, u64) {
    let before = ticks();
    let result = operation();
    (
        result,
        u64::from(ticks().wrapping_sub(before)) * INSTRUCTIONS,
    )
}

/// A loop of two instructions for each of `rounds`: what the counter is held against.
pub fn spin(rounds: u32) {
    // SAFETY: changes the register it names and the flags.
    unsafe { asm!("2:", "subs {0}, #1", "bne 2b", inout(reg) rounds => _) };
}
