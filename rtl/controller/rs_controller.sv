// SPDX-License-Identifier: Apache-2.0
// On-chip controller: a RISC-V processor with a memory that feeds programs to the core without the host.
//
//   host --------> rs_axil_arbiter --> rs_axil_split --+--> registers of the core (axil)
//                      ^                               +--> rs_controller_regs (spec/controller.rdl)
//   rs_riscv --+-------+                                        |  CONTROLLER_DATA
//              +--> memory (Words of 32 bits) <-----------------+
//
// The processor's addresses: memory from 0 on, bytes, halves and words; from RegisterBase on what the host sees, in
// aligned whole words. Its access takes three cycles or so more than the host's.
// What it asks for beyond that, or a register that does not exist, stops it: it is held in reset, STATUS.failed is set
// with the cause and the address, and nothing waits for an answer. So is the firmware's own report of a failure. The
// host loads the memory at any time; a word of its takes the place of one access of the processor.
module rs_controller
  import rs_axil_pkg::*;
#(
  // Words of the memory: a power of two, 64 to 16384.
  parameter int unsigned Words = 1024
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  // A program has ended, or the controller has stopped.
  output logic      irq_o,
  // AXI4-Lite slave: the host.
  input  axil_req_t s_axil_i,
  output axil_rsp_t s_axil_o,
  // AXI4-Lite master: the core's registers.
  output axil_req_t axil_o,
  input  axil_rsp_t axil_i
);
  import rs_controller_regs_pkg::*;

  if (Words < 64 || Words > 16384 || 2 ** $clog2(Words) != Words) begin : gen_check_words
    $fatal(1, "%m: Words must be a power of two from 64 to 16384");
  end

  localparam int unsigned WordBits = $clog2(Words);
  // The processor sees the registers here.
  localparam logic [19:0] RegisterBase = 20'h40000;

  // ------------------------------------------------------------------------------------ registers, host's and core's
  // Accesses of the processor to registers.
  axil_req_t own_req;
  axil_rsp_t own_rsp;
  // Behind the arbiter; behind the split the core's and the controller's own.
  axil_req_t common_req, regs_req;
  axil_rsp_t common_rsp, regs_rsp;

  rs_axil_arbiter u_arbiter (
    .clk_i,
    .rst_ni,
    .s_axil_i({own_req, s_axil_i}),
    .s_axil_o({own_rsp, s_axil_o}),
    .axil_o  (common_req),
    .axil_i  (common_rsp)
  );

  // The upper half of the window is the controller's.
  rs_axil_split #(
    .Cores(2)
  ) u_split (
    .clk_i,
    .rst_ni,
    .s_axil_i (common_req),
    .s_axil_o (common_rsp),
    .aw_core_i(common_req.awaddr[11]),
    .ar_core_i(common_req.araddr[11]),
    .axil_o   ({regs_req, axil_o}),
    .axil_i   ({regs_rsp, axil_i})
  );

  rs_controller_regs__in_t  hw_in;
  rs_controller_regs__out_t hw_out;

  rs_controller_regs u_regs (
    .clk           (clk_i),
    .arst_n        (rst_ni),
    .s_axil_awready(regs_rsp.awready),
    .s_axil_awvalid(regs_req.awvalid),
    .s_axil_awaddr (regs_req.awaddr),
    .s_axil_awprot ('0),
    .s_axil_wready (regs_rsp.wready),
    .s_axil_wvalid (regs_req.wvalid),
    .s_axil_wdata  (regs_req.wdata),
    .s_axil_wstrb  (regs_req.wstrb),
    .s_axil_bready (regs_req.bready),
    .s_axil_bvalid (regs_rsp.bvalid),
    .s_axil_bresp  (regs_rsp.bresp),
    .s_axil_arready(regs_rsp.arready),
    .s_axil_arvalid(regs_req.arvalid),
    .s_axil_araddr (regs_req.araddr),
    .s_axil_arprot ('0),
    .s_axil_rready (regs_req.rready),
    .s_axil_rvalid (regs_rsp.rvalid),
    .s_axil_rdata  (regs_rsp.rdata),
    .s_axil_rresp  (regs_rsp.rresp),
    .hwif_in       (hw_in),
    .hwif_out      (hw_out)
  );

  // -------------------------------------------------------------------------------------------------------- processor
  logic cpu_rst, ibus_cyc, ibus_ack, dbus_cyc, dbus_we, dbus_ack;
  logic [31:0] ibus_addr, dbus_addr, dbus_wdata, dbus_rdata;
  logic [3:0] dbus_strb;
  logic [3:0][7:0] mem_rdata;

  rs_riscv u_riscv (
    .clk_i,
    .rst_i       (cpu_rst),
    .ibus_cyc_o  (ibus_cyc),
    .ibus_addr_o (ibus_addr),
    .ibus_ack_i  (ibus_ack),
    .ibus_rdata_i(mem_rdata),
    .dbus_cyc_o  (dbus_cyc),
    .dbus_we_o   (dbus_we),
    .dbus_addr_o (dbus_addr),
    .dbus_wdata_o(dbus_wdata),
    .dbus_strb_o (dbus_strb),
    .dbus_ack_i  (dbus_ack),
    .dbus_rdata_i(dbus_rdata)
  );

  // ----------------------------------------------------------------------------------------------------------- memory
  // A host's word a cycle after it was written; else what the processor asks for, answered a cycle later.
  logic load_q, mem_ack_q, mem_fetch_q, fetch, data, mem_go;
  logic [WordBits-1:0] mem_addr;
  logic [31:0] mem_wdata;
  logic fetch_ours, data_ours, data_register, data_whole;

  assign fetch_ours    = ibus_addr[31:WordBits+2] == '0;
  assign data_ours     = dbus_addr[31:WordBits+2] == '0;
  assign data_register = dbus_addr[31:12] == RegisterBase;
  assign data_whole    = dbus_strb == '1;

  assign fetch         = ibus_cyc && fetch_ours && !mem_ack_q;
  assign data          = dbus_cyc && data_ours && dbus_strb != 4'b1110 && !mem_ack_q;
  assign mem_go        = (fetch || data) && !load_q;

  always_comb begin
    mem_addr  = dbus_addr[2+:WordBits];
    mem_wdata = dbus_wdata;
    if (fetch) mem_addr = ibus_addr[2+:WordBits];
    if (load_q) begin
      mem_addr  = hw_out.controller_address.value.value[2+:WordBits];
      mem_wdata = hw_out.controller_data.value.value;
    end
  end

  for (genvar b = 0; b < 4; b++) begin : gen_memory
    rs_ram_1rw #(
      .Width(8),
      .DepthWords(Words)
    ) u_memory (
      .clk_i,
      .rd_en_i(mem_go && !(data && dbus_we)),
      .wr_en_i(load_q || (mem_go && data && dbus_we && dbus_strb[b])),
      .addr_i(mem_addr),
      .wr_data_i(mem_wdata[b*8+:8]),
      .rd_data_o(mem_rdata[b])
    );
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      load_q      <= 1'b0;
      mem_ack_q   <= 1'b0;
      mem_fetch_q <= 1'b0;
    end else begin
      load_q      <= hw_out.controller_data.value.swmod;
      mem_ack_q   <= mem_go;
      mem_fetch_q <= fetch;
    end
  end
  assign ibus_ack = mem_ack_q && mem_fetch_q && ibus_cyc;

  // -------------------------------------------------------------------------------------- the processor's register bus
  typedef enum logic [1:0] {
    Rest,
    Write,
    Read
  } state_e;
  state_e state_q;
  logic aw_pending_q, w_pending_q, ar_pending_q, given_up_q, own_over, own_error;
  logic [11:0] own_addr_q;
  logic [31:0] own_wdata_q;

  assign own_over    = (state_q == Write && own_rsp.bvalid) || (state_q == Read && own_rsp.rvalid);
  assign own_error   = own_over && (state_q == Write ? own_rsp.bresp : own_rsp.rresp) != '0;
  assign own_req     = '{
          awvalid: aw_pending_q,
          awaddr: own_addr_q,
          wvalid: w_pending_q,
          wdata: own_wdata_q,
          wstrb: '1,
          bready: 1'b1,
          arvalid: ar_pending_q,
          araddr: own_addr_q,
          rready: 1'b1
      };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Rest;
      aw_pending_q <= 1'b0;
      w_pending_q  <= 1'b0;
      ar_pending_q <= 1'b0;
      given_up_q   <= 1'b0;
    end else if (state_q == Rest) begin
      given_up_q <= 1'b0;
      if (dbus_cyc && data_register && data_whole) begin
        state_q      <= dbus_we ? Write : Read;
        aw_pending_q <= dbus_we;
        w_pending_q  <= dbus_we;
        ar_pending_q <= !dbus_we;
      end
    end else begin
      // A bus access is ended even if the processor has been reset.
      given_up_q   <= given_up_q || cpu_rst;
      aw_pending_q <= aw_pending_q && !own_rsp.awready;
      w_pending_q  <= w_pending_q && !own_rsp.wready;
      ar_pending_q <= ar_pending_q && !own_rsp.arready;
      if (own_over) state_q <= Rest;
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Rest) begin
      own_addr_q  <= dbus_addr[11:0];
      own_wdata_q <= dbus_wdata;
    end
  end
  assign dbus_ack   = dbus_cyc && ((mem_ack_q && !mem_fetch_q) || (own_over && !own_error && !given_up_q));
  assign dbus_rdata = own_over ? own_rsp.rdata : mem_rdata;

  // ----------------------------------------------------------------------------------------- what stops the controller
  logic fault, halted_q, report_q, busy_q, done_q, failed_q, irq_q, run;
  stop_e_e fault_cause;
  logic [7:0] cause_q;
  logic [31:0] fault_addr_q;

  assign run     = hw_out.controller_control.run.value;
  assign cpu_rst = !run || halted_q;

  always_comb begin
    fault       = 1'b0;
    fault_cause = stop_e__none;
    if ((ibus_cyc && !fetch_ours) || (dbus_cyc && !data_ours && !data_register)) begin
      fault       = 1'b1;
      fault_cause = stop_e__address;
    end else if (dbus_cyc && (data_register ? !data_whole : dbus_strb == 4'b1110)) begin
      fault       = 1'b1;
      fault_cause = stop_e__width;
    end else if (dbus_cyc && own_error && !given_up_q) begin
      fault       = 1'b1;
      fault_cause = stop_e__register;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      halted_q     <= 1'b0;
      report_q     <= 1'b0;
      busy_q       <= 1'b0;
      done_q       <= 1'b0;
      failed_q     <= 1'b0;
      irq_q        <= 1'b0;
      cause_q      <= '0;
      fault_addr_q <= '0;
    end else begin
      report_q <= hw_out.controller_report.cause.swmod;
      if (!run) begin
        halted_q <= 1'b0;
        busy_q   <= 1'b0;
        done_q   <= 1'b0;
        failed_q <= 1'b0;
        irq_q    <= 1'b0;
        cause_q  <= '0;
      end else if (fault) begin
        halted_q     <= 1'b1;
        busy_q       <= 1'b0;
        failed_q     <= 1'b1;
        irq_q        <= 1'b1;
        cause_q      <= 8'(fault_cause);
        fault_addr_q <= dbus_cyc ? dbus_addr : ibus_addr;
      end else if (hw_out.controller_control.start.value && !halted_q) begin
        busy_q   <= 1'b1;
        done_q   <= 1'b0;
        failed_q <= 1'b0;
        irq_q    <= 1'b0;
        cause_q  <= '0;
      end else if (report_q && busy_q) begin
        busy_q   <= 1'b0;
        done_q   <= hw_out.controller_report.cause.value == '0;
        failed_q <= hw_out.controller_report.cause.value != '0;
        irq_q    <= 1'b1;
        cause_q  <= hw_out.controller_report.cause.value;
      end else if (hw_out.controller_control.acknowledge.value) begin
        irq_q <= 1'b0;
      end
    end
  end

  assign irq_o = irq_q;
  assign hw_in.controller.words.next = 16'(Words);
  assign hw_in.controller_status.busy.next = busy_q;
  assign hw_in.controller_status.done.next = done_q;
  assign hw_in.controller_status.failed.next = failed_q;
  assign hw_in.controller_error.cause.next = cause_q;
  assign hw_in.controller_error_address.value.next = fault_addr_q;
  assign hw_in.controller_address.value.next = hw_out.controller_address.value.value + 16'd4;
  assign hw_in.controller_address.value.we = load_q;

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) fault && run |=> cpu_rst && failed_q)
  else $error("%m: a wrong access that did not stop the processor");
  assert property (@(posedge clk_i) disable iff (!armed) busy_q |-> !done_q && !failed_q)
  else $error("%m: a program that has ended and has not");
  assert property (@(posedge clk_i) disable iff (!armed) dbus_ack |-> !fault)
  else $error("%m: a wrong access that was answered");
`endif
endmodule
