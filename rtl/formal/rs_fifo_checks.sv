// SPDX-License-Identifier: Apache-2.0
// Checks bound into rs_fifo: words leave in the order they came, each once, none is lost and none invented.
//
// Words are numbered as they come; an arbitrary number is watched. Its word is noted on the way in and compared on the
// way out. The other assertions track its place in between, which makes the proof inductive.
module rs_fifo_checks #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4,
  localparam int unsigned AddrBits = $clog2(Depth),
  localparam int unsigned LevelBits = AddrBits + 1
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 clear_i,
  input logic                 valid_i,
  input logic                 ready_o,
  input logic [    Width-1:0] data_i,
  input logic                 valid_o,
  input logic                 ready_i,
  input logic [    Width-1:0] data_o,
  input logic [ AddrBits-1:0] head_q,
  input logic [ AddrBits-1:0] tail_q,
  input logic [LevelBits-1:0] level_q,
  input logic [    Width-1:0] words_q[Depth]
);
  // Never assigned: any value, the same for ever.
  logic [LevelBits-1:0] watched_q;
  logic [Width-1:0] noted_q;
  logic [LevelBits-1:0] in_q, out_q, ahead;
  logic push, pop, queued;

  assign push   = valid_i && ready_o;
  assign pop    = valid_o && ready_i;
  assign ahead  = watched_q - out_q;
  assign queued = ahead < level_q;

  always_ff @(posedge clk_i) watched_q <= watched_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_q    <= '0;
      out_q   <= '0;
      noted_q <= '0;
    end else if (clear_i) begin
      in_q  <= '0;
      out_q <= '0;
    end else begin
      in_q  <= in_q + LevelBits'(push);
      out_q <= out_q + LevelBits'(pop);
      if (push && in_q == watched_q) noted_q <= data_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // None lost, none invented: what is inside is what came less what left; full and empty are told truly.
      assert (LevelBits'(in_q - out_q) == level_q && 32'(level_q) <= Depth);
      assert (ready_o == (32'(level_q) != Depth) && valid_o == (level_q != '0));
      assert (head_q == out_q[AddrBits-1:0] && tail_q == in_q[AddrBits-1:0]);
      if (queued) assert (words_q[watched_q[AddrBits-1:0]] == noted_q);
      // In order, unchanged: the word that leaves is the one noted under its number.
      if (pop && out_q == watched_q) assert (data_o == noted_q);
    end
  end
endmodule
