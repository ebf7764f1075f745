// SPDX-License-Identifier: Apache-2.0
// Proof: rs_fifo never loses, invents, changes or reorders a word, whatever its neighbours do (see rs_fifo_checks).
bind rs_fifo rs_fifo_checks #(
  .Width(Width),
  .Depth(Depth)
) u_checks (.*);

module rs_prove_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             clear_i,
  input logic             valid_i,
  input logic [Width-1:0] data_i,
  input logic             ready_i
);
  logic unused_ready, unused_valid;
  logic [Width-1:0] unused_data;
  logic [$clog2(Depth):0] unused_level;

  rs_fifo #(
    .Width(Width),
    .Depth(Depth)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .clear_i,
    .valid_i,
    .ready_o(unused_ready),
    .data_i,
    .valid_o(unused_valid),
    .ready_i,
    .data_o (unused_data),
    .level_o(unused_level)
  );

  // The first step is a reset.
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_comb assume (started_q || !rst_ni);
endmodule
