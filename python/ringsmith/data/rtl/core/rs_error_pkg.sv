// SPDX-License-Identifier: Apache-2.0
// Generated from spec/registers.rdl by `python -m ringsmith.hw.registers`; do not edit.
// Why the core stops, as the error register shows it.
package rs_error_pkg;

  typedef enum logic [3:0] {
    // none
    ErrNone = 4'd0,
    // illegal opcode or not in this build
    ErrOpcode = 4'd1,
    // ring degree out of range
    ErrDegree = 4'd2,
    // bad slot number
    ErrSlot = 4'd3,
    // bad modulus, constant or conversion index, never set, or a conversion of the other kind
    ErrIndex = 4'd4,
    // illegal combination of slots
    ErrCombination = 4'd5,
    // slot or twiddle table never written
    ErrUnwritten = 4'd6,
    // bus error
    ErrBus = 4'd7,
    // command queue overflow
    ErrOverflow = 4'd8,
    // host buffer ends beyond the addresses of the data port
    ErrAddress = 4'd9
  } error_e;

endpackage
