// SPDX-License-Identifier: Apache-2.0
// Declaration of the multiplier of Xilinx UltraScale+ (UG579), as far as it is used, for synthesis; rs_mac_tile models
// it in simulation.
`ifdef SYNTHESIS
(* blackbox *)
module DSP48E2 #(
  parameter int ACASCREG      = 1,
  parameter int ADREG         = 1,
  parameter int ALUMODEREG    = 1,
  parameter int AREG          = 1,
  parameter int BCASCREG      = 1,
  parameter int BREG          = 1,
  parameter int CARRYINREG    = 1,
  parameter int CARRYINSELREG = 1,
  parameter int CREG          = 1,
  parameter int DREG          = 1,
  parameter int INMODEREG     = 1,
  parameter int MREG          = 1,
  parameter int OPMODEREG     = 1,
  parameter int PREG          = 1
) (
  input logic CLK,
  input logic [29:0] A,
  input logic [17:0] B,
  input logic [47:0] C,
  input logic [26:0] D,
  input logic [3:0] ALUMODE,
  input logic CARRYIN,
  input logic [2:0] CARRYINSEL,
  input logic [4:0] INMODE,
  input logic [8:0] OPMODE,
  input logic CEA1,
  input logic CEA2,
  input logic CEAD,
  input logic CEALUMODE,
  input logic CEB1,
  input logic CEB2,
  input logic CEC,
  input logic CECARRYIN,
  input logic CECTRL,
  input logic CED,
  input logic CEINMODE,
  input logic CEM,
  input logic CEP,
  input logic RSTA,
  input logic RSTALLCARRYIN,
  input logic RSTALUMODE,
  input logic RSTB,
  input logic RSTC,
  input logic RSTCTRL,
  input logic RSTD,
  input logic RSTINMODE,
  input logic RSTM,
  input logic RSTP,
  output logic [47:0] P
);
endmodule
`endif
