// SPDX-License-Identifier: Apache-2.0
// Generated from spec/controller.rdl by `python -m ringsmith.hw.registers`; do not edit.
//! Register addresses and fields: ringsmith on-chip controller.

/// What the controller is.
pub const CONTROLLER: u32 = 0x800;
/// Words of its memory, from address 0 on: firmware and program.
pub const CONTROLLER_WORDS: (u32, u32) = (0, 16);

/// Runs the controller.
pub const CONTROLLER_CONTROL: u32 = 0x804;
/// 1: the firmware runs; 0: the processor is held in reset, its error is forgotten.
pub const CONTROLLER_CONTROL_RUN: (u32, u32) = (0, 1);
/// Have the firmware feed the program that PROGRAM names; forgets how the last one ended.
pub const CONTROLLER_CONTROL_START: (u32, u32) = (1, 1);
/// Take the interrupt line back; STATUS stays.
pub const CONTROLLER_CONTROL_ACKNOWLEDGE: (u32, u32) = (2, 1);

/// State of the controller; done and failed raise the interrupt line.
pub const CONTROLLER_STATUS: u32 = 0x808;
/// A program has been started and has not ended.
pub const CONTROLLER_STATUS_BUSY: (u32, u32) = (0, 1);
/// The program has ended: the core is idle.
pub const CONTROLLER_STATUS_DONE: (u32, u32) = (1, 1);
/// The controller has stopped: see CONTROLLER_ERROR.
pub const CONTROLLER_STATUS_FAILED: (u32, u32) = (2, 1);

/// Why the controller stopped, since the last start.
pub const CONTROLLER_ERROR: u32 = 0x80c;
/// Cause.
pub const CONTROLLER_ERROR_CAUSE: (u32, u32) = (0, 8);

/// Address of the access that stopped the controller.
pub const CONTROLLER_ERROR_ADDRESS: u32 = 0x810;

/// How the program ended; the firmware writes it.
pub const CONTROLLER_REPORT: u32 = 0x814;
/// 0: it is done; else the cause.
pub const CONTROLLER_REPORT_CAUSE: (u32, u32) = (0, 8);

/// The program: instructions in the controller's memory, two words each, the low half first.
pub const CONTROLLER_PROGRAM: u32 = 0x818;
/// Address of the first word.
pub const CONTROLLER_PROGRAM_ADDRESS: (u32, u32) = (0, 16);
/// Instructions.
pub const CONTROLLER_PROGRAM_COUNT: (u32, u32) = (16, 16);

/// Where the next CONTROLLER_DATA goes: a multiple of 4; addresses beyond the memory wrap around.
pub const CONTROLLER_ADDRESS: u32 = 0x81c;
/// Address.
pub const CONTROLLER_ADDRESS_VALUE: (u32, u32) = (0, 16);

/// Writes a word of the controller's memory; CONTROLLER_ADDRESS moves on by 4.
pub const CONTROLLER_DATA: u32 = 0x820;
