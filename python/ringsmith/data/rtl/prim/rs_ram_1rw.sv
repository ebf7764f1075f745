// SPDX-License-Identifier: Apache-2.0
// Single-port memory: one access a cycle, the only template for it in the design.
//
// Read latency one cycle; a cycle that writes leaves rd_data_o as it is.
// Both enables at once are a fault of the parent.
module rs_ram_1rw #(
  // Bits of a word, 1 or more.
  parameter int unsigned Width = 8,
  // Words, 2 or more.
  parameter int unsigned DepthWords = 4,
  localparam int unsigned AddrBits = $clog2(DepthWords)
) (
  input  logic                clk_i,
  input  logic                rd_en_i,
  input  logic                wr_en_i,
  input  logic [AddrBits-1:0] addr_i,
  input  logic [   Width-1:0] wr_data_i,
  output logic [   Width-1:0] rd_data_o
);

  if (DepthWords < 2) begin : gen_depth_check
    $error("%m: DepthWords must be 2 or more");
  end

  // A read excluded by a write looks like LUT RAM to synthesis, which has no such shape at these depths.
  // Where the device has UltraRAM, a memory goes there that is deep enough for half of a block.
`ifdef RINGSMITH_URAM
  localparam bit Ultra = DepthWords >= 2048;
`else
  localparam bit Ultra = 1'b0;
`endif
  localparam string Style = Ultra ? "ultra" : "block";
  (* ram_style = Style *)
  logic [Width-1:0] mem[DepthWords];

  always_ff @(posedge clk_i) begin
    if (wr_en_i) mem[addr_i] <= wr_data_i;
    else if (rd_en_i) rd_data_o <= mem[addr_i];
  end

`ifndef SYNTHESIS
  // Attributes are for synthesis.
  logic unused_style;
  assign unused_style = Style == "ultra";

  // Before its first edge the registers in front hold anything.
  logic started_q;
  initial started_q = 1'b0;
  always @(posedge clk_i) started_q <= 1'b1;
  assert property (@(posedge clk_i) disable iff (!started_q) !(rd_en_i && wr_en_i))
  else $error("%m: read and write in one cycle");
`endif

endmodule
