// SPDX-License-Identifier: Apache-2.0
// Control side of the host shell: the registers (spec/registers.rdl), the info block, and their effects on the core.
//
//   AXI4-Lite -> rs_host_regs -> command queue, tables, clear, reset
//                             <- info block, status, error, counters (through a snapshot)
//
// A command is pushed one cycle after its high half was written; a table entry one cycle after CONTROL.table_write.
// CONTROL.reset holds core_rst_no low for 8 cycles; the registers themselves are reset by rst_ni only. STATUS.idle
// stays low until the reset is over and the data port has nothing in flight; commands and tables wait for it.
module rs_host_ctrl
  import rs_axil_pkg::*;
  import rs_build_pkg::*;
  import rs_bundle_pkg::*;
#(
  // The parameters of the core: see rs_build_pkg.
  parameter core_cfg_t Cfg = SmallCore,
  // Bytes of a coefficient on the data port: 2, 4, 8 or 16.
  parameter int unsigned CoeffBytes = 4,
  // Bits of a beat of the data port.
  parameter int unsigned DataWidth = 32,
  // The host is serial (rs_serial_*), not AXI4.
  parameter bit Serial = 1'b0,
  // Clocks the build is meant for, in kHz.
  parameter int unsigned ClockKhz = 100000,
  parameter int unsigned SerialKhz = 0,
  // Hash of the sources and parameters of the build; 0 if unknown.
  parameter logic [127:0] BuildHash = '0
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // AXI4-Lite slave.
  input  axil_req_t              axil_i,
  output axil_rsp_t              axil_o,
  output logic                   irq_o,
  // Core.
  output logic                   core_rst_no,
  output logic                   clear_o,
  output logic                   cmd_valid_o,
  input  logic                   cmd_ready_i,
  output logic            [63:0] cmd_o,
  input  logic            [10:0] cmd_level_i,
  output constant_write_t        constant_o,
  input  logic                   busy_i,
  input  logic                   error_i,
  input  failure_t               failure_i,
  input  counters_t              counters_i,
  // Data port.
  output logic            [63:0] dma_base_o,
  // Strides of host buffers (see rs_axi_dma) from the base to the end of the addresses; all ones: as many or more.
  output logic            [26:0] dma_room_o,
  input  logic                   port_busy_i,
  input  logic                   port_read_i,
  input  logic                   port_write_i,
  // The transfer that waits for a serial host.
  input  transfer_t              transfer_i
);
  import rs_host_regs_pkg::*;

  localparam logic [31:0] Magic = 32'h5253_4350;
  localparam logic [15:0] VersionMajor = 16'd1;
  localparam logic [7:0] VersionMinor = 8'd3;
  localparam logic [31:0] AllSlots = (Cfg.Slots >= 32) ? '1 : 32'((64'd1 << Cfg.Slots) - 64'd1);
  localparam logic [63:0] NoPmul = Cfg.EnPmul ? '0 : 64'd1 << rs_isa_pkg::OpPmul;
  localparam logic [63:0] MaskMoves = 64'd1 << rs_isa_pkg::OpAuto | 64'd1 << rs_isa_pkg::OpDecomp;
  localparam logic [63:0] NoRns = Cfg.RnsRate != 0 ? '0 : rs_isa_pkg::MaskRns & ~MaskMoves;
  localparam logic [63:0] NoMoves = Cfg.Moves != 0 ? '0 : MaskMoves;
  localparam logic [63:0] Features = rs_isa_pkg::MaskImplemented & ~NoPmul & ~NoRns & ~NoMoves;
  localparam logic [63:0] AddressMask = 64'((65'd1 << Cfg.AddrWidth) - 65'd1);
  localparam int unsigned Counters = 10;
  // Memory words that cross the data port at a time.
  localparam int unsigned PortWords = Cfg.WidePort ? Cfg.Lanes : 1;

  rs_host_regs__in_t  hw_in;
  rs_host_regs__out_t hw_out;

  rs_host_regs u_regs (
    .clk           (clk_i),
    .arst_n        (rst_ni),
    .s_axil_awready(axil_o.awready),
    .s_axil_awvalid(axil_i.awvalid),
    .s_axil_awaddr (axil_i.awaddr),
    .s_axil_awprot ('0),
    .s_axil_wready (axil_o.wready),
    .s_axil_wvalid (axil_i.wvalid),
    .s_axil_wdata  (axil_i.wdata),
    .s_axil_wstrb  (axil_i.wstrb),
    .s_axil_bready (axil_i.bready),
    .s_axil_bvalid (axil_o.bvalid),
    .s_axil_bresp  (axil_o.bresp),
    .s_axil_arready(axil_o.arready),
    .s_axil_arvalid(axil_i.arvalid),
    .s_axil_araddr (axil_i.araddr),
    .s_axil_arprot ('0),
    .s_axil_rready (axil_i.rready),
    .s_axil_rvalid (axil_o.rvalid),
    .s_axil_rdata  (axil_o.rdata),
    .s_axil_rresp  (axil_o.rresp),
    .hwif_in       (hw_in),
    .hwif_out      (hw_out)
  );

  // ---------------------------------------------------------------------------------------------------------- actions
  logic push_q, table_write_q;
  logic [2:0] reset_left_q;
  logic busy, resetting, idle, idle_q, error_q, transfer_q;
  logic [15:0] free;

  assign resetting = hw_out.control.reset.value || reset_left_q != '0 || !core_rst_no;
  assign busy = busy_i || port_busy_i || push_q || hw_out.command_hi.value.swmod || resetting;
  assign idle = !busy;
  assign free = 16'(Cfg.FifoDepth) - 16'(cmd_level_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      push_q        <= 1'b0;
      table_write_q <= 1'b0;
      reset_left_q  <= '1;
      idle_q        <= 1'b1;
      error_q       <= 1'b0;
      transfer_q    <= 1'b0;
    end else begin
      push_q        <= hw_out.command_hi.value.swmod;
      table_write_q <= hw_out.control.table_write.value;
      if (hw_out.control.reset.value) reset_left_q <= '1;
      else if (reset_left_q != '0) reset_left_q <= reset_left_q - 3'd1;
      idle_q     <= idle;
      error_q    <= error_i;
      transfer_q <= transfer_i.valid;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) core_rst_no <= 1'b0;
    else core_rst_no <= reset_left_q == '0;
  end

  assign clear_o     = hw_out.control.clear.value;
  assign cmd_valid_o = push_q;
  assign cmd_o       = {hw_out.command_hi.value.value, hw_out.command_lo.value.value};
  assign constant_o.we   = table_write_q;
  assign constant_o.sel  = hw_out.table_address.kind.value;
  assign constant_o.lane = hw_out.table_address.lane.value;
  assign constant_o.idx  = hw_out.table_address.index.value;
  assign dma_base_o  = AddressMask & {hw_out.dma_base_hi.value.value, hw_out.dma_base_lo.value.value, 12'd0};
  // What is written to bits that no address has is gone in the cycle after, before an answer to a read can show it.
  assign hw_in.dma_base_hi.value.next = hw_out.dma_base_hi.value.value & AddressMask[63:32];
  assign hw_in.dma_base_hi.value.we = (hw_out.dma_base_hi.value.value & ~AddressMask[63:32]) != '0;

  if (Serial) begin : gen_no_addresses
    assign dma_room_o = '1;
  end else begin : gen_room
    localparam int unsigned StrideLog2 = rs_core_pkg::stride_log2(Cfg);
    logic [64:0] strides;
    assign strides = ((65'd1 << Cfg.AddrWidth) - 65'(dma_base_o)) >> StrideLog2;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) dma_room_o <= '1;
      else dma_room_o <= strides[64:27] != '0 ? '1 : strides[26:0];
    end
  end

  for (genvar i = 0; i < 5; i++) begin : gen_table_data
    assign constant_o.data[i*32+:32] = hw_out.table_data[i].value.value;
  end

  assign irq_o = (hw_out.irq_status.done.value && hw_out.irq_enable.done.value) ||
      (hw_out.irq_status.failed.value && hw_out.irq_enable.failed.value) ||
      (hw_out.irq_status.transfer.value && hw_out.irq_enable.transfer.value);

  // --------------------------------------------------------------------------------------------------------- counters
  logic [63:0] port_busy_q, words_read_q, words_written_q;
  logic [Counters-1:0][63:0] live, snapshot_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      port_busy_q     <= '0;
      words_read_q    <= '0;
      words_written_q <= '0;
      snapshot_q      <= '0;
    end else begin
      port_busy_q     <= clear_o ? '0 : port_busy_q + 64'(port_busy_i);
      words_read_q    <= clear_o ? '0 : words_read_q + (port_read_i ? 64'(PortWords) : '0);
      words_written_q <= clear_o ? '0 : words_written_q + (port_write_i ? 64'(PortWords) : '0);
      if (hw_out.control.snapshot.value) snapshot_q <= live;
    end
  end

  // What a build has no unit for takes no register.
  logic [63:0] busy_rns, busy_pointwise;
  assign busy_rns       = rs_core_pkg::third_unit(Cfg) ? counters_i.busy_rns : '0;
  assign busy_pointwise = Cfg.EnPointwise ? counters_i.busy_pointwise : '0;
  assign live = {
    busy_pointwise, busy_rns, words_written_q, words_read_q, port_busy_q, counters_i.stall_unit, counters_i.stall_hazard,
    counters_i.busy_mem, counters_i.busy_compute, counters_i.cycles
  };

  // ----------------------------------------------------------------------------------------------- read-only registers
  assign hw_in.magic.value.next = Magic;
  assign hw_in.version.minor.next = VersionMinor;
  assign hw_in.version.isa.next = 8'(rs_isa_pkg::IsaVersion);
  assign hw_in.version.major.next = VersionMajor;
  assign hw_in.shape.word_bits.next = 8'(Cfg.W);
  assign hw_in.shape.butterflies.next = 6'(Cfg.P);
  assign hw_in.shape.lanes.next = 4'(Cfg.Lanes);
  assign hw_in.shape.log2_n_max.next = 4'(Cfg.NMaxLog2);
  assign hw_in.shape.reduction.next = 2'(Cfg.MulKind);
  assign hw_in.shape.wide_port.next = Cfg.WidePort;
  assign hw_in.shape.serial.next = Serial;
  assign hw_in.shape.cores.next = 4'(Cfg.Cores);
  assign hw_in.capacity.slots.next = 8'(Cfg.Slots);
  assign hw_in.capacity.moduli.next = 8'(Cfg.Moduli);
  assign hw_in.capacity.constants.next = 8'(Cfg.Consts);
  assign hw_in.capacity.word_bytes.next = 8'(CoeffBytes);
  assign hw_in.dual_port[0].value.next = AllSlots & ~Cfg.SinglePort;
  assign hw_in.dual_port[1].value.next = '0;
  assign hw_in.features[0].value.next = Features[31:0];
  assign hw_in.features[1].value.next = Features[63:32];
  assign hw_in.clock_khz.value.next = 32'(ClockKhz);
  assign hw_in.ports.fifo_depth.next = 16'(Cfg.FifoDepth);
  assign hw_in.ports.data_bits.next = 16'(DataWidth);
  assign hw_in.serial_khz.value.next = 32'(SerialKhz);
  assign hw_in.arithmetic.montgomery_bits.next = (Cfg.MulKind == rs_build_pkg::ReductionMontgomery) ? 8'(Cfg.MontW) : 8'd0;
  assign hw_in.arithmetic.modulus_min_bits.next = 8'(Cfg.ModMinBits);
  assign hw_in.arithmetic.multiplier.next = 2'(Cfg.MulStyle);
  assign hw_in.arithmetic.cyclic.next = Cfg.EnCyclic;
  assign hw_in.arithmetic.stream.next = Cfg.EnStream;
  assign hw_in.arithmetic.pointwise_unit.next = Cfg.EnPointwise;
  assign hw_in.arithmetic.controller.next = 1'(Cfg.Controller);
  assign hw_in.arithmetic.twiddle_tables.next = 5'(Cfg.TwTables);
  for (genvar i = 0; i < 4; i++) begin : gen_build
    assign hw_in.build[i].value.next = BuildHash[i*32+:32];
  end
  assign hw_in.latency[0].value.next = 32'(rs_latency_pkg::pipe_latency(Cfg.MulKind, Cfg.MulStyle, Cfg.W, Cfg.ModMinBits, Cfg.MontW));
  assign hw_in.latency[1].value.next = 32'(rs_latency_pkg::mod_mul_latency(Cfg.MulKind, Cfg.MulStyle, Cfg.W, Cfg.ModMinBits, Cfg.MontW));
  assign hw_in.latency[2].value.next = 32'(rs_latency_pkg::butterfly_latency(Cfg.MulKind, Cfg.MulStyle, Cfg.W, Cfg.ModMinBits, Cfg.MontW));
  assign hw_in.latency[3].value.next = '0;

  assign hw_in.base_conversion.rate.next = 3'(Cfg.RnsRate);
  assign hw_in.base_conversion.conversions.next = Cfg.RnsRate != 0 ? 6'(Cfg.RnsConversions) : '0;
  assign hw_in.base_conversion.entries.next = Cfg.RnsRate != 0 ? 8'(Cfg.RnsEntries) : '0;
  assign hw_in.base_conversion.moves.next = 6'(Cfg.Moves);

  assign hw_in.host_port.address_bits.next = 7'(Cfg.AddrWidth);

  assign hw_in.status.idle.next = idle;
  assign hw_in.status.failed.next = error_i;
  assign hw_in.status.transfer.next = transfer_i.valid;
  assign hw_in.status.free.next = free - 16'(push_q);
  assign hw_in.error.cause.next = 8'(failure_i.code);
  assign hw_in.error_index.value.next = failure_i.index;
  assign hw_in.error_command[0].value.next = failure_i.cmd[31:0];
  assign hw_in.error_command[1].value.next = failure_i.cmd[63:32];
  assign hw_in.irq_status.done.hwset = idle && !idle_q;
  assign hw_in.irq_status.failed.hwset = error_i && !error_q;
  assign hw_in.irq_status.transfer.hwset = transfer_i.valid && !transfer_q;
  assign hw_in.irq_status.overflow.hwset = push_q && (!cmd_ready_i || !core_rst_no);
  assign hw_in.retired.value.next = counters_i.retired;
  assign hw_in.transfer.buffer.next = transfer_i.buf_idx;
  assign hw_in.transfer.log2_n.next = transfer_i.log2_n;
  assign hw_in.transfer.store.next = transfer_i.store;
  assign hw_in.transfer.valid.next = transfer_i.valid;
  for (genvar i = 0; i < 2; i++) begin : gen_counters
    assign hw_in.cycles[i].value.next = snapshot_q[0][i*32+:32];
    assign hw_in.busy_compute[i].value.next = snapshot_q[1][i*32+:32];
    assign hw_in.busy_memory[i].value.next = snapshot_q[2][i*32+:32];
    assign hw_in.stall_hazard[i].value.next = snapshot_q[3][i*32+:32];
    assign hw_in.stall_unit[i].value.next = snapshot_q[4][i*32+:32];
    assign hw_in.busy_port[i].value.next = snapshot_q[5][i*32+:32];
    assign hw_in.words_read[i].value.next = snapshot_q[6][i*32+:32];
    assign hw_in.words_written[i].value.next = snapshot_q[7][i*32+:32];
    assign hw_in.busy_rns[i].value.next = snapshot_q[8][i*32+:32];
    assign hw_in.busy_pointwise[i].value.next = snapshot_q[9][i*32+:32];
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) clear_o |-> !busy_i || error_i);
  assert property (@(posedge clk_i) disable iff (!armed) 32'(cmd_level_i) <= Cfg.FifoDepth);
`endif
endmodule
