// SPDX-License-Identifier: Apache-2.0
// Generated from spec/ntt8.rdl by `python -m ringsmith.hw.registers`; do not edit.
// Register words (byte address / 4) of the 8-point accelerators.
package rs_ntt8_pkg;

  /* verilator lint_off UNUSEDPARAM */
  localparam logic [31:0] Magic = 32'h4E545438;
  // The characters NTT8: anything else is no 8-point accelerator.
  localparam logic [5:0] WordMagic = 6'd0;
  // Shape of the build. Legal values of its fields: docs/knobs.md.
  localparam logic [5:0] WordShape = 6'd1;
  // Start; INPUT must be written before.
  localparam logic [5:0] WordControl = 6'd2;
  // Result of the last start.
  localparam logic [5:0] WordStatus = 6'd3;
  // Prime modulus, 1 modulo 16.
  localparam logic [5:0] WordModulus = 6'd4;
  // Bit length k of the modulus.
  localparam logic [5:0] WordModulusBits = 6'd5;
  // Reciprocal floor(2^(k + W + 2) / modulus), low word first.
  localparam logic [5:0] WordBarrett = 6'd6;
  // Twiddle table psi^brv(i): entry 0 is 1.
  localparam logic [5:0] WordTwiddle = 6'd8;
  // The polynomial, or its evaluations for an inverse.
  localparam logic [5:0] WordInput = 6'd16;
  // The result.
  localparam logic [5:0] WordOutput = 6'd24;
  /* verilator lint_on UNUSEDPARAM */

endpackage
