// SPDX-License-Identifier: Apache-2.0
// The PLL of Lattice ECP5 (FPGA-TN-02200), as far as rs_ecp5_pll uses it: its primary output, fed back. Declared for
// synthesis; rs_ecp5_pll has the model of simulations.
`ifdef SYNTHESIS
(* blackbox *)
module EHXPLLL #(
  parameter int CLKI_DIV        = 1,
  parameter int CLKFB_DIV       = 1,
  parameter int CLKOP_DIV       = 8,
  parameter int CLKOP_CPHASE    = 0,
  parameter int CLKOP_FPHASE    = 0,
  parameter     FEEDBK_PATH     = "CLKOP",
  parameter     CLKOP_ENABLE    = "ENABLED",
  parameter     OUTDIVIDER_MUXA = "DIVA",
  parameter     PLLRST_ENA      = "DISABLED",
  parameter     INTFB_WAKE      = "DISABLED",
  parameter     STDBY_ENABLE    = "DISABLED",
  parameter     DPHASE_SOURCE   = "DISABLED",
  parameter     PLL_LOCK_MODE   = 0
) (
  input  logic CLKI,
  input  logic CLKFB,
  input  logic RST,
  input  logic STDBY,
  input  logic PHASESEL0,
  input  logic PHASESEL1,
  input  logic PHASEDIR,
  input  logic PHASESTEP,
  input  logic PHASELOADREG,
  input  logic PLLWAKESYNC,
  input  logic ENCLKOP,
  output logic CLKOP,
  output logic LOCK
);
endmodule
`endif
