// SPDX-License-Identifier: Apache-2.0
// Proof: rs_port_share is fair whatever its cores and its port do (see rs_share_checks).
bind rs_port_share rs_share_checks #(
  .Cores   (Cores),
  .CoreBits(CoreBits)
) u_checks (
  .clk_i,
  .rst_ni,
  .core_i,
  .core_o,
  .busy_o,
  .port_o,
  .port_i,
  .state_q(gen_share.state_q),
  .owner_q(gen_share.owner_q),
  .first_q(gen_share.first_q),
  .part_q (gen_share.part_q),
  .live_q (gen_share.live_q)
);

module rs_prove_share
  import rs_bundle_pkg::*;
#(
  parameter int unsigned Cores = 3
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input logic      [Cores-1:0]       core_rst_ni,
  input logic      [Cores-1:0][63:0] base_i,
  input port_req_t [Cores-1:0]       core_i,
  input logic      [Cores-1:0][ 7:0] st_data_i,
  input logic                        idle_i,
  input port_rsp_t                   port_i
);
  rs_port_share #(
    .Cores   (Cores),
    .PortBits(8)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .core_rst_ni,
    .base_i,
    .core_i,
    .core_o   (),
    .st_data_i,
    .busy_o   (),
    .base_o   (),
    .abort_o  (),
    .idle_i,
    .port_o   (),
    .port_i,
    .st_data_o()
  );

  // The first step is a reset.
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_comb assume (started_q || !rst_ni);
endmodule
