// SPDX-License-Identifier: Apache-2.0
// Declaration of Lattice ECP5's multiplier (FPGA-TN-02205, "sysDSP"), for synthesis; rs_mult_tile models it in simulation.
`ifdef SYNTHESIS
(* blackbox *)
module MULT18X18D #(
  parameter string REG_INPUTA_CLK = "NONE",
  parameter string REG_INPUTA_CE  = "CE0",
  parameter string REG_INPUTA_RST = "RST0",
  parameter string REG_INPUTB_CLK = "NONE",
  parameter string REG_INPUTB_CE  = "CE0",
  parameter string REG_INPUTB_RST = "RST0",
  parameter string REG_OUTPUT_CLK = "NONE",
  parameter string REG_OUTPUT_CE  = "CE0",
  parameter string REG_OUTPUT_RST = "RST0"
) (
  input  logic CLK0,
  input  logic CE0,
  input  logic RST0,
  input  logic SIGNEDA,
  input  logic SIGNEDB,
  input  logic SOURCEA,
  input  logic SOURCEB,
  input  logic A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17,
  input  logic B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, B14, B15, B16, B17,
  output logic P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17,
  output logic P18, P19, P20, P21, P22, P23, P24, P25, P26, P27, P28, P29, P30, P31, P32, P33, P34, P35
);
endmodule
`endif
