// SPDX-License-Identifier: Apache-2.0
// Registers of several cores behind one AXI4-Lite slave: core c's are at c * 4096 and following.
//
//   s_axil with the cores of its addresses --> core 0, core 1, ...
//
// One read and one write at a time; each belongs to a core from its address to its answer. An address beyond the last
// core's window is answered with DECERR. No latency of its own. With one core: wires.
module rs_axil_split
  import rs_axil_pkg::*;
#(
  // Cores, 1 to 8.
  parameter int unsigned Cores = 2,
  localparam int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // Slave: an access within a window; the cores of the addresses.
  input  axil_req_t                s_axil_i,
  output axil_rsp_t                s_axil_o,
  input  logic      [CoreBits-1:0] aw_core_i,
  input  logic      [CoreBits-1:0] ar_core_i,
  // Each core's. Addresses, data and strobes of the slave go to all of them.
  output axil_req_t [   Cores-1:0] axil_o,
  input  axil_rsp_t [   Cores-1:0] axil_i
);
  if (Cores < rs_build_pkg::CoresLeast || Cores > rs_build_pkg::CoresMost) begin : gen_check_cores
    $fatal(1, "%m: Cores must be %0d to %0d", rs_build_pkg::CoresLeast, rs_build_pkg::CoresMost);
  end

  if (Cores == 1) begin : gen_one
    assign axil_o   = s_axil_i;
    assign s_axil_o = axil_i;
    logic unused_one;
    assign unused_one = ^{clk_i, rst_ni, aw_core_i, ar_core_i};
  end else begin : gen_split
    localparam logic [1:0] DecodeError = 2'b11;
    localparam int unsigned Windows = 1 << CoreBits;

    // Windows without a core answer by themselves, at once.
    axil_rsp_t [Windows-1:0] answer;
    for (genvar c = 0; c < Windows; c++) begin : gen_window
      if (c < Cores) begin : gen_there
        assign answer[c] = axil_i[c];
      end else begin : gen_nothing
        assign answer[c] = '{
            awready: 1'b1,
            wready: 1'b1,
            bvalid: 1'b1,
            bresp: DecodeError,
            arready: 1'b1,
            rvalid: 1'b1,
            rdata: '0,
            rresp: DecodeError
          };
      end
    end

    // Writes: data go where the address went, whichever is taken first.
    logic aw_taken_q, w_taken_q, aw_offer, w_offer, aw_take, w_take, b_take, b_valid;
    logic [CoreBits-1:0] aw_core, w_core_q;
    assign aw_core  = aw_taken_q ? w_core_q : aw_core_i;
    assign aw_offer = s_axil_i.awvalid && !aw_taken_q;
    assign w_offer  = s_axil_i.wvalid && !w_taken_q && (s_axil_i.awvalid || aw_taken_q);
    assign aw_take  = aw_offer && answer[aw_core].awready;
    assign w_take   = w_offer && answer[aw_core].wready;
    assign b_take   = b_valid && s_axil_i.bready;

    assign b_valid  = aw_taken_q && w_taken_q && answer[w_core_q].bvalid;

    // Reads.
    logic ar_taken_q, ar_offer, ar_take, r_take, r_valid;
    logic [CoreBits-1:0] r_core_q;
    assign ar_offer = s_axil_i.arvalid && !ar_taken_q;
    assign ar_take  = ar_offer && answer[ar_core_i].arready;
    assign r_take   = r_valid && s_axil_i.rready;

    assign r_valid  = ar_taken_q && answer[r_core_q].rvalid;

    assign s_axil_o = '{
            awready: aw_take,
            wready: w_take,
            bvalid: b_valid,
            bresp: answer[w_core_q].bresp,
            arready: ar_take,
            rvalid: r_valid,
            rdata: answer[r_core_q].rdata,
            rresp: answer[r_core_q].rresp
        };
    for (genvar c = 0; c < Cores; c++) begin : gen_core
      assign axil_o[c] = '{
          awvalid: aw_offer && aw_core == CoreBits'(c),
          awaddr: s_axil_i.awaddr,
          wvalid: w_offer && aw_core == CoreBits'(c),
          wdata: s_axil_i.wdata,
          wstrb: s_axil_i.wstrb,
          bready: b_take && w_core_q == CoreBits'(c),
          arvalid: ar_offer && ar_core_i == CoreBits'(c),
          araddr: s_axil_i.araddr,
          rready: r_take && r_core_q == CoreBits'(c)
        };
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
      if (ar_take) r_core_q <= ar_core_i;
    end

`ifndef SYNTHESIS
    logic armed;
    rs_reset_seen u_armed (
      .clk_i,
      .rst_ni,
      .seen_o(armed)
    );
    // A core answers its requests, no more.
    for (genvar c = 0; c < Cores; c++) begin : gen_asked
      assert property (@(posedge clk_i) disable iff (!armed) axil_i[c].bvalid |->
          aw_taken_q && w_taken_q && w_core_q == CoreBits'(c))
      else $error("%m: a write answer without a request");
      assert property (@(posedge clk_i) disable iff (!armed) axil_i[c].rvalid |-> ar_taken_q && r_core_q == CoreBits'(c))
      else $error("%m: a read answer without a request");
    end
`endif
  end
endmodule
