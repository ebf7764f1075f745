// SPDX-License-Identifier: Apache-2.0
// Simple dual-port memory: one read and one write port, the only template for it in the design.
//
// Read latency one cycle. Reading the word that is written in the same cycle gives the old or the new word: no module
// does that.
module rs_ram_1r1w #(
  // Bits of a word, 1 or more.
  parameter int unsigned Width = 8,
  // Words, 2 or more.
  parameter int unsigned DepthWords = 4,
  localparam int unsigned AddrBits = $clog2(DepthWords)
) (
  input  logic                clk_i,
  input  logic                rd_en_i,
  input  logic [AddrBits-1:0] rd_addr_i,
  output logic [   Width-1:0] rd_data_o,
  input  logic                wr_en_i,
  input  logic [AddrBits-1:0] wr_addr_i,
  input  logic [   Width-1:0] wr_data_i
);

  if (DepthWords < 2) begin : gen_depth_check
    $error("%m: DepthWords must be 2 or more");
  end

  (* no_rw_check *) logic [Width-1:0] mem[DepthWords];

  always_ff @(posedge clk_i) begin
    if (wr_en_i) mem[wr_addr_i] <= wr_data_i;
    if (rd_en_i) rd_data_o <= mem[rd_addr_i];
  end

`ifndef SYNTHESIS
  // Before its first edge the registers in front hold anything.
  logic started_q;
  initial started_q = 1'b0;
  always @(posedge clk_i) started_q <= 1'b1;
  assert property (@(posedge clk_i) disable iff (!started_q) !(rd_en_i && wr_en_i && rd_addr_i == wr_addr_i))
  else $error("%m: a word is read while it is written");
`endif

endmodule
