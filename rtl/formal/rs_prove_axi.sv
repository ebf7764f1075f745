// SPDX-License-Identifier: Apache-2.0
// Proof: rs_axi_dma keeps the rules of AXI4, also when a transfer is dropped (see rs_axi_checks), and never waits for
// ever. For that the slave takes an address only after the last beat of its burst, as the standard lets it, and is
// ready otherwise; then some channel moves in any three cycles of a transfer, whether it is dropped or not.
bind rs_axi_dma rs_axi_checks #(
  .W(W),
  .Lanes(Lanes),
  .WidePort(WidePort),
  .DataWidth(DataWidth),
  .AddrWidth(AddrWidth),
  .NMaxLog2(NMaxLog2)
) u_checks (
  .*,
  .state_q(2'(state_q)),
  .stretches_left(6'(u_bursts.left_q)),
  .log2_bytes(u_bursts.log2_bytes_q),
  .offset(u_bursts.offset_q),
  .gathered(u_unpack.count_q)
);

module rs_prove_axi
  import rs_bundle_pkg::*;
#(
  // 1: the slave described above; 0: any slave.
  parameter bit Patient = 1'b0,
  parameter int unsigned Lanes = 3,
  // 1: a beat is a row of all lanes' words.
  parameter bit WidePort = 1'b0,
  localparam int unsigned Stretches = WidePort ? 1 : Lanes,
  localparam int unsigned PortBits = (WidePort ? Lanes : 1) * 14,
  localparam int unsigned DataWidth = (WidePort ? 1 << $clog2(Lanes) : 1) * 16,
  localparam int unsigned AddrWidth = 16
) (
  input logic                      clk_i,
  input logic                      rst_ni,
  input logic      [AddrWidth-1:0] base_i,
  input logic                      abort_i,
  input port_req_t                 port_i,
  input logic      [ PortBits-1:0] st_data_i,
  input logic                      arready_i,
  input logic                      rvalid_i,
  input logic      [DataWidth-1:0] rdata_i,
  input logic      [          1:0] rresp_i,
  input logic                      awready_i,
  input logic                      wready_i,
  input logic                      bvalid_i,
  input logic      [          1:0] bresp_i
);
  logic idle, arvalid, rready, awvalid, wvalid, wlast, bready;
  port_rsp_t port;
  logic [PortBits-1:0] ld_data;
  logic [AddrWidth-1:0] araddr, awaddr;
  logic [7:0] arlen, awlen;
  logic [  DataWidth-1:0] wdata;
  logic [DataWidth/8-1:0] wstrb;

  rs_axi_dma #(
    .W         (14),
    .P         (1),
    .Lanes     (Lanes),
    .NMaxLog2  (3),
    .CoeffBytes(2),
    .WidePort  (WidePort),
    .DataWidth (DataWidth),
    .AddrWidth (AddrWidth)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .base_i,
    .abort_i,
    .idle_o         (idle),
    .port_i,
    .port_o         (port),
    .ld_data_o      (ld_data),
    .st_data_i,
    .m_axi_arvalid_o(arvalid),
    .m_axi_arready_i(arready_i),
    .m_axi_araddr_o (araddr),
    .m_axi_arlen_o  (arlen),
    .m_axi_rvalid_i (rvalid_i),
    .m_axi_rready_o (rready),
    .m_axi_rdata_i  (rdata_i),
    .m_axi_rresp_i  (rresp_i),
    .m_axi_awvalid_o(awvalid),
    .m_axi_awready_i(awready_i),
    .m_axi_awaddr_o (awaddr),
    .m_axi_awlen_o  (awlen),
    .m_axi_wvalid_o (wvalid),
    .m_axi_wready_i (wready_i),
    .m_axi_wdata_o  (wdata),
    .m_axi_wstrb_o  (wstrb),
    .m_axi_wlast_o  (wlast),
    .m_axi_bvalid_i (bvalid_i),
    .m_axi_bready_o (bready),
    .m_axi_bresp_i  (bresp_i)
  );

  // The first step is a reset, and no other comes.
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_comb assume (rst_ni == started_q);

  if (Patient) begin : gen_patient
    logic [2:0] still_q;
    logic moves;
    assign moves = (arvalid && arready_i) || (rvalid_i && rready) || (awvalid && awready_i) || (wvalid && wready_i) ||
        (bvalid_i && bready) || (port_i.st_valid && port.st_ready);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) still_q <= '0;
      else still_q <= idle || moves ? '0 : still_q + 3'(still_q != '1);
    end
    always_comb begin
      assume (arready_i && wready_i && awready_i == (u_dut.lead_q < 0));
      assume (rvalid_i == (u_dut.owed_q != '0));
      assume (bvalid_i == (u_dut.answers_left_q != '0 && signed'(u_dut.answers_left_q) > u_dut.lead_q));
      if (!abort_i) assume (port_i.ld_ready && port_i.st_valid == (32'(u_dut.u_checks.given_q) < 8 * Stretches));
      if (rst_ni) assert (still_q < 3'd3);
    end
  end

  logic unused;
  assign unused = ^{port, ld_data, araddr, awaddr, awlen, wdata, wstrb};
endmodule
