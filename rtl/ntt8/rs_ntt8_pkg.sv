// SPDX-License-Identifier: Apache-2.0
// Generated from spec/ntt8.toml by `python -m ringsmith.gen`; do not edit.
// Register words (byte address / 4) and variants of the 8-point accelerators.
package rs_ntt8_pkg;

  /* verilator lint_off UNUSEDPARAM */
  localparam logic [31:0] Magic = 32'h4E545438;
  // The characters NTT8.
  localparam logic [5:0] WordMagic = 6'd0;
  // Bits 7:0 word bits, 11:8 variant, 23:16 latency in cycles.
  localparam logic [5:0] WordShape = 6'd1;
  // Bit 0 start, bit 1 inverse; INPUT must be written before.
  localparam logic [5:0] WordControl = 6'd2;
  // Bit 0: the result of the last start stands in OUTPUT; bits 15:8 the cycles that it took.
  localparam logic [5:0] WordStatus = 6'd3;
  // Prime modulus, 1 modulo 16.
  localparam logic [5:0] WordModulus = 6'd4;
  // Bit length k of the modulus.
  localparam logic [5:0] WordModulusBits = 6'd5;
  // Floor(2^(k + W + 2) / modulus), low word first.
  localparam logic [5:0] WordBarrett = 6'd6;
  // Psi^brv(i): entry 0 is 1.
  localparam logic [5:0] WordTwiddle = 6'd8;
  // The polynomial, or its evaluations for an inverse.
  localparam logic [5:0] WordInput = 6'd16;
  // The result.
  localparam logic [5:0] WordOutput = 6'd24;
  localparam int unsigned VariantCn = 0;
  localparam int unsigned VariantPn3 = 1;
  localparam int unsigned VariantPn1 = 2;
  localparam int unsigned VariantPn3d = 3;
  localparam int unsigned VariantStream = 4;
  /* verilator lint_on UNUSEDPARAM */

endpackage
