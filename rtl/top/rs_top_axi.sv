// SPDX-License-Identifier: Apache-2.0
// Co-processor behind AXI4: registers on AXI4-Lite (spec/registers.rdl), polynomials on an AXI4 master.
//
//   s_axil -> rs_axil_split -> rs_system, one a core <-> rs_port_share <-> rs_axi_dma <-> m_axi (host memory)
//
// Registers of core c are at c * 4096 and following; irq_o is raised by any core.
//
// One clock. CONTROL.reset resets the core and ends the data port's transfer within the rules of AXI4 (see rs_axi_dma).
// Reset: rst_ni may fall at any time and must rise in step with clk_i (rs_reset_sync synchronises any); two cycles or
// more; the other sides of both buses must be reset with it. It reaches every control register; data registers, slots
// and tables have none and their contents never matter.
module rs_top_axi #(
  // Begin: parameters, generated from spec/build.yaml.
  // Bits of a coefficient, W. Legal: 14..128.
  parameter int unsigned W = 32,
  // Residues that are worked on in lockstep. Legal: 1..15.
  parameter int unsigned Lanes = 1,
  // Butterflies of a lane, P; a memory word holds as many coefficients. Legal: 1, 2, 4, 8, 16 or 32.
  parameter int unsigned P = 2,
  // log2(n_max), where n_max is: Words of a slot, the largest ring degree. Legal: a power of two from 8 to 32768.
  parameter int unsigned NMaxLog2 = 6,
  // How products are reduced, by Barrett with a modulus of run time or word by word by Montgomery with primes 1 mod 2
  // n_max. Legal: 0 barrett, 1 montgomery.
  parameter int unsigned MulKind = 0,
  // How products are cut, in a few deep stages or in pipelined tiles of the DSP blocks of AMD (26x17) or Lattice
  // (18x18). Legal: 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  // Multipliers of the steps of Montgomery reduction, DSP blocks, LUTs for the factors of base conversion (mixed), or
  // LUTs. Legal: 0 dsp, 1 mixed, 2 luts.
  parameter int unsigned MontSteps = 0,
  // Bits of the smallest modulus. Legal: 5..word_bits.
  parameter int unsigned ModMinBits = 5,
  // The product that is not reduced, PMUL.
  parameter bit EnPmul = 1'b1,
  // The cyclic form of the transforms.
  parameter bit EnCyclic = 1'b1,
  // Moduli that a lane holds. Legal: 1..16.
  parameter int unsigned Moduli = 2,
  // Constants of CMODMUL that a lane holds. Legal: 1..32.
  parameter int unsigned Consts = 4,
  // Coefficients that base conversion (LIFT, SCALE) takes at a time; 0 without that unit. Legal: 0, 1, 2 or 4.
  parameter int unsigned RnsRate = 0,
  // max(rns_conversions, 2), where rns_conversions is: Conversions that the unit holds. Legal: 2..32 where rns_rate !=
  // 0, else 0.
  parameter int unsigned RnsConversions = 2,
  // max(rns_entries, 16), where rns_entries is: Entries of the tables of their constants; a conversion of K primes
  // takes K + 1. Legal: 16..128 where rns_rate != 0, else 0.
  parameter int unsigned RnsEntries = 16,
  // Automorphisms, and as many digits, that the unit for moves between words and lanes (AUTO, DECOMP) holds; 0 without
  // it. Legal: 0, 4, 8, 16 or 32.
  parameter int unsigned Moves = 0,
  // Bits of an address on the AXI4 data port; host buffers end within them. Nothing on the serial host. Legal: 32..64.
  parameter int unsigned AddrWidth = 40,
  // A beat of the data port carries a word of every lane, and host buffers hold rows of all lanes.
  parameter bit WidePort = 1'b0,
  // A product can take an operand from the data port as it comes, without a slot for it.
  parameter bit EnStream = 1'b0,
  // Pointwise instructions have multipliers of their own and run beside transforms.
  parameter bit EnPointwise = 1'b0,
  // A processor on the chip that feeds programs from its memory without the host, none or a RISC-V one. Legal: 0 none,
  // 1 riscv.
  parameter int unsigned Controller = 0,
  // Words of 32 bits of the controller's memory, which holds firmware and program; nothing without one. Legal: a power
  // of two from 64 to 16384.
  parameter int unsigned ControllerWords = 1024,
  // Cores behind one host shell and one data port, each with registers and a program queue of its own. Legal: 1..8.
  parameter int unsigned Cores = 1,
  // Commands that can wait. Legal: a power of two from 2 to 1024.
  parameter int unsigned FifoDepth = 16,
  // Polynomial slots that instructions can name. Legal: 3..32.
  parameter int unsigned Slots = 5,
  // Bit s, slot s is single-port; the dual-port slots come first.
  parameter logic [31:0] SinglePort = 32'h10,
  // Twiddle tables of a lane, one for all modulus indices or one for each. Legal: 1 or moduli_slots.
  parameter int unsigned TwTables = 2,
  // log2(n_max) + 1, where montgomery_bits is: Bits that a step of Montgomery reduction removes; moduli are 1 modulo 2
  // to that power. 0 with Barrett.
  parameter int unsigned MontW = 7,
  // End: parameters.
  // Clock the build is meant for, in kHz.
  parameter int unsigned ClockKhz = 100000,
  // Hash of the sources and parameters of the build; 0 if unknown.
  parameter logic [127:0] BuildHash = '0,
  // Bytes of a coefficient on the data port.
  localparam int unsigned CoeffBytes = rs_core_pkg::coeff_bytes(W, WidePort),
  // Bits of a beat, which carries a memory word of the core or, with WidePort, one of each lane, or a part of it.
  localparam int unsigned DataWidth = rs_core_pkg::beat_bits((WidePort ? Lanes : 1) * P * CoeffBytes * 8),
  localparam int unsigned RegAddrBits = 12 + $clog2(Cores)
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
`ifdef RINGSMITH_FAULT_PIN
  // Test hook of builds that ask for it: see rs_core.
  input  logic                               fault_i,
`endif
  output logic                               irq_o,
  // AXI4-Lite slave: registers.
  input  logic                               s_axil_awvalid_i,
  output logic                               s_axil_awready_o,
  input  logic [RegAddrBits-1:0]             s_axil_awaddr_i,
  input  logic                               s_axil_wvalid_i,
  output logic                               s_axil_wready_o,
  input  logic [           31:0]             s_axil_wdata_i,
  input  logic [            3:0]             s_axil_wstrb_i,
  output logic                               s_axil_bvalid_o,
  input  logic                               s_axil_bready_i,
  output logic [            1:0]             s_axil_bresp_o,
  input  logic                               s_axil_arvalid_i,
  output logic                               s_axil_arready_o,
  input  logic [RegAddrBits-1:0]             s_axil_araddr_i,
  output logic                               s_axil_rvalid_o,
  input  logic                               s_axil_rready_i,
  output logic [           31:0]             s_axil_rdata_o,
  output logic [            1:0]             s_axil_rresp_o,
  // AXI4 master: polynomials. INCR bursts of whole beats, one ID.
  output logic                               m_axi_arvalid_o,
  input  logic                               m_axi_arready_i,
  output logic [  AddrWidth-1:0]             m_axi_araddr_o,
  output logic [            7:0]             m_axi_arlen_o,
  output logic [            2:0]             m_axi_arsize_o,
  output logic [            1:0]             m_axi_arburst_o,
  input  logic                               m_axi_rvalid_i,
  output logic                               m_axi_rready_o,
  input  logic [  DataWidth-1:0]             m_axi_rdata_i,
  input  logic [            1:0]             m_axi_rresp_i,
  input  logic                               m_axi_rlast_i,
  output logic                               m_axi_awvalid_o,
  input  logic                               m_axi_awready_i,
  output logic [  AddrWidth-1:0]             m_axi_awaddr_o,
  output logic [            7:0]             m_axi_awlen_o,
  output logic [            2:0]             m_axi_awsize_o,
  output logic [            1:0]             m_axi_awburst_o,
  output logic                               m_axi_wvalid_o,
  input  logic                               m_axi_wready_i,
  output logic [  DataWidth-1:0]             m_axi_wdata_o,
  output logic [DataWidth/8-1:0]             m_axi_wstrb_o,
  output logic                               m_axi_wlast_o,
  input  logic                               m_axi_bvalid_i,
  output logic                               m_axi_bready_o,
  input  logic [            1:0]             m_axi_bresp_i,
  // Events for a timeline, as rs_core gives them, by core and unit: compute, memory, base conversion;
  // its own cycle count.
  output logic [      Cores-1:0][ 3:0]       ev_start_o,
  output logic [      Cores-1:0][ 3:0]       ev_end_o,
  output logic [      Cores-1:0][ 3:0][31:0] ev_start_idx_o,
  output logic [      Cores-1:0][ 3:0][31:0] ev_end_idx_o,
  output logic [      Cores-1:0][ 3:0][63:0] ev_start_cmd_o,
  output logic [      Cores-1:0][63:0]       cycles_o
);

  // Begin: configuration, generated from spec/build.yaml.
  localparam rs_build_pkg::core_cfg_t Cfg = '{
    W: W,
    Lanes: Lanes,
    P: P,
    NMaxLog2: NMaxLog2,
    MulKind: rs_build_pkg::reduction_e'(MulKind),
    MulStyle: rs_build_pkg::multiplier_e'(MulStyle),
    MontSteps: rs_build_pkg::montgomery_steps_e'(MontSteps),
    ModMinBits: ModMinBits,
    EnPmul: EnPmul,
    EnCyclic: EnCyclic,
    Moduli: Moduli,
    Consts: Consts,
    RnsRate: RnsRate,
    RnsConversions: RnsConversions,
    RnsEntries: RnsEntries,
    Moves: Moves,
    AddrWidth: AddrWidth,
    WidePort: WidePort,
    EnStream: EnStream,
    EnPointwise: EnPointwise,
    Controller: rs_build_pkg::controller_e'(Controller),
    ControllerWords: ControllerWords,
    Cores: Cores,
    FifoDepth: FifoDepth,
    Slots: Slots,
    SinglePort: SinglePort,
    TwTables: TwTables,
    MontW: MontW
  };
  // End: configuration.
  localparam int unsigned PortBits = (WidePort ? Lanes : 1) * P * W;

  logic [Cores-1:0] irq;
  assign irq_o = |irq;

  // Registers: of all cores, and of each.
  localparam int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1;
  rs_axil_pkg::axil_req_t host_req;
  rs_axil_pkg::axil_rsp_t host_rsp;
  rs_axil_pkg::axil_req_t [Cores-1:0] reg_req;
  rs_axil_pkg::axil_rsp_t [Cores-1:0] reg_rsp;

  assign host_req = '{
          awvalid: s_axil_awvalid_i,
          awaddr: s_axil_awaddr_i[11:0],
          wvalid: s_axil_wvalid_i,
          wdata: s_axil_wdata_i,
          wstrb: s_axil_wstrb_i,
          bready: s_axil_bready_i,
          arvalid: s_axil_arvalid_i,
          araddr: s_axil_araddr_i[11:0],
          rready: s_axil_rready_i
      };
  assign s_axil_awready_o = host_rsp.awready;
  assign s_axil_wready_o  = host_rsp.wready;
  assign s_axil_bvalid_o  = host_rsp.bvalid;
  assign s_axil_bresp_o   = host_rsp.bresp;
  assign s_axil_arready_o = host_rsp.arready;
  assign s_axil_rvalid_o  = host_rsp.rvalid;
  assign s_axil_rdata_o   = host_rsp.rdata;
  assign s_axil_rresp_o   = host_rsp.rresp;

  rs_axil_split #(
    .Cores(Cores)
  ) u_split (
    .clk_i,
    .rst_ni,
    .s_axil_i(host_req),
    .s_axil_o(host_rsp),
    .aw_core_i(CoreBits'(s_axil_awaddr_i >> 12)),
    .ar_core_i(CoreBits'(s_axil_araddr_i >> 12)),
    .axil_o(reg_req),
    .axil_i(reg_rsp)
  );

  // Data port of each core; words of a LOAD go to all of them.
  logic [Cores-1:0] dma_rst_n, core_busy;
  rs_bundle_pkg::port_req_t [Cores-1:0] core_req;
  rs_bundle_pkg::port_rsp_t [Cores-1:0] core_rsp;
  logic [Cores-1:0][63:0] core_base;
  logic [Cores-1:0][PortBits-1:0] core_st_data;
  // The data port.
  logic abort, port_idle;
  rs_bundle_pkg::port_req_t port_req;
  rs_bundle_pkg::port_rsp_t port_rsp;
  logic [PortBits-1:0] ld_data, st_data;
  logic [63:0] dma_base;

  for (genvar c = 0; c < Cores; c++) begin : gen_core
    rs_system #(
      .Cfg(Cfg),
      .Serial(1'b0),
      .DataWidth(DataWidth),
      .ClockKhz(ClockKhz),
      .BuildHash(BuildHash)
    ) u_system (
      .clk_i,
      .rst_ni,
`ifdef RINGSMITH_FAULT_PIN
      .fault_i,
`endif
      .irq_o(irq[c]),
      .axil_i(reg_req[c]),
      .axil_o(reg_rsp[c]),
      .dma_rst_no(dma_rst_n[c]),
      .dma_base_o(core_base[c]),
      .port_o(core_req[c]),
      .port_i(core_rsp[c]),
      .ld_data_i(ld_data),
      .st_data_o(core_st_data[c]),
      .port_busy_i(core_busy[c]),
      .transfer_i('0),
      .events_o({ev_start_o[c], ev_end_o[c], ev_start_idx_o[c], ev_end_idx_o[c], ev_start_cmd_o[c]}),
      .cycles_o(cycles_o[c])
    );
  end

  rs_port_share #(
    .Cores(Cores),
    .PortBits(PortBits)
  ) u_share (
    .clk_i,
    .rst_ni,
    .core_rst_ni(dma_rst_n),
    .base_i(core_base),
    .core_i(core_req),
    .core_o(core_rsp),
    .st_data_i(core_st_data),
    .busy_o(core_busy),
    .base_o(dma_base),
    .abort_o(abort),
    .idle_i(port_idle),
    .port_o(port_req),
    .port_i(port_rsp),
    .st_data_o(st_data)
  );

  rs_axi_dma #(
    .W(W),
    .P(P),
    .Lanes(Lanes),
    .WidePort(WidePort),
    .NMaxLog2(NMaxLog2),
    .CoeffBytes(CoeffBytes),
    .DataWidth(DataWidth),
    .AddrWidth(AddrWidth)
  ) u_dma (
    .clk_i,
    .rst_ni,
    .base_i(dma_base[AddrWidth-1:0]),
    .abort_i(abort),
    .idle_o(port_idle),
    .port_i(port_req),
    .port_o(port_rsp),
    .ld_data_o(ld_data),
    .st_data_i(st_data),
    .m_axi_arvalid_o,
    .m_axi_arready_i,
    .m_axi_araddr_o,
    .m_axi_arlen_o,
    .m_axi_rvalid_i,
    .m_axi_rready_o,
    .m_axi_rdata_i,
    .m_axi_rresp_i,
    .m_axi_awvalid_o,
    .m_axi_awready_i,
    .m_axi_awaddr_o,
    .m_axi_awlen_o,
    .m_axi_wvalid_o,
    .m_axi_wready_i,
    .m_axi_wdata_o,
    .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_bvalid_i,
    .m_axi_bready_o,
    .m_axi_bresp_i
  );

  assign m_axi_arsize_o  = 3'($clog2(DataWidth / 8));
  assign m_axi_awsize_o  = 3'($clog2(DataWidth / 8));
  assign m_axi_arburst_o = 2'b01;
  assign m_axi_awburst_o = 2'b01;

  // Beats are counted by the data port.
  logic unused;
  assign unused = ^{m_axi_rlast_i, dma_base};

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) port_rsp.st_done |-> !m_axi_wvalid_o);
  assert property (@(posedge clk_i) disable iff (!armed) !(m_axi_arvalid_o && m_axi_awvalid_o));
`endif
endmodule
