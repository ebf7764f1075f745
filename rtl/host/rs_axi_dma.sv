// SPDX-License-Identifier: Apache-2.0
// Data port of the AXI4 host: serves the core's LOAD and STORE from host memory.
//
// Host buffer b holds one polynomial per lane: lane l's coefficients start at base_i + (b * Lanes + l) * LaneBytes,
// LaneBytes = n_max * CoeffBytes, each coefficient in CoeffBytes bytes, little-endian.
//
//   LOAD:  AR bursts of all lanes -> R beats -> rs_host_unpack -> ld_*      (an RRESP error travels with its word)
//   STORE: st_* -> rs_host_pack -> W beats, AW bursts ahead of them -> B counted -> st_done_o (st_err_o: any BRESP error)
//
// One transfer at a time; within it bursts follow each other without waiting for answers. Beats: one per cycle.
module rs_axi_dma #(
  // Bits of a coefficient, 14 to 128.
  parameter int unsigned W = 32,
  // Coefficients per memory word, 1 to 32.
  parameter int unsigned P = 1,
  // Lanes, 1 to 8.
  parameter int unsigned Lanes = 1,
  // log2 of the largest ring degree, 3 to 15.
  parameter int unsigned NMaxLog2 = 8,
  // Bytes of a coefficient in host memory: 2, 4, 8 or 16, at least W / 8.
  parameter int unsigned CoeffBytes = 4,
  // Bits of a beat: a power of two that divides P * CoeffBytes * 8, 8 to 1024.
  parameter int unsigned DataWidth = 32,
  // Address bits, 32 to 64.
  parameter int unsigned AddrWidth = 40
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [  AddrWidth-1:0] base_i,
  // Nothing is in flight.
  output logic                   idle_o,
  // Core: request, LOAD words, STORE words (see rs_core).
  input  logic                   req_valid_i,
  output logic                   req_ready_o,
  input  logic                   req_store_i,
  input  logic [           19:0] req_buf_i,
  input  logic [            3:0] req_logn_i,
  output logic                   ld_valid_o,
  input  logic                   ld_ready_i,
  output logic [        P*W-1:0] ld_data_o,
  output logic                   ld_err_o,
  input  logic                   st_valid_i,
  output logic                   st_ready_o,
  input  logic [        P*W-1:0] st_data_i,
  output logic                   st_done_o,
  output logic                   st_err_o,
  // AXI4 master, INCR bursts, one ID.
  output logic                   m_axi_arvalid_o,
  input  logic                   m_axi_arready_i,
  output logic [  AddrWidth-1:0] m_axi_araddr_o,
  output logic [            7:0] m_axi_arlen_o,
  input  logic                   m_axi_rvalid_i,
  output logic                   m_axi_rready_o,
  input  logic [  DataWidth-1:0] m_axi_rdata_i,
  input  logic [            1:0] m_axi_rresp_i,
  output logic                   m_axi_awvalid_o,
  input  logic                   m_axi_awready_i,
  output logic [  AddrWidth-1:0] m_axi_awaddr_o,
  output logic [            7:0] m_axi_awlen_o,
  output logic                   m_axi_wvalid_o,
  input  logic                   m_axi_wready_i,
  output logic [  DataWidth-1:0] m_axi_wdata_o,
  output logic [DataWidth/8-1:0] m_axi_wstrb_o,
  output logic                   m_axi_wlast_o,
  input  logic                   m_axi_bvalid_i,
  output logic                   m_axi_bready_o,
  input  logic [            1:0] m_axi_bresp_i
);
  localparam int unsigned CoeffLog2 = $clog2(CoeffBytes);
  localparam int unsigned LaneStrideLog2 = NMaxLog2 + CoeffLog2;
  localparam int unsigned BeatBytes = DataWidth / 8;
  localparam int unsigned BeatLog2 = $clog2(BeatBytes);
  // Beats of a transfer: at most 8 * 2^15 * 16.
  localparam int unsigned CountWidth = 23;

  if (NMaxLog2 < 3 || NMaxLog2 > 15) begin : gen_check_n
    $fatal(1, "%m: NMaxLog2 must be from 3 to 15");
  end

  typedef enum logic [1:0] {
    Idle,
    Load,
    Store
  } state_e;
  state_e state_q;

  logic start, finished;
  logic [4:0] log2_bytes;
  logic [AddrWidth-1:0] address;
  logic bursts_idle, burst_valid, burst_ready;
  logic [AddrWidth-1:0] burst_address;
  logic [7:0] burst_length;
  logic [CountWidth-1:0] beats_left_q;
  logic beat;

  assign req_ready_o = state_q == Idle && bursts_idle;
  assign start       = req_valid_i && req_ready_o;
  assign log2_bytes  = 5'(req_logn_i) + 5'(CoeffLog2);
  assign address     = base_i + ((AddrWidth'(req_buf_i) * AddrWidth'(Lanes)) << LaneStrideLog2);
  assign idle_o      = state_q == Idle;

  rs_axi_bursts #(
    .AddrWidth     (AddrWidth),
    .BeatBytes     (BeatBytes),
    .Lanes         (Lanes),
    .LaneStrideLog2(LaneStrideLog2)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .start_i     (start),
    .address_i   (address),
    .log2_bytes_i(log2_bytes),
    .idle_o      (bursts_idle),
    .valid_o     (burst_valid),
    .ready_i     (burst_ready),
    .address_o   (burst_address),
    .length_o    (burst_length)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      beats_left_q <= '0;
    end else if (start) begin
      state_q      <= req_store_i ? Store : Load;
      beats_left_q <= CountWidth'(Lanes) << (log2_bytes - 5'(BeatLog2));
    end else begin
      if (beat) beats_left_q <= beats_left_q - CountWidth'(1);
      if (finished) state_q <= Idle;
    end
  end

  // ------------------------------------------------------------------------------------------------------------- LOAD
  logic beat_ready;

  assign m_axi_arvalid_o = burst_valid && state_q == Load;
  assign m_axi_araddr_o  = burst_address;
  assign m_axi_arlen_o   = burst_length;
  assign m_axi_rready_o  = beat_ready && state_q == Load;

  rs_host_unpack #(
    .W        (W),
    .P        (P),
    .CoeffBits(CoeffBytes * 8),
    .BeatBits (DataWidth)
  ) u_unpack (
    .clk_i,
    .rst_ni,
    .clear_i     (1'b0),
    .beat_valid_i(m_axi_rvalid_i && state_q == Load),
    .beat_ready_o(beat_ready),
    .beat_data_i (m_axi_rdata_i),
    .beat_err_i  (m_axi_rresp_i[1]),
    .word_valid_o(ld_valid_o),
    .word_ready_i(ld_ready_i),
    .word_data_o (ld_data_o),
    .word_err_o  (ld_err_o)
  );

  // ------------------------------------------------------------------------------------------------------------ STORE
  // Write data never overtakes its address: credit counts the beats whose address was taken.
  logic [CountWidth-1:0] credit_q, credit_d;
  logic [7:0] in_burst_q;
  logic [7:0] burst_beats_q;
  logic [CountWidth-1:0] answers_left_q;
  logic pack_ready, beat_valid, aw_take, w_take, b_take, failed_q;

  assign st_ready_o      = pack_ready && state_q == Store;
  assign m_axi_awvalid_o = burst_valid && state_q == Store;
  assign m_axi_awaddr_o  = burst_address;
  assign m_axi_awlen_o   = burst_length;
  assign burst_ready     = (state_q == Load) ? m_axi_arready_i : (state_q == Store) && m_axi_awready_i;
  assign aw_take         = m_axi_awvalid_o && m_axi_awready_i;
  assign m_axi_wvalid_o  = beat_valid && credit_q != '0;
  assign m_axi_wstrb_o   = '1;
  assign m_axi_wlast_o   = in_burst_q == burst_beats_q;
  assign w_take          = m_axi_wvalid_o && m_axi_wready_i;
  assign m_axi_bready_o  = 1'b1;
  assign b_take          = m_axi_bvalid_i && state_q == Store;

  always_comb begin
    credit_d = credit_q;
    if (aw_take) credit_d += CountWidth'(burst_length) + CountWidth'(1);
    if (w_take) credit_d -= CountWidth'(1);
  end

  rs_host_pack #(
    .W        (W),
    .P        (P),
    .CoeffBits(CoeffBytes * 8),
    .BeatBits (DataWidth)
  ) u_pack (
    .clk_i,
    .rst_ni,
    .clear_i     (1'b0),
    .word_valid_i(st_valid_i && state_q == Store),
    .word_ready_o(pack_ready),
    .word_data_i (st_data_i),
    .beat_valid_o(beat_valid),
    .beat_ready_i(m_axi_wready_i && credit_q != '0),
    .beat_data_o (m_axi_wdata_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      credit_q       <= '0;
      in_burst_q     <= '0;
      burst_beats_q  <= '0;
      answers_left_q <= '0;
      failed_q       <= 1'b0;
    end else begin
      credit_q <= credit_d;
      if (aw_take) burst_beats_q <= burst_length;
      if (w_take) in_burst_q <= m_axi_wlast_o ? '0 : in_burst_q + 8'd1;
      answers_left_q <= answers_left_q + CountWidth'(aw_take) - CountWidth'(b_take);
      failed_q <= state_q == Store && (failed_q || (b_take && m_axi_bresp_i[1]));
    end
  end

  assign beat = (state_q == Load) ? m_axi_rvalid_i && m_axi_rready_o : w_take;
  // The last answer can only come after the last beat; a LOAD is over with its last beat.
  assign finished = (state_q == Load) ? beat && beats_left_q == CountWidth'(1) :
      (state_q == Store) && beats_left_q == '0 && b_take && answers_left_q == CountWidth'(1);
  assign st_done_o = finished && state_q == Store;
  assign st_err_o = st_done_o && (failed_q || m_axi_bresp_i[1]);

  // AXI4 answers: bit 1 says error; bit 0 only tells which kind.
  logic unused_resp;
  assign unused_resp = m_axi_rresp_i[0] ^ m_axi_bresp_i[0];

  // A burst's answer belongs to a burst; no beat comes uncalled.
  assert property (@(posedge clk_i) disable iff (!rst_ni) b_take |-> answers_left_q != '0);
  assert property (@(posedge clk_i) disable iff (!rst_ni) beat |-> beats_left_q != '0);
  assert property (@(posedge clk_i) disable iff (!rst_ni) m_axi_arvalid_o && !m_axi_arready_i |=> m_axi_arvalid_o && $stable(
    m_axi_araddr_o
  ));
endmodule
