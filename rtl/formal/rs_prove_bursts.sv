// SPDX-License-Identifier: Apache-2.0
// Proof: rs_axi_bursts cuts a transfer of any size into bursts that AXI4 allows, and that cover it: each has at most
// 256 whole, aligned beats and stays inside 4096 bytes,
// and every stretch's bursts follow each other from its start to its end.
bind rs_axi_bursts rs_bursts_checks #(
  .AddrWidth (AddrWidth),
  .BeatBytes (BeatBytes),
  .Stretches (Stretches),
  .StrideLog2(StrideLog2),
  .Contiguous(Contiguous)
) u_checks (.*);

module rs_prove_bursts #(
  // A beat; the widest polynomials, of 2^15 coefficients of 16 bytes.
  parameter  int unsigned BeatBytes  = 16,
  parameter  int unsigned StrideLog2 = 19,
  parameter  bit          Contiguous = 1'b0,
  localparam int unsigned AddrWidth  = 40
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 start_i,
  input logic [AddrWidth-1:0] address_i,
  input logic [          4:0] log2_bytes_i,
  input logic                 stop_i,
  input logic                 ready_i
);
  logic unused_idle, unused_valid;
  logic [AddrWidth-1:0] unused_address;
  logic [7:0] unused_length;

  rs_axi_bursts #(
    .AddrWidth (AddrWidth),
    .BeatBytes (BeatBytes),
    .Stretches (3),
    .StrideLog2(StrideLog2),
    .Contiguous(Contiguous)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .address_i,
    .log2_bytes_i,
    .stop_i,
    .idle_o   (unused_idle),
    .valid_o  (unused_valid),
    .ready_i,
    .address_o(unused_address),
    .length_o (unused_length)
  );

  // The first step is a reset.
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_comb assume (started_q || !rst_ni);
endmodule
