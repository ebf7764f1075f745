// SPDX-License-Identifier: Apache-2.0
// A clock from another on Lattice ECP5: clk_o is clk_i times FeedbackDiv over InputDiv. The only instance of EHXPLLL.
//
// In simulation clk_i is taken to be as fast as clk_o already (see EHXPLLL).
// locked_o is high once clk_o is steady; before, it may be anything but a steady clock. The oscillator inside runs at
// clk_o times OutputDiv, 400 to 800 MHz; clk_i over InputDiv is 3.125 to 400 MHz. What chooses the divisors sees to it.
module rs_ecp5_pll #(
  // Legal: 1..80.
  parameter int unsigned InputDiv = 1,
  // Legal: 1..80.
  parameter int unsigned FeedbackDiv = 2,
  // Legal: 1..128.
  parameter int unsigned OutputDiv = 12
) (
  input  logic clk_i,
  output logic clk_o,
  output logic locked_o
);

  if (!(InputDiv inside {[1 : 80]})) begin : gen_input_check
    $error("%m: InputDiv must be from 1 to 80");
  end
  if (!(FeedbackDiv inside {[1 : 80]})) begin : gen_feedback_check
    $error("%m: FeedbackDiv must be from 1 to 80");
  end
  if (!(OutputDiv inside {[1 : 128]})) begin : gen_output_check
    $error("%m: OutputDiv must be from 1 to 128");
  end

  logic clk;
  (* ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
    .CLKI_DIV(InputDiv),
    .CLKFB_DIV(FeedbackDiv),
    .CLKOP_DIV(OutputDiv),
    // Half a cycle of the oscillator per step: the edge of the output at that of the input.
    .CLKOP_CPHASE(OutputDiv - 1)
  ) u_pll (
    .CLKI(clk_i),
    .CLKFB(clk),
    .RST(1'b0),
    .STDBY(1'b0),
    .PHASESEL0(1'b0),
    .PHASESEL1(1'b0),
    .PHASEDIR(1'b0),
    .PHASESTEP(1'b0),
    .PHASELOADREG(1'b0),
    .PLLWAKESYNC(1'b0),
    .ENCLKOP(1'b0),
    .CLKOP(clk),
    .LOCK(locked_o)
  );
  assign clk_o = clk;

endmodule
