// SPDX-License-Identifier: Apache-2.0
// rs_axi_dma with the full set of AXI4 signals under their usual names, for a bus model in a test.
module rs_axi_dma_tb
  import rs_bundle_pkg::*;
#(
  parameter int unsigned W = 32,
  parameter int unsigned P = 1,
  parameter int unsigned Lanes = 1,
  parameter int unsigned NMaxLog2 = 8,
  parameter int unsigned CoeffBytes = 4,
  parameter bit WidePort = 1'b0,
  parameter int unsigned DataWidth = 32,
  localparam int unsigned PortBits = (WidePort ? Lanes : 1) * P * W
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic      [           39:0] base_i,
  input  logic                        abort_i,
  output logic                        idle_o,
  input  port_req_t                   port_i,
  output port_rsp_t                   port_o,
  output logic      [   PortBits-1:0] ld_data_o,
  input  logic      [   PortBits-1:0] st_data_i,
  output logic      [            0:0] m_axi_arid,
  output logic                        m_axi_arvalid,
  input  logic                        m_axi_arready,
  output logic      [           39:0] m_axi_araddr,
  output logic      [            7:0] m_axi_arlen,
  output logic      [            2:0] m_axi_arsize,
  output logic      [            1:0] m_axi_arburst,
  input  logic      [            0:0] m_axi_rid,
  input  logic                        m_axi_rvalid,
  output logic                        m_axi_rready,
  input  logic      [  DataWidth-1:0] m_axi_rdata,
  input  logic      [            1:0] m_axi_rresp,
  input  logic                        m_axi_rlast,
  output logic      [            0:0] m_axi_awid,
  output logic                        m_axi_awvalid,
  input  logic                        m_axi_awready,
  output logic      [           39:0] m_axi_awaddr,
  output logic      [            7:0] m_axi_awlen,
  output logic      [            2:0] m_axi_awsize,
  output logic      [            1:0] m_axi_awburst,
  output logic                        m_axi_wvalid,
  input  logic                        m_axi_wready,
  output logic      [  DataWidth-1:0] m_axi_wdata,
  output logic      [DataWidth/8-1:0] m_axi_wstrb,
  output logic                        m_axi_wlast,
  input  logic      [            0:0] m_axi_bid,
  input  logic                        m_axi_bvalid,
  output logic                        m_axi_bready,
  input  logic      [            1:0] m_axi_bresp
);
  rs_axi_dma #(
    .W         (W),
    .P         (P),
    .Lanes     (Lanes),
    .NMaxLog2  (NMaxLog2),
    .CoeffBytes(CoeffBytes),
    .WidePort  (WidePort),
    .DataWidth (DataWidth),
    .AddrWidth (40)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .base_i,
    .abort_i,
    .idle_o,
    .port_i,
    .port_o,
    .ld_data_o,
    .st_data_i,
    .m_axi_arvalid_o(m_axi_arvalid),
    .m_axi_arready_i(m_axi_arready),
    .m_axi_araddr_o (m_axi_araddr),
    .m_axi_arlen_o  (m_axi_arlen),
    .m_axi_rvalid_i (m_axi_rvalid),
    .m_axi_rready_o (m_axi_rready),
    .m_axi_rdata_i  (m_axi_rdata),
    .m_axi_rresp_i  (m_axi_rresp),
    .m_axi_awvalid_o(m_axi_awvalid),
    .m_axi_awready_i(m_axi_awready),
    .m_axi_awaddr_o (m_axi_awaddr),
    .m_axi_awlen_o  (m_axi_awlen),
    .m_axi_wvalid_o (m_axi_wvalid),
    .m_axi_wready_i (m_axi_wready),
    .m_axi_wdata_o  (m_axi_wdata),
    .m_axi_wstrb_o  (m_axi_wstrb),
    .m_axi_wlast_o  (m_axi_wlast),
    .m_axi_bvalid_i (m_axi_bvalid),
    .m_axi_bready_o (m_axi_bready),
    .m_axi_bresp_i  (m_axi_bresp)
  );

  assign m_axi_arid    = '0;
  assign m_axi_awid    = '0;
  assign m_axi_arsize  = 3'($clog2(DataWidth / 8));
  assign m_axi_awsize  = 3'($clog2(DataWidth / 8));
  assign m_axi_arburst = 2'b01;
  assign m_axi_awburst = 2'b01;

  logic unused;
  assign unused = ^{m_axi_rid, m_axi_rlast, m_axi_bid};
endmodule
