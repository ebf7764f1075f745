// SPDX-License-Identifier: Apache-2.0
// From memory words of P coefficients to groups of RnsRate, in order; a group stays until the next is taken.
//
// take_i makes the next group visible in the next cycle. load_i says that a word arrives: with each group's take where
// RnsRate is P, with every P/RnsRate-th where it is less; RnsRate/P words a group where it is more, the last one with
// the take.
module rs_rns_group #(
  // Bits of a coefficient.
  parameter int unsigned W = 32,
  // Coefficients of a word and of a group, powers of two.
  parameter int unsigned P = 2,
  parameter int unsigned RnsRate = 2
) (
  input  logic                      clk_i,
  input  logic                      load_i,
  input  logic                      take_i,
  input  logic [      P-1:0][W-1:0] word_i,
  output logic [RnsRate-1:0][W-1:0] group_o
);

  if (P < 1 || RnsRate < 1 || (P & (P - 1)) != 0 || (RnsRate & (RnsRate - 1)) != 0) begin : gen_power_check
    $error("%m: P and RnsRate must be powers of two");
  end

  if (RnsRate == P) begin : gen_same
    always_ff @(posedge clk_i) if (take_i) group_o <= word_i;
    logic unused_load;
    assign unused_load = load_i;
  end else if (RnsRate < P) begin : gen_split
    logic [P-1:0][W-1:0] word_q;
    always_ff @(posedge clk_i) if (take_i) word_q <= load_i ? word_i : word_q >> (RnsRate * W);
    assign group_o = word_q[RnsRate-1:0];
  end else begin : gen_join
    localparam int unsigned Early = RnsRate - P;
    logic [  Early-1:0][W-1:0] early_q;
    logic [RnsRate-1:0][W-1:0] all;
    assign all = {word_i, early_q};
    always_ff @(posedge clk_i) begin
      if (load_i) early_q <= all[RnsRate-1:P];
      if (take_i) group_o <= all;
    end
  end

`ifndef SYNTHESIS
  // Pins start with anything, and a simulator may make an edge of its own before they are driven.
  logic [1:0] edges_q;
  initial edges_q = '0;
  always @(posedge clk_i) if (edges_q != '1) edges_q <= edges_q + 1'b1;
  assert property (@(posedge clk_i) disable iff (edges_q != '1) RnsRate < P || !take_i || load_i)
  else $error("%m: a group is taken before its last word");
`endif

endmodule
