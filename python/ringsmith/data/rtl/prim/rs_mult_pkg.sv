// SPDX-License-Identifier: Apache-2.0
// What the modules around a hardware multiplier share.
package rs_mult_pkg;
  // A way to cut products beside rs_build_pkg::multiplier_e, for modules inside rs_ntt8_row only: no register, tiles
  // and adders are wires.
  localparam int unsigned MultiplierWires = 3;

  // Is the primitive of UltraScale+ instantiated? Its synthesis packs no register and no adder into it by itself.
`ifdef RINGSMITH_DSP48E2
  localparam bit Dsp48e2 = 1'b1;
`else
  localparam bit Dsp48e2 = 1'b0;
`endif
  // Summands z and w of rs_dsp48, as OPMODE of UG579 says them.
  localparam logic [2:0] ZNone = 3'b000;
  localparam logic [2:0] ZAddend = 3'b011;
  localparam logic [2:0] ZChain = 3'b101;
  localparam logic [1:0] WNone = 2'b00;
  localparam logic [1:0] WConstant = 2'b10;
  localparam logic [1:0] WAddend = 2'b11;
endpackage
