// SPDX-License-Identifier: Apache-2.0
// Two AXI4-Lite masters in front of one slave: the host (0) and the on-chip controller (1).
//
//   master 0 --+
//              +--> slave       writes and reads apart, one of each at a time, in turns where both ask
//   master 1 --+
//
// A write belongs to a master from its address or data to its answer, a read from its address to its answer. An access
// takes one cycle more than without the arbiter; between a request and its turn lies at most one access of the other.
module rs_axil_arbiter #(
  localparam int unsigned Masters = 2
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // The masters'.
  input  logic [Masters-1:0]       s_axil_awvalid_i,
  output logic [Masters-1:0]       s_axil_awready_o,
  input  logic [Masters-1:0][11:0] s_axil_awaddr_i,
  input  logic [Masters-1:0]       s_axil_wvalid_i,
  output logic [Masters-1:0]       s_axil_wready_o,
  input  logic [Masters-1:0][31:0] s_axil_wdata_i,
  input  logic [Masters-1:0][ 3:0] s_axil_wstrb_i,
  output logic [Masters-1:0]       s_axil_bvalid_o,
  input  logic [Masters-1:0]       s_axil_bready_i,
  output logic [        1:0]       s_axil_bresp_o,
  input  logic [Masters-1:0]       s_axil_arvalid_i,
  output logic [Masters-1:0]       s_axil_arready_o,
  input  logic [Masters-1:0][11:0] s_axil_araddr_i,
  output logic [Masters-1:0]       s_axil_rvalid_o,
  input  logic [Masters-1:0]       s_axil_rready_i,
  output logic [       31:0]       s_axil_rdata_o,
  output logic [        1:0]       s_axil_rresp_o,
  // The slave's.
  output logic                     axil_awvalid_o,
  input  logic                     axil_awready_i,
  output logic [       11:0]       axil_awaddr_o,
  output logic                     axil_wvalid_o,
  input  logic                     axil_wready_i,
  output logic [       31:0]       axil_wdata_o,
  output logic [        3:0]       axil_wstrb_o,
  input  logic                     axil_bvalid_i,
  output logic                     axil_bready_o,
  input  logic [        1:0]       axil_bresp_i,
  output logic                     axil_arvalid_o,
  input  logic                     axil_arready_i,
  output logic [       11:0]       axil_araddr_o,
  input  logic                     axil_rvalid_i,
  output logic                     axil_rready_o,
  input  logic [       31:0]       axil_rdata_i,
  input  logic [        1:0]       axil_rresp_i
);
  // ------------------------------------------------------------------------------------------------------------ writes
  logic wr_busy_q, wr_owner_q, aw_taken_q, w_taken_q, b_take;
  logic [Masters-1:0] wr_asks;

  assign wr_asks        = s_axil_awvalid_i | s_axil_wvalid_i;
  assign axil_awvalid_o = wr_busy_q && !aw_taken_q && s_axil_awvalid_i[wr_owner_q];
  assign axil_wvalid_o  = wr_busy_q && !w_taken_q && s_axil_wvalid_i[wr_owner_q];
  assign axil_bready_o  = wr_busy_q && s_axil_bready_i[wr_owner_q];
  assign axil_awaddr_o  = s_axil_awaddr_i[wr_owner_q];
  assign axil_wdata_o   = s_axil_wdata_i[wr_owner_q];
  assign axil_wstrb_o   = s_axil_wstrb_i[wr_owner_q];
  assign s_axil_bresp_o = axil_bresp_i;
  assign b_take         = axil_bvalid_i && axil_bready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_busy_q  <= 1'b0;
      wr_owner_q <= 1'b0;
      aw_taken_q <= 1'b0;
      w_taken_q  <= 1'b0;
    end else if (!wr_busy_q) begin
      wr_busy_q  <= wr_asks != '0;
      wr_owner_q <= wr_asks[!wr_owner_q] ? !wr_owner_q : wr_owner_q;
    end else begin
      wr_busy_q  <= !b_take;
      aw_taken_q <= (aw_taken_q || (axil_awvalid_o && axil_awready_i)) && !b_take;
      w_taken_q  <= (w_taken_q || (axil_wvalid_o && axil_wready_i)) && !b_take;
    end
  end

  // ------------------------------------------------------------------------------------------------------------- reads
  logic rd_busy_q, rd_owner_q, ar_taken_q, r_take;

  assign axil_arvalid_o = rd_busy_q && !ar_taken_q && s_axil_arvalid_i[rd_owner_q];
  assign axil_rready_o  = rd_busy_q && s_axil_rready_i[rd_owner_q];
  assign axil_araddr_o  = s_axil_araddr_i[rd_owner_q];
  assign s_axil_rdata_o = axil_rdata_i;
  assign s_axil_rresp_o = axil_rresp_i;
  assign r_take         = axil_rvalid_i && axil_rready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_busy_q  <= 1'b0;
      rd_owner_q <= 1'b0;
      ar_taken_q <= 1'b0;
    end else if (!rd_busy_q) begin
      rd_busy_q  <= s_axil_arvalid_i != '0;
      rd_owner_q <= s_axil_arvalid_i[!rd_owner_q] ? !rd_owner_q : rd_owner_q;
    end else begin
      rd_busy_q  <= !r_take;
      ar_taken_q <= (ar_taken_q || (axil_arvalid_o && axil_arready_i)) && !r_take;
    end
  end

  for (genvar m = 0; m < Masters; m++) begin : gen_master
    assign s_axil_awready_o[m] = axil_awvalid_o && axil_awready_i && wr_owner_q == 1'(m);
    assign s_axil_wready_o[m]  = axil_wvalid_o && axil_wready_i && wr_owner_q == 1'(m);
    assign s_axil_bvalid_o[m]  = wr_busy_q && axil_bvalid_i && wr_owner_q == 1'(m);
    assign s_axil_arready_o[m] = axil_arvalid_o && axil_arready_i && rd_owner_q == 1'(m);
    assign s_axil_rvalid_o[m]  = rd_busy_q && axil_rvalid_i && rd_owner_q == 1'(m);
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) axil_bvalid_i |-> wr_busy_q && aw_taken_q && w_taken_q)
  else $error("%m: a write answer that nobody waits for");
  assert property (@(posedge clk_i) disable iff (!armed) axil_rvalid_i |-> rd_busy_q && ar_taken_q)
  else $error("%m: a read answer that nobody waits for");
  assert property (@(posedge clk_i) disable iff (!armed) wr_busy_q && !b_take |=> wr_busy_q && $stable(wr_owner_q))
  else $error("%m: a write changed hands");
  assert property (@(posedge clk_i) disable iff (!armed) rd_busy_q && !r_take |=> rd_busy_q && $stable(rd_owner_q))
  else $error("%m: a read changed hands");
`endif
endmodule
