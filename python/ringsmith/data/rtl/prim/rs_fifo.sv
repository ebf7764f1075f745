// SPDX-License-Identifier: Apache-2.0
// First-in first-out queue in registers; the head is visible without a read (first word falls through).
//
// A word is taken when valid_i and ready_o, given away when valid_o and ready_i. Words never overtake, none is lost.
// Latency: one cycle from taking a word to showing it. clear_i empties the queue.
module rs_fifo #(
  // Bits of a word, 1 or more.
  parameter int unsigned Width = 8,
  // Words held, a power of two from 2 to 1024.
  parameter int unsigned Depth = 4,
  localparam int unsigned LevelBits = $clog2(Depth) + 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [    Width-1:0] data_i,
  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [    Width-1:0] data_o,
  output logic [LevelBits-1:0] level_o
);

  if (Depth < 2 || Depth > 1024 || (Depth & (Depth - 1)) != 0) begin : gen_depth_check
    $error("%m: Depth must be a power of two from 2 to 1024");
  end

  localparam int unsigned AddrBits = $clog2(Depth);

  logic [AddrBits-1:0] head_q, tail_q;
  logic [LevelBits-1:0] level_q;
  logic [Width-1:0] words_q[Depth];
  logic push, pop;

  assign ready_o = level_q != LevelBits'(Depth);
  assign valid_o = level_q != '0;
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;
  assign data_o  = words_q[head_q];
  assign level_o = level_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q  <= '0;
      tail_q  <= '0;
      level_q <= '0;
    end else if (clear_i) begin
      head_q  <= '0;
      tail_q  <= '0;
      level_q <= '0;
    end else begin
      if (pop) head_q <= head_q + 1'b1;
      if (push) tail_q <= tail_q + 1'b1;
      level_q <= level_q + LevelBits'(push) - LevelBits'(pop);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) words_q[tail_q] <= data_i;
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  // The level is the distance of the pointers, modulo Depth.
  assert property (@(posedge clk_i) disable iff (!armed) level_q[AddrBits-1:0] == AddrBits'(tail_q - head_q))
  else $error("%m: level and pointers disagree");
  assert property (@(posedge clk_i) disable iff (!armed) level_q <= LevelBits'(Depth))
  else $error("%m: more words than Depth");
  assert property (@(posedge clk_i) disable iff (!armed) valid_o && !ready_i && !clear_i |=> valid_o && $stable(data_o))
  else $error("%m: the head changes before it is taken");
`endif

endmodule
