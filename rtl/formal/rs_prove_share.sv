// SPDX-License-Identifier: Apache-2.0
// Proof: rs_port_share is fair whatever its cores and its port do (see rs_share_checks).
bind rs_port_share rs_share_checks #(
  .Cores   (Cores),
  .CoreBits(CoreBits)
) u_checks (
  .clk_i,
  .rst_ni,
  .req_valid_i,
  .req_ready_o,
  .ld_valid_o,
  .st_ready_o,
  .st_done_o,
  .busy_o,
  .req_valid_o,
  .req_ready_i,
  .req_store_o,
  .state_q(gen_share.state_q),
  .owner_q(gen_share.owner_q),
  .first_q(gen_share.first_q),
  .part_q (gen_share.part_q),
  .live_q (gen_share.live_q)
);

module rs_prove_share #(
  parameter int unsigned Cores = 3
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic [Cores-1:0]       core_rst_ni,
  input logic [Cores-1:0][63:0] base_i,
  input logic [Cores-1:0]       req_valid_i,
  input logic [Cores-1:0]       req_store_i,
  input logic [Cores-1:0][19:0] req_buf_i,
  input logic [Cores-1:0][ 3:0] req_logn_i,
  input logic [Cores-1:0]       ld_ready_i,
  input logic [Cores-1:0]       st_valid_i,
  input logic [Cores-1:0][ 7:0] st_data_i,
  input logic                   idle_i,
  input logic                   req_ready_i,
  input logic                   ld_valid_i,
  input logic                   st_ready_i,
  input logic                   st_done_i
);
  logic [Cores-1:0] unused_req_ready, unused_ld_valid, unused_st_ready, unused_st_done, unused_busy;
  logic [63:0] unused_base;
  logic unused_abort, unused_req_valid, unused_req_store, unused_ld_ready, unused_st_valid;
  logic [19:0] unused_buf;
  logic [ 3:0] unused_logn;
  logic [ 7:0] unused_data;

  rs_port_share #(
    .Cores   (Cores),
    .PortBits(8)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .core_rst_ni,
    .base_i,
    .req_valid_i,
    .req_ready_o(unused_req_ready),
    .req_store_i,
    .req_buf_i,
    .req_logn_i,
    .ld_valid_o (unused_ld_valid),
    .ld_ready_i,
    .st_valid_i,
    .st_ready_o (unused_st_ready),
    .st_data_i,
    .st_done_o  (unused_st_done),
    .busy_o     (unused_busy),
    .base_o     (unused_base),
    .abort_o    (unused_abort),
    .idle_i,
    .req_valid_o(unused_req_valid),
    .req_ready_i,
    .req_store_o(unused_req_store),
    .req_buf_o  (unused_buf),
    .req_logn_o (unused_logn),
    .ld_valid_i,
    .ld_ready_o (unused_ld_ready),
    .st_valid_o (unused_st_valid),
    .st_ready_i,
    .st_data_o  (unused_data),
    .st_done_i
  );

  // The first step is a reset.
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_comb assume (started_q || !rst_ni);
endmodule
