// SPDX-License-Identifier: Apache-2.0
// A core of the co-processor without its pins: registers and core.
// rs_top_axi and rs_top_serial put buses and lines around it.
//
//   axil -> rs_host_ctrl -> rs_core <-> port, ld_data, st_data (data port: polynomials to and from the host)
//
// With Cfg.Controller rs_controller stands between axil and rs_host_ctrl, and raises the interrupt line too.
// The data port is rs_core's; dma_rst_no is its reset, which CONTROL.reset gives to core and data port alone. Registers
// as spec/registers.rdl has them, behind AXI4-Lite. Reset of rst_ni: see the tops.
module rs_system
  import rs_axil_pkg::*;
  import rs_build_pkg::*;
  import rs_bundle_pkg::*;
#(
  // The parameters of the core: see rs_build_pkg.
  parameter core_cfg_t Cfg = SmallCore,
  // The host is behind serial lines: its data port waits for it (transfer_i), and addresses are unused.
  parameter bit Serial = 1'b0,
  // Bits of a beat of the host's data port.
  parameter int unsigned DataWidth = 32,
  // Clock the build is meant for, in kHz; the SPI clock of a serial host, else 0.
  parameter int unsigned ClockKhz = 100000,
  parameter int unsigned SerialKhz = 0,
  // Hash of the sources and parameters of the build; 0 if unknown.
  parameter logic [127:0] BuildHash = '0,
  localparam int unsigned PortWords = Cfg.WidePort ? Cfg.Lanes : 1
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
`ifdef RINGSMITH_FAULT_PIN
  // Test hook of builds that ask for it: see rs_core.
  input  logic                                  fault_i,
`endif
  output logic                                  irq_o,
  // AXI4-Lite slave: registers.
  input  axil_req_t                             axil_i,
  output axil_rsp_t                             axil_o,
  // Data port, as rs_core has it; its reset, and where the host's buffers begin.
  output logic                                  dma_rst_no,
  output logic      [                     63:0] dma_base_o,
  output port_req_t                             port_o,
  input  port_rsp_t                             port_i,
  input  logic      [PortWords*Cfg.P*Cfg.W-1:0] ld_data_i,
  output logic      [PortWords*Cfg.P*Cfg.W-1:0] st_data_o,
  // State of the data port, for registers: whether it works; a transfer that waits for a serial host.
  input  logic                                  port_busy_i,
  input  transfer_t                             transfer_i,
  // Events for a timeline, as rs_core gives them; its own cycle count.
  output events_t                               events_o,
  output logic      [                     63:0] cycles_o
);

  logic clear, busy, error, sync;
  logic [26:0] dma_room;
  logic cmd_valid, cmd_ready;
  logic [63:0] cmd;
  logic [10:0] cmd_level;
  constant_write_t constant;
  failure_t failure;
  counters_t counters;
  assign cycles_o = counters.cycles;

  // Behind the controller, if there is one: the accesses of both.
  axil_req_t reg_req;
  axil_rsp_t reg_rsp;
  logic reg_irq;

  if (Cfg.Controller != ControllerNone) begin : gen_controller
    logic controller_irq;
    rs_controller #(
      .Words(Cfg.ControllerWords)
    ) u_controller (
      .clk_i,
      .rst_ni,
      .irq_o(controller_irq),
      .s_axil_i(axil_i),
      .s_axil_o(axil_o),
      .axil_o(reg_req),
      .axil_i(reg_rsp)
    );
    assign irq_o = reg_irq || controller_irq;
  end else begin : gen_host_only
    assign reg_req = axil_i;
    assign axil_o  = reg_rsp;
    assign irq_o   = reg_irq;
  end

  rs_host_ctrl #(
    .Cfg(Cfg),
    .CoeffBytes(rs_core_pkg::coeff_bytes(Cfg.W, Cfg.WidePort)),
    .DataWidth(DataWidth),
    .Serial(Serial),
    .ClockKhz(ClockKhz),
    .SerialKhz(SerialKhz),
    .BuildHash(BuildHash)
  ) u_ctrl (
    .clk_i,
    .rst_ni,
    .axil_i(reg_req),
    .axil_o(reg_rsp),
    .irq_o(reg_irq),
    .core_rst_no(dma_rst_no),
    .clear_o(clear),
    .cmd_valid_o(cmd_valid),
    .cmd_ready_i(cmd_ready),
    .cmd_o(cmd),
    .cmd_level_i(cmd_level),
    .constant_o(constant),
    .busy_i(busy),
    .error_i(error),
    .failure_i(failure),
    .counters_i(counters),
    .dma_base_o,
    .dma_room_o(dma_room),
    .port_busy_i,
    .port_read_i(port_i.ld_valid && port_o.ld_ready),
    .port_write_i(port_o.st_valid && port_i.st_ready),
    .transfer_i
  );

  rs_core #(
    .Cfg(Cfg)
  ) u_core (
    .clk_i,
    .rst_ni(dma_rst_no),
`ifdef RINGSMITH_FAULT_PIN
    .fault_i,
`endif
    .clear_i(clear),
    .cmd_valid_i(cmd_valid),
    .cmd_ready_o(cmd_ready),
    .cmd_i(cmd),
    .cmd_level_o(cmd_level),
    .constant_i(constant),
    .dma_room_i(dma_room),
    .port_o,
    .port_i,
    .ld_data_i,
    .st_data_o,
    .busy_o(busy),
    .sync_o(sync),
    .error_o(error),
    .failure_o(failure),
    .counters_o(counters),
    .events_o
  );

  // The host sees a SYNC in STATUS.idle.
  logic unused;
  assign unused = sync;
endmodule
