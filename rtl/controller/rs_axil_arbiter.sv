// SPDX-License-Identifier: Apache-2.0
// Two AXI4-Lite masters in front of one slave: the host (0) and the on-chip controller (1).
//
//   master 0 --+
//              +--> slave       writes and reads apart, one of each at a time, in turns where both ask
//   master 1 --+
//
// A write belongs to a master from its address or data to its answer, a read from its address to its answer. An access
// takes one cycle more than without the arbiter; between a request and its turn lies at most one access of the other.
module rs_axil_arbiter
  import rs_axil_pkg::*;
#(
  localparam int unsigned Masters = 2
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  // The masters'.
  input  axil_req_t [Masters-1:0] s_axil_i,
  output axil_rsp_t [Masters-1:0] s_axil_o,
  // The slave's.
  output axil_req_t               axil_o,
  input  axil_rsp_t               axil_i
);
  // The masters' signals, a bit for each.
  logic [Masters-1:0] wr_asks, rd_asks;
  for (genvar m = 0; m < Masters; m++) begin : gen_asks
    assign wr_asks[m] = s_axil_i[m].awvalid || s_axil_i[m].wvalid;
    assign rd_asks[m] = s_axil_i[m].arvalid;
  end

  logic wr_busy_q, wr_owner_q, aw_taken_q, w_taken_q, b_take, rd_busy_q, rd_owner_q, ar_taken_q, r_take;

  // What the owner drives, as far as it is its turn.
  assign axil_o = '{
          awvalid: wr_busy_q && !aw_taken_q && s_axil_i[wr_owner_q].awvalid,
          awaddr: s_axil_i[wr_owner_q].awaddr,
          wvalid: wr_busy_q && !w_taken_q && s_axil_i[wr_owner_q].wvalid,
          wdata: s_axil_i[wr_owner_q].wdata,
          wstrb: s_axil_i[wr_owner_q].wstrb,
          bready: wr_busy_q && s_axil_i[wr_owner_q].bready,
          arvalid: rd_busy_q && !ar_taken_q && s_axil_i[rd_owner_q].arvalid,
          araddr: s_axil_i[rd_owner_q].araddr,
          rready: rd_busy_q && s_axil_i[rd_owner_q].rready
      };
  assign b_take = axil_i.bvalid && axil_o.bready;
  assign r_take = axil_i.rvalid && axil_o.rready;

  // Writes: the owner.
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
      aw_taken_q <= (aw_taken_q || (axil_o.awvalid && axil_i.awready)) && !b_take;
      w_taken_q  <= (w_taken_q || (axil_o.wvalid && axil_i.wready)) && !b_take;
    end
  end

  // Reads: the owner.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_busy_q  <= 1'b0;
      rd_owner_q <= 1'b0;
      ar_taken_q <= 1'b0;
    end else if (!rd_busy_q) begin
      rd_busy_q  <= rd_asks != '0;
      rd_owner_q <= rd_asks[!rd_owner_q] ? !rd_owner_q : rd_owner_q;
    end else begin
      rd_busy_q  <= !r_take;
      ar_taken_q <= (ar_taken_q || (axil_o.arvalid && axil_i.arready)) && !r_take;
    end
  end

  for (genvar m = 0; m < Masters; m++) begin : gen_master
    assign s_axil_o[m] = '{
        awready: axil_o.awvalid && axil_i.awready && wr_owner_q == 1'(m),
        wready: axil_o.wvalid && axil_i.wready && wr_owner_q == 1'(m),
        bvalid: wr_busy_q && axil_i.bvalid && wr_owner_q == 1'(m),
        bresp: axil_i.bresp,
        arready: axil_o.arvalid && axil_i.arready && rd_owner_q == 1'(m),
        rvalid: rd_busy_q && axil_i.rvalid && rd_owner_q == 1'(m),
        rdata: axil_i.rdata,
        rresp: axil_i.rresp
      };
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) axil_i.bvalid |-> wr_busy_q && aw_taken_q && w_taken_q)
  else $error("%m: a write answer without a request");
  assert property (@(posedge clk_i) disable iff (!armed) axil_i.rvalid |-> rd_busy_q && ar_taken_q)
  else $error("%m: a read answer without a request");
  assert property (@(posedge clk_i) disable iff (!armed) wr_busy_q && !b_take |=> wr_busy_q && $stable(wr_owner_q))
  else $error("%m: a write changed hands");
  assert property (@(posedge clk_i) disable iff (!armed) rd_busy_q && !r_take |=> rd_busy_q && $stable(rd_owner_q))
  else $error("%m: a read changed hands");
`endif
endmodule
