// SPDX-License-Identifier: Apache-2.0
// Words of a streamed operand between the data port and the products that read them, in every lane.
//
//   memory unit --push--> queue --word_o--> lanes;  the sequencer claims a word as it issues a read, takes it at t1
//
// A claim is granted only for a word that is there, so a product waits at its issue and nowhere else. With drain_i
// words are dropped: they have no reader.
module rs_stream #(
  // Bits of a word of all lanes.
  parameter int unsigned Width = 32,
  // Words held, a power of two.
  parameter int unsigned Depth = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  output logic             push_ready_o,
  input  logic [Width-1:0] word_i,
  // A word is there beyond those claimed; one is claimed; the claim made first is taken.
  output logic             claim_ready_o,
  input  logic             claim_i,
  input  logic             take_i,
  output logic [Width-1:0] word_o,
  input  logic             drain_i
);

  localparam int unsigned LevelBits = $clog2(Depth) + 1;

  logic valid;
  logic [LevelBits-1:0] level, claimed_q;
  rs_fifo #(
    .Width(Width),
    .Depth(Depth)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(push_i),
    .ready_o(push_ready_o),
    .data_i (word_i),
    .valid_o(valid),
    .ready_i(take_i || drain_i),
    .data_o (word_o),
    .level_o(level)
  );

  assign claim_ready_o = level > claimed_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) claimed_q <= '0;
    else claimed_q <= claimed_q + LevelBits'(claim_i) - LevelBits'(take_i);
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !claim_i || claim_ready_o)
  else $error("%m: a word is claimed that is not there");
  assert property (@(posedge clk_i) disable iff (!armed) !take_i || (valid && claimed_q != '0))
  else $error("%m: a word is taken that was not claimed");
  assert property (@(posedge clk_i) disable iff (!armed) !push_i || push_ready_o)
  else $error("%m: a word is lost");
  assert property (@(posedge clk_i) disable iff (!armed) !drain_i || claimed_q == '0)
  else $error("%m: words go nowhere that were claimed");
`else
  logic unused_valid;
  assign unused_valid = valid;
`endif

endmodule
