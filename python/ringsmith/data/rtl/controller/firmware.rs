// SPDX-License-Identifier: Apache-2.0
//! Firmware of the on-chip controller: feeds the program that CONTROLLER_PROGRAM names into the command queue.
//!
//! `python/ringsmith/hw/firmware.py` builds it with rustc alone; the register addresses come from `spec/*.rdl`.
//! No heap, a stack of 64 bytes, whole words only.
#![no_std]
#![no_main]

use core::panic::PanicInfo;
use core::ptr::{read_volatile, write_volatile};

/// Registers of the co-processor and of the controller, generated.
#[allow(dead_code)]
mod registers {
    include!(env!("RINGSMITH_REGISTERS"));
}
use registers as r;

/// The processor sees the registers from here on.
const REGISTERS: u32 = 0x4000_0000;
/// `stop_e` of spec/controller.rdl: the program's own fault.
const STOP_COPROCESSOR: u32 = 4;

core::arch::global_asm!(
    ".section .start, \"ax\"",
    ".globl start",
    "start:",
    "la sp, stack_top",
    "j main",
);

fn read(address: u32) -> u32 {
    // SAFETY: a register, or a word of memory; what is neither stops the processor.
    unsafe { read_volatile((REGISTERS + address) as *const u32) }
}

fn write(address: u32, value: u32) {
    // SAFETY: as in `read`.
    unsafe { write_volatile((REGISTERS + address) as *mut u32, value) }
}

fn field(word: u32, (shift, width): (u32, u32)) -> u32 {
    word >> shift & (u32::MAX >> (32 - width))
}

/// Runs one program; 0, or why it stopped.
fn feed() -> u32 {
    let program = read(r::CONTROLLER_PROGRAM);
    let mut next = field(program, r::CONTROLLER_PROGRAM_ADDRESS) as *const u32;
    let mut left = field(program, r::CONTROLLER_PROGRAM_COUNT);
    loop {
        let status = read(r::STATUS);
        if field(status, r::STATUS_FAILED) != 0 {
            return STOP_COPROCESSOR;
        }
        if left == 0 {
            if field(status, r::STATUS_IDLE) != 0 {
                return 0;
            }
            continue;
        }
        let mut room = field(status, r::STATUS_FREE).min(left);
        left -= room;
        while room != 0 {
            // SAFETY: the host has put the program there; an address beyond the memory stops the processor.
            unsafe {
                write(r::COMMAND_LO, read_volatile(next));
                write(r::COMMAND_HI, read_volatile(next.add(1)));
                next = next.add(2);
            }
            room -= 1;
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    loop {
        if field(read(r::CONTROLLER_STATUS), r::CONTROLLER_STATUS_BUSY) != 0 {
            write(r::CONTROLLER_REPORT, feed());
        }
    }
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}
