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
module rs_controller #(
  // Words of the memory: a power of two, 64 to 16384.
  parameter  int unsigned Words   = 1024,
  localparam int unsigned Masters = 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // A program has ended, or the controller has stopped.
  output logic        irq_o,
  // AXI4-Lite slave: the host.
  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [11:0] s_axil_awaddr_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [ 3:0] s_axil_wstrb_i,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  output logic [ 1:0] s_axil_bresp_o,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  input  logic [11:0] s_axil_araddr_i,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,
  output logic [31:0] s_axil_rdata_o,
  output logic [ 1:0] s_axil_rresp_o,
  // AXI4-Lite master: the core's registers.
  output logic        axil_awvalid_o,
  input  logic        axil_awready_i,
  output logic [11:0] axil_awaddr_o,
  output logic        axil_wvalid_o,
  input  logic        axil_wready_i,
  output logic [31:0] axil_wdata_o,
  output logic [ 3:0] axil_wstrb_o,
  input  logic        axil_bvalid_i,
  output logic        axil_bready_o,
  input  logic [ 1:0] axil_bresp_i,
  output logic        axil_arvalid_o,
  input  logic        axil_arready_i,
  output logic [11:0] axil_araddr_o,
  input  logic        axil_rvalid_i,
  output logic        axil_rready_o,
  input  logic [31:0] axil_rdata_i,
  input  logic [ 1:0] axil_rresp_i
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
  logic own_awvalid, own_awready, own_wvalid, own_wready, own_bvalid, own_arvalid, own_arready, own_rvalid;
  logic [11:0] own_addr;
  logic [31:0] own_wdata;
  // Behind the arbiter.
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [31:0] rdata;
  logic [1:0] bresp, rresp;
  logic [Masters-1:0] s_awready, s_wready, s_bvalid, s_arready, s_rvalid;
  // Windows behind the split: 0 the core's, 1 the controller's.
  logic [1:0] to_awvalid, to_awready, to_wvalid, to_wready, to_bvalid, to_bready;
  logic [1:0] to_arvalid, to_arready, to_rvalid, to_rready;
  logic [1:0][1:0] to_bresp, to_rresp;
  logic [1:0][31:0] to_rdata;

  rs_axil_arbiter u_arbiter (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i({own_awvalid, s_axil_awvalid_i}),
    .s_axil_awready_o(s_awready),
    .s_axil_awaddr_i ({own_addr, s_axil_awaddr_i}),
    .s_axil_wvalid_i ({own_wvalid, s_axil_wvalid_i}),
    .s_axil_wready_o (s_wready),
    .s_axil_wdata_i  ({own_wdata, s_axil_wdata_i}),
    .s_axil_wstrb_i  ({4'hF, s_axil_wstrb_i}),
    .s_axil_bvalid_o (s_bvalid),
    .s_axil_bready_i ({1'b1, s_axil_bready_i}),
    .s_axil_bresp_o,
    .s_axil_arvalid_i({own_arvalid, s_axil_arvalid_i}),
    .s_axil_arready_o(s_arready),
    .s_axil_araddr_i ({own_addr, s_axil_araddr_i}),
    .s_axil_rvalid_o (s_rvalid),
    .s_axil_rready_i ({1'b1, s_axil_rready_i}),
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .axil_awvalid_o  (awvalid),
    .axil_awready_i  (awready),
    .axil_awaddr_o,
    .axil_wvalid_o   (wvalid),
    .axil_wready_i   (wready),
    .axil_wdata_o,
    .axil_wstrb_o,
    .axil_bvalid_i   (bvalid),
    .axil_bready_o   (bready),
    .axil_bresp_i    (bresp),
    .axil_arvalid_o  (arvalid),
    .axil_arready_i  (arready),
    .axil_araddr_o,
    .axil_rvalid_i   (rvalid),
    .axil_rready_o   (rready),
    .axil_rdata_i    (rdata),
    .axil_rresp_i    (rresp)
  );
  assign {own_awready, s_axil_awready_o} = s_awready;
  assign {own_wready, s_axil_wready_o}   = s_wready;
  assign {own_bvalid, s_axil_bvalid_o}   = s_bvalid;
  assign {own_arready, s_axil_arready_o} = s_arready;
  assign {own_rvalid, s_axil_rvalid_o}   = s_rvalid;

  // The upper half of the window is the controller's.
  rs_axil_split #(
    .Cores(2)
  ) u_split (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i(awvalid),
    .s_axil_awready_o(awready),
    .s_axil_awaddr_i ({axil_awaddr_o[11], axil_awaddr_o}),
    .s_axil_wvalid_i (wvalid),
    .s_axil_wready_o (wready),
    .s_axil_bvalid_o (bvalid),
    .s_axil_bready_i (bready),
    .s_axil_bresp_o  (bresp),
    .s_axil_arvalid_i(arvalid),
    .s_axil_arready_o(arready),
    .s_axil_araddr_i ({axil_araddr_o[11], axil_araddr_o}),
    .s_axil_rvalid_o (rvalid),
    .s_axil_rready_i (rready),
    .s_axil_rdata_o  (rdata),
    .s_axil_rresp_o  (rresp),
    .axil_awvalid_o  (to_awvalid),
    .axil_awready_i  (to_awready),
    .axil_wvalid_o   (to_wvalid),
    .axil_wready_i   (to_wready),
    .axil_bvalid_i   (to_bvalid),
    .axil_bready_o   (to_bready),
    .axil_bresp_i    (to_bresp),
    .axil_arvalid_o  (to_arvalid),
    .axil_arready_i  (to_arready),
    .axil_rvalid_i   (to_rvalid),
    .axil_rready_o   (to_rready),
    .axil_rdata_i    (to_rdata),
    .axil_rresp_i    (to_rresp)
  );
  assign axil_awvalid_o = to_awvalid[0];
  assign axil_wvalid_o  = to_wvalid[0];
  assign axil_bready_o  = to_bready[0];
  assign axil_arvalid_o = to_arvalid[0];
  assign axil_rready_o  = to_rready[0];
  assign to_awready[0]  = axil_awready_i;
  assign to_wready[0]   = axil_wready_i;
  assign to_bvalid[0]   = axil_bvalid_i;
  assign to_bresp[0]    = axil_bresp_i;
  assign to_arready[0]  = axil_arready_i;
  assign to_rvalid[0]   = axil_rvalid_i;
  assign to_rdata[0]    = axil_rdata_i;
  assign to_rresp[0]    = axil_rresp_i;

  rs_controller_regs__in_t  hw_in;
  rs_controller_regs__out_t hw_out;

  rs_controller_regs u_regs (
    .clk           (clk_i),
    .arst_n        (rst_ni),
    .s_axil_awready(to_awready[1]),
    .s_axil_awvalid(to_awvalid[1]),
    .s_axil_awaddr (axil_awaddr_o),
    .s_axil_awprot ('0),
    .s_axil_wready (to_wready[1]),
    .s_axil_wvalid (to_wvalid[1]),
    .s_axil_wdata  (axil_wdata_o),
    .s_axil_wstrb  (axil_wstrb_o),
    .s_axil_bready (to_bready[1]),
    .s_axil_bvalid (to_bvalid[1]),
    .s_axil_bresp  (to_bresp[1]),
    .s_axil_arready(to_arready[1]),
    .s_axil_arvalid(to_arvalid[1]),
    .s_axil_araddr (axil_araddr_o),
    .s_axil_arprot ('0),
    .s_axil_rready (to_rready[1]),
    .s_axil_rvalid (to_rvalid[1]),
    .s_axil_rdata  (to_rdata[1]),
    .s_axil_rresp  (to_rresp[1]),
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

  assign own_over    = (state_q == Write && own_bvalid) || (state_q == Read && own_rvalid);
  assign own_error   = own_over && (state_q == Write ? s_axil_bresp_o : s_axil_rresp_o) != '0;
  assign own_awvalid = aw_pending_q;
  assign own_wvalid  = w_pending_q;
  assign own_arvalid = ar_pending_q;
  assign own_addr    = own_addr_q;
  assign own_wdata   = own_wdata_q;

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
      aw_pending_q <= aw_pending_q && !own_awready;
      w_pending_q  <= w_pending_q && !own_wready;
      ar_pending_q <= ar_pending_q && !own_arready;
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
  assign dbus_rdata = own_over ? s_axil_rdata_o : mem_rdata;

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
