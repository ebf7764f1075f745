// SPDX-License-Identifier: Apache-2.0
// For assertions alone: tells that the block has been reset once and is out of reset now.
//
// Until its first reset a block holds anything, and simulators that start at random also make edges of their own at
// time 0: what an assertion would say then means nothing. Not for synthesis.
module rs_reset_seen (
  input  logic clk_i,
  input  logic rst_ni,
  output logic seen_o
);

  logic seen_q;
  initial seen_q = 1'b0;
  always @(posedge clk_i or negedge rst_ni) if (!rst_ni) seen_q <= 1'b1;
  assign seen_o = rst_ni && seen_q;

endmodule
