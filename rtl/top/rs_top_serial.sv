// SPDX-License-Identifier: Apache-2.0
// Co-processor behind serial lines, as CoFHEE's host is: SPI, UART, and a byte-wide port with the same frames.
//
//   spi / uart / byte -> rs_serial_link -> rs_serial_frames -> rs_serial_bridge -> rs_system (registers)
//                                                              \-> rs_serial_dma <-> rs_system (LOAD, STORE)
//
// A LOAD or STORE waits (TRANSFER register, interrupt line) until the host has moved its bytes. Frames: rs_serial_pkg.
// One clock, and the SPI clock inside rs_spi_slave. CONTROL.reset resets the core and the transfer that waits.
// Reset: rst_ni may fall at any time and must rise in step with clk_i (rs_reset_sync synchronises any); two cycles or
// more. It reaches every control register; data registers, slots and tables have none and their contents never matter.
// spi_csn_i is high and spi_sck_i still while rst_ni rises.
module rs_top_serial #(
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
  // Pointwise instructions have multipliers of their own and run beside transforms.
  parameter bit EnPointwise = 1'b0,
  // A processor on the chip that feeds programs from its memory without the host, none or a RISC-V one. Legal: 0 none,
  // 1 riscv.
  parameter int unsigned Controller = 0,
  // Words of 32 bits of the controller's memory, which holds firmware and program; nothing without one. Legal: a power
  // of two from 64 to 16384.
  parameter int unsigned ControllerWords = 1024,
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
  // SPI clock the build is meant for, in kHz: at most ClockKhz.
  parameter int unsigned SerialKhz = 50000,
  // Core cycles per UART bit: 4 to 65535.
  parameter int unsigned UartDivisor = 64,
  // Data bytes of a frame at most: a power of two from 64 to 32768.
  parameter int unsigned FrameBytes = 2048,
  // Hash of the sources and parameters of the build; 0 if unknown.
  parameter logic [127:0] BuildHash = '0,
  // Bytes of a coefficient on the data port.
  localparam int unsigned CoeffBytes = rs_core_pkg::coeff_bytes(W, 1'b0)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
`ifdef RINGSMITH_FAULT_PIN
  // Test hook of builds that ask for it: see rs_core.
  input  logic              fault_i,
`endif
  output logic              irq_o,
  input  logic              spi_sck_i,
  input  logic              spi_csn_i,
  input  logic              spi_mosi_i,
  output logic              spi_miso_o,
  input  logic              uart_rx_i,
  output logic              uart_tx_o,
  input  logic              byte_in_valid_i,
  output logic              byte_in_ready_o,
  input  logic [ 7:0]       byte_in_data_i,
  output logic              byte_out_valid_o,
  input  logic              byte_out_ready_i,
  output logic [ 7:0]       byte_out_data_o,
  // Events for a timeline, as rs_core gives them, by unit: compute, memory, base conversion; its own cycle count.
  output logic [ 3:0]       ev_start_o,
  output logic [ 3:0]       ev_end_o,
  output logic [ 3:0][31:0] ev_start_idx_o,
  output logic [ 3:0][31:0] ev_end_idx_o,
  output logic [ 3:0][63:0] ev_start_cmd_o,
  output logic [63:0]       cycles_o
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
    AddrWidth: rs_build_pkg::SmallCore.AddrWidth,
    WidePort: rs_build_pkg::SmallCore.WidePort,
    EnStream: rs_build_pkg::SmallCore.EnStream,
    EnPointwise: EnPointwise,
    Controller: rs_build_pkg::controller_e'(Controller),
    ControllerWords: ControllerWords,
    Cores: rs_build_pkg::SmallCore.Cores,
    FifoDepth: FifoDepth,
    Slots: Slots,
    SinglePort: SinglePort,
    TwTables: TwTables,
    MontW: MontW
  };
  // End: configuration.
  logic dma_rst_n;
  rs_bundle_pkg::port_req_t port_req;
  rs_bundle_pkg::port_rsp_t port_rsp;
  rs_bundle_pkg::transfer_t waiting;
  logic [P*W-1:0] ld_data, st_data;
  logic [63:0] dma_base;
  logic abort, between, rx_valid, rx_ready, tx_valid, tx_ready;
  rs_serial_pkg::command_t command;
  logic in_valid, in_ready, out_valid, done, refused;
  logic [7:0] rx_data, tx_data, in_data, out_data, din_data, dout_data;
  logic [23:0] din_left, dout_left;
  logic din_valid, din_ready, dout_valid, dout_ready;
  rs_axil_pkg::axil_req_t axil_req;
  rs_axil_pkg::axil_rsp_t axil_rsp;

  rs_serial_link #(
    .UartDivisor(UartDivisor)
  ) u_link (
    .clk_i,
    .rst_ni,
    .spi_sck_i,
    .spi_csn_i,
    .spi_mosi_i,
    .spi_miso_o,
    .uart_rx_i,
    .uart_tx_o,
    .byte_in_valid_i,
    .byte_in_ready_o,
    .byte_in_data_i,
    .byte_out_valid_o,
    .byte_out_ready_i,
    .byte_out_data_o,
    .abort_o(abort),
    .between_i(between),
    .rx_valid_o(rx_valid),
    .rx_ready_i(rx_ready),
    .rx_data_o(rx_data),
    .tx_valid_i(tx_valid),
    .tx_ready_o(tx_ready),
    .tx_data_i(tx_data)
  );

  // 10 bits of the UART are a byte.
  rs_serial_frames #(
    .FrameBytes(FrameBytes),
    .SilenceCycles(rs_serial_pkg::SilenceBytes * 10 * UartDivisor)
  ) u_frames (
    .clk_i,
    .rst_ni,
    .abort_i(abort),
    .between_o(between),
    .rx_valid_i(rx_valid),
    .rx_ready_o(rx_ready),
    .rx_data_i(rx_data),
    .tx_valid_o(tx_valid),
    .tx_ready_i(tx_ready),
    .tx_data_o(tx_data),
    .command_o(command),
    .in_valid_o(in_valid),
    .in_ready_i(in_ready),
    .in_data_o(in_data),
    .out_valid_i(out_valid),
    .out_data_i(out_data),
    .done_i(done),
    .refused_i(refused)
  );

  rs_serial_bridge #(
    .FrameBytes(FrameBytes)
  ) u_bridge (
    .clk_i,
    .rst_ni,
    .command_i(command),
    .in_valid_i(in_valid),
    .in_ready_o(in_ready),
    .in_data_i(in_data),
    .out_valid_o(out_valid),
    .out_data_o(out_data),
    .done_o(done),
    .refused_o(refused),
    .din_left_i(din_left),
    .din_valid_o(din_valid),
    .din_ready_i(din_ready),
    .din_data_o(din_data),
    .dout_left_i(dout_left),
    .dout_valid_i(dout_valid),
    .dout_ready_o(dout_ready),
    .dout_data_i(dout_data),
    .axil_o(axil_req),
    .axil_i(axil_rsp)
  );

  // The link has no bus errors: of a damaged frame nothing gets here.
  rs_system #(
    .Cfg(Cfg),
    .Serial(1'b1),
    .DataWidth(8),
    .ClockKhz(ClockKhz),
    .SerialKhz(SerialKhz),
    .BuildHash(BuildHash)
  ) u_system (
    .clk_i,
    .rst_ni,
`ifdef RINGSMITH_FAULT_PIN
    .fault_i,
`endif
    .irq_o,
    .axil_i(axil_req),
    .axil_o(axil_rsp),
    .dma_rst_no(dma_rst_n),
    .dma_base_o(dma_base),
    .port_o(port_req),
    .port_i(port_rsp),
    .ld_data_i(ld_data),
    .st_data_o(st_data),
    .port_busy_i(waiting.valid),
    .transfer_i(waiting),
    .events_o({ev_start_o, ev_end_o, ev_start_idx_o, ev_end_idx_o, ev_start_cmd_o}),
    .cycles_o
  );

  rs_serial_dma #(
    .W(W),
    .P(P),
    .Lanes(Lanes),
    .CoeffBytes(CoeffBytes)
  ) u_dma (
    .clk_i,
    .rst_ni(dma_rst_n),
    .port_i(port_req),
    .port_o(port_rsp),
    .ld_data_o(ld_data),
    .st_data_i(st_data),
    .waiting_o(waiting),
    .din_left_o(din_left),
    .din_valid_i(din_valid),
    .din_ready_o(din_ready),
    .din_data_i(din_data),
    .dout_left_o(dout_left),
    .dout_valid_o(dout_valid),
    .dout_ready_i(dout_ready),
    .dout_data_o(dout_data)
  );

  // The serial host addresses its own buffers.
  logic unused;
  assign unused = ^dma_base;

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) spi_csn_i || !$isunknown(spi_mosi_i));
  assert property (@(posedge clk_i) disable iff (!dma_rst_n) port_rsp.st_done |=> !waiting.valid);
`endif
endmodule
