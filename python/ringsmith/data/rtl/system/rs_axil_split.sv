// SPDX-License-Identifier: Apache-2.0
// Registers of several cores behind one AXI4-Lite slave: core c's are at c * 4096 and following.
//
//   s_axil (WindowBits + CoreBits of address) --> core 0, core 1, ...   (WindowBits each)
//
// One read and one write at a time; each belongs to a core from its address to its answer. An address beyond the last
// core's window is answered with DECERR. No latency of its own. With one core: wires.
module rs_axil_split #(
  // Cores, 1 to 8.
  parameter int unsigned Cores = 2,
  // log2 of the bytes of a core's window.
  localparam int unsigned WindowBits = 12,
  localparam int unsigned CoreBits = $clog2(Cores),
  localparam int unsigned AddrBits = WindowBits + CoreBits
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // Slave.
  input  logic                      s_axil_awvalid_i,
  output logic                      s_axil_awready_o,
  input  logic [AddrBits-1:0]       s_axil_awaddr_i,
  input  logic                      s_axil_wvalid_i,
  output logic                      s_axil_wready_o,
  output logic                      s_axil_bvalid_o,
  input  logic                      s_axil_bready_i,
  output logic [         1:0]       s_axil_bresp_o,
  input  logic                      s_axil_arvalid_i,
  output logic                      s_axil_arready_o,
  input  logic [AddrBits-1:0]       s_axil_araddr_i,
  output logic                      s_axil_rvalid_o,
  input  logic                      s_axil_rready_i,
  output logic [        31:0]       s_axil_rdata_o,
  output logic [         1:0]       s_axil_rresp_o,
  // Each core's. Addresses, data and strobes of the slave go to all of them.
  output logic [   Cores-1:0]       axil_awvalid_o,
  input  logic [   Cores-1:0]       axil_awready_i,
  output logic [   Cores-1:0]       axil_wvalid_o,
  input  logic [   Cores-1:0]       axil_wready_i,
  input  logic [   Cores-1:0]       axil_bvalid_i,
  output logic [   Cores-1:0]       axil_bready_o,
  input  logic [   Cores-1:0][ 1:0] axil_bresp_i,
  output logic [   Cores-1:0]       axil_arvalid_o,
  input  logic [   Cores-1:0]       axil_arready_i,
  input  logic [   Cores-1:0]       axil_rvalid_i,
  output logic [   Cores-1:0]       axil_rready_o,
  input  logic [   Cores-1:0][31:0] axil_rdata_i,
  input  logic [   Cores-1:0][ 1:0] axil_rresp_i
);
  if (Cores < rs_build_pkg::CoresLeast || Cores > rs_build_pkg::CoresMost) begin : gen_check_cores
    $fatal(1, "%m: Cores must be %0d to %0d", rs_build_pkg::CoresLeast, rs_build_pkg::CoresMost);
  end

  if (Cores == 1) begin : gen_one
    assign axil_awvalid_o   = s_axil_awvalid_i;
    assign s_axil_awready_o = axil_awready_i;
    assign axil_wvalid_o    = s_axil_wvalid_i;
    assign s_axil_wready_o  = axil_wready_i;
    assign s_axil_bvalid_o  = axil_bvalid_i;
    assign axil_bready_o    = s_axil_bready_i;
    assign s_axil_bresp_o   = axil_bresp_i[0];
    assign axil_arvalid_o   = s_axil_arvalid_i;
    assign s_axil_arready_o = axil_arready_i;
    assign s_axil_rvalid_o  = axil_rvalid_i;
    assign axil_rready_o    = s_axil_rready_i;
    assign s_axil_rdata_o   = axil_rdata_i[0];
    assign s_axil_rresp_o   = axil_rresp_i[0];
    logic unused_one;
    assign unused_one = ^{clk_i, rst_ni, s_axil_awaddr_i, s_axil_araddr_i};
  end else begin : gen_split
    localparam logic [1:0] DecodeError = 2'b11;
    localparam int unsigned Windows = 1 << CoreBits;

    // Windows without a core answer by themselves, at once.
    logic [Windows-1:0] aw_ready, w_ready, b_valid, ar_ready, r_valid;
    logic [Windows-1:0][1:0] b_resp, r_resp;
    logic [Windows-1:0][31:0] r_data;
    always_comb begin
      for (int unsigned c = 0; c < Windows; c++) begin
        aw_ready[c] = 1'b1;
        w_ready[c]  = 1'b1;
        b_valid[c]  = 1'b1;
        b_resp[c]   = DecodeError;
        ar_ready[c] = 1'b1;
        r_valid[c]  = 1'b1;
        r_resp[c]   = DecodeError;
        r_data[c]   = '0;
        if (c < Cores) begin
          aw_ready[c] = axil_awready_i[c];
          w_ready[c]  = axil_wready_i[c];
          b_valid[c]  = axil_bvalid_i[c];
          b_resp[c]   = axil_bresp_i[c];
          ar_ready[c] = axil_arready_i[c];
          r_valid[c]  = axil_rvalid_i[c];
          r_resp[c]   = axil_rresp_i[c];
          r_data[c]   = axil_rdata_i[c];
        end
      end
    end

    // Writes: data go where the address went, whichever is taken first.
    logic aw_taken_q, w_taken_q, aw_offer, w_offer, aw_take, w_take, b_take;
    logic [CoreBits-1:0] aw_core, w_core_q;
    assign aw_core  = aw_taken_q ? w_core_q : s_axil_awaddr_i[AddrBits-1:WindowBits];
    assign aw_offer = s_axil_awvalid_i && !aw_taken_q;
    assign w_offer  = s_axil_wvalid_i && !w_taken_q && (s_axil_awvalid_i || aw_taken_q);
    assign aw_take  = aw_offer && aw_ready[aw_core];
    assign w_take   = w_offer && w_ready[aw_core];
    assign b_take   = s_axil_bvalid_o && s_axil_bready_i;

    assign s_axil_awready_o = aw_take;
    assign s_axil_wready_o  = w_take;
    assign s_axil_bvalid_o  = aw_taken_q && w_taken_q && b_valid[w_core_q];
    assign s_axil_bresp_o   = b_resp[w_core_q];

    // Reads.
    logic ar_taken_q, ar_offer, ar_take, r_take;
    logic [CoreBits-1:0] ar_core, r_core_q;
    assign ar_core  = s_axil_araddr_i[AddrBits-1:WindowBits];
    assign ar_offer = s_axil_arvalid_i && !ar_taken_q;
    assign ar_take  = ar_offer && ar_ready[ar_core];
    assign r_take   = s_axil_rvalid_o && s_axil_rready_i;

    assign s_axil_arready_o = ar_take;
    assign s_axil_rvalid_o  = ar_taken_q && r_valid[r_core_q];
    assign s_axil_rdata_o   = r_data[r_core_q];
    assign s_axil_rresp_o   = r_resp[r_core_q];

    for (genvar c = 0; c < Cores; c++) begin : gen_core
      assign axil_awvalid_o[c] = aw_offer && aw_core == CoreBits'(c);
      assign axil_wvalid_o[c]  = w_offer && aw_core == CoreBits'(c);
      assign axil_bready_o[c]  = b_take && w_core_q == CoreBits'(c);
      assign axil_arvalid_o[c] = ar_offer && ar_core == CoreBits'(c);
      assign axil_rready_o[c]  = r_take && r_core_q == CoreBits'(c);
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        aw_taken_q <= 1'b0;
        w_taken_q  <= 1'b0;
        ar_taken_q <= 1'b0;
      end else begin
        aw_taken_q <= (aw_taken_q || aw_take) && !b_take;
        w_taken_q  <= (w_taken_q || w_take) && !b_take;
        ar_taken_q <= (ar_taken_q || ar_take) && !r_take;
      end
    end
    always_ff @(posedge clk_i) begin
      if (aw_take) w_core_q <= aw_core;
      if (ar_take) r_core_q <= ar_core;
    end

    // Within its window a core finds its way itself.
    logic unused_window;
    assign unused_window = ^{s_axil_awaddr_i[WindowBits-1:0], s_axil_araddr_i[WindowBits-1:0]};

`ifndef SYNTHESIS
    logic armed;
    rs_reset_seen u_armed (
      .clk_i,
      .rst_ni,
      .seen_o(armed)
    );
    // A core answers its requests, no more.
    for (genvar c = 0; c < Cores; c++) begin : gen_asked
      assert property (@(posedge clk_i) disable iff (!armed) axil_bvalid_i[c] |->
          aw_taken_q && w_taken_q && w_core_q == CoreBits'(c))
      else $error("%m: a write answer that nobody waits for");
      assert property (@(posedge clk_i) disable iff (!armed) axil_rvalid_i[c] |-> ar_taken_q && r_core_q == CoreBits'(c))
      else $error("%m: a read answer that nobody waits for");
    end
`endif
  end
endmodule
