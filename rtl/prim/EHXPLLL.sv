// SPDX-License-Identifier: Apache-2.0
// The PLL of Lattice ECP5 (FPGA-TN-02200), as far as rs_ecp5_pll uses it: its primary output, fed back. Declared for
// synthesis. In simulation CLKI is taken to be as fast as CLKOP already, and LOCK rises after 16 cycles.
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
`ifndef SYNTHESIS
  if (FEEDBK_PATH != "CLKOP" || CLKOP_ENABLE != "ENABLED" || OUTDIVIDER_MUXA != "DIVA") begin : gen_output_check
    $error("%m: an output of the PLL that has no model");
  end
  if (PLLRST_ENA != "DISABLED" || STDBY_ENABLE != "DISABLED" || INTFB_WAKE != "DISABLED" ||
      DPHASE_SOURCE != "DISABLED" || PLL_LOCK_MODE != 0) begin : gen_mode_check
    $error("%m: a mode of the PLL that has no model");
  end
  if (CLKI_DIV < 1 || CLKFB_DIV < 1 || CLKOP_DIV < 1 || CLKOP_CPHASE < 0 || CLKOP_FPHASE < 0) begin : gen_divisor_check
    $error("%m: divisors must be at least 1 and phases at least 0");
  end
  // What a steady output of that rate does not depend on.
  wire unused = &{1'b0, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP};
  logic [4:0] cycles_q;
  initial cycles_q = '0;
  always @(posedge CLKI) if (!cycles_q[4]) cycles_q <= cycles_q + 5'd1;
  assign CLKOP = CLKI;
  assign LOCK  = cycles_q[4];
`endif
endmodule
