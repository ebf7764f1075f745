// SPDX-License-Identifier: Apache-2.0
// Small table of constants in LUT RAM: one write port, one read port, as a rule with a register behind it.
//
// Read latency one cycle (Registered) or none, a word every cycle. A word is not read while it is written.
module rs_table #(
  // Bits of a word, 1 or more.
  parameter int unsigned Width = 8,
  // Words, 2 or more.
  parameter int unsigned DepthWords = 32,
  // 0: the word comes in the cycle of its address.
  parameter bit Registered = 1'b1,
  localparam int unsigned AddrBits = $clog2(DepthWords)
) (
  input  logic                clk_i,
  input  logic [AddrBits-1:0] rd_addr_i,
  output logic [   Width-1:0] rd_data_o,
  input  logic                wr_en_i,
  input  logic [AddrBits-1:0] wr_addr_i,
  input  logic [   Width-1:0] wr_data_i
);

  if (DepthWords < 2) begin : gen_depth_check
    $error("%m: DepthWords must be 2 or more");
  end

  (* ram_style = "distributed" *) logic [Width-1:0] mem[DepthWords];

  always_ff @(posedge clk_i) if (wr_en_i) mem[wr_addr_i] <= wr_data_i;
  if (Registered) begin : gen_registered
    always_ff @(posedge clk_i) rd_data_o <= mem[rd_addr_i];
  end else begin : gen_wire
    assign rd_data_o = mem[rd_addr_i];
  end

endmodule
