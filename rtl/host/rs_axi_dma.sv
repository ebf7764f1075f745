// SPDX-License-Identifier: Apache-2.0
// Data port of the AXI4 host: serves the core's LOAD and STORE from host memory.
//
// Host buffer b holds one polynomial per lane: lane l's coefficients start at base_i + (b * Lanes + l) * LaneBytes,
// LaneBytes = n_max * CoeffBytes, each coefficient in CoeffBytes bytes, little-endian.
//
// With WidePort the words of P coefficients of all lanes lie side by side, in rows of whole beats: word j of lane l
// starts at base_i + (b * n_max / P + j) * RowBytes + l * P * CoeffBytes, RowBytes those of the lanes rounded up.
// The padding is not looked at when read, and written as 0. base_i is a multiple of 4096.
//
//   LOAD:  AR bursts of all lanes -> R beats -> rs_host_unpack -> ld_data_o   (an RRESP error travels with its word)
//   STORE: st_data_i -> rs_host_pack -> W beats, AW bursts ahead -> B counted -> st_done   (st_err: any BRESP error)
//
// One transfer at a time; within it bursts follow each other without waiting for answers. Beats: one per cycle.
//
// AXI4's rules: no VALID waits for a READY (a write beat goes out as soon as the address of its burst is offered, so a
// slave may take either first), and a VALID stays stable until READY. abort_i ends a transfer within them: the
// burst whose address is offered is the last, outstanding read beats are taken and dropped, outstanding write beats
// go out with no byte enabled (the memory is unchanged), and idle_o waits for the last answer.
module rs_axi_dma
  import rs_build_pkg::*;
  import rs_bundle_pkg::*;
#(
  // Bits of a coefficient, 14 to 128.
  parameter int unsigned W = 32,
  // Coefficients per memory word, 1 to 32.
  parameter int unsigned P = 1,
  // Lanes, 1 to 15.
  parameter int unsigned Lanes = 1,
  // log2 of the largest ring degree, 3 to 15.
  parameter int unsigned NMaxLog2 = 8,
  // Bytes of a coefficient in host memory, at least W / 8: 2, 4, 8 or 16, with WidePort any up to 16.
  parameter int unsigned CoeffBytes = 4,
  // 1: the words of all lanes lie side by side.
  parameter bit WidePort = 1'b0,
  // Bits of a beat: a power of two, 8 to 1024, that divides a word's P * CoeffBytes * 8; with WidePort any.
  parameter int unsigned DataWidth = 32,
  // Address bits, 32 to 64.
  parameter int unsigned AddrWidth = 40,
  localparam int unsigned PortBits = (WidePort ? Lanes : 1) * P * W
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic      [  AddrWidth-1:0] base_i,
  // The core is being reset: end the transfer. The core's side is then quiet; a request waits until idle_o.
  input  logic                        abort_i,
  // Nothing is in flight.
  output logic                        idle_o,
  // Core (see rs_core).
  input  port_req_t                   port_i,
  output port_rsp_t                   port_o,
  output logic      [   PortBits-1:0] ld_data_o,
  input  logic      [   PortBits-1:0] st_data_i,
  // AXI4 master, INCR bursts, one ID.
  output logic                        m_axi_arvalid_o,
  input  logic                        m_axi_arready_i,
  output logic      [  AddrWidth-1:0] m_axi_araddr_o,
  output logic      [            7:0] m_axi_arlen_o,
  input  logic                        m_axi_rvalid_i,
  output logic                        m_axi_rready_o,
  input  logic      [  DataWidth-1:0] m_axi_rdata_i,
  input  logic      [            1:0] m_axi_rresp_i,
  output logic                        m_axi_awvalid_o,
  input  logic                        m_axi_awready_i,
  output logic      [  AddrWidth-1:0] m_axi_awaddr_o,
  output logic      [            7:0] m_axi_awlen_o,
  output logic                        m_axi_wvalid_o,
  input  logic                        m_axi_wready_i,
  output logic      [  DataWidth-1:0] m_axi_wdata_o,
  output logic      [DataWidth/8-1:0] m_axi_wstrb_o,
  output logic                        m_axi_wlast_o,
  input  logic                        m_axi_bvalid_i,
  output logic                        m_axi_bready_o,
  input  logic      [            1:0] m_axi_bresp_i
);
  localparam int unsigned BeatBytes = DataWidth / 8;
  // Words that the port moves at a time, and the beats of these.
  localparam int unsigned PortWords = WidePort ? Lanes : 1;
  localparam int unsigned RowBeats = (PortWords * P * CoeffBytes + BeatBytes - 1) / BeatBytes;
  // Stretches of host memory whose size is a power of two: a lane's n coefficients each; or as many beats as there are
  // rows, n / P.
  localparam int unsigned Stretches = WidePort ? RowBeats : Lanes;
  localparam int unsigned StrideLog2 = NMaxLog2 + (WidePort ? $clog2(BeatBytes) - $clog2(P) : $clog2(CoeffBytes));
  // A transfer has at most 8 * 2^15 * 16 bytes: 2^22 beats, 2^14 bursts of 256 bytes; one bit is for the sign.
  localparam int unsigned CountWidth = 23;
  localparam int unsigned BurstWidth = 16;

  if (!WidePort && P * CoeffBytes % BeatBytes != 0) begin : gen_check_beat
    $fatal(
      1, "%m: DataWidth = %0d must divide P * CoeffBytes * 8 = %0d without a wide port", DataWidth, P * CoeffBytes * 8
    );
  end
  if (NMaxLog2 < NMaxLog2Least || NMaxLog2 > NMaxLog2Most) begin : gen_check_n
    $fatal(1, "%m: NMaxLog2 must be %0d to %0d", NMaxLog2Least, NMaxLog2Most);
  end

  // As sums: a product would take a DSP block.
  function automatic logic [AddrWidth-1:0] times_stretches(logic [19:0] number);
    times_stretches = '0;
    for (int i = 0; i < 6; i++) begin
      if (Stretches[i]) times_stretches += AddrWidth'(number) << i;
    end
  endfunction

  typedef enum logic [1:0] {
    Idle,
    Load,
    Store
  } state_e;
  state_e state_q;

  logic ready, start, finished, aborted_q, dropping;
  logic [4:0] log2_bytes;
  logic [AddrWidth-1:0] address;
  logic bursts_idle, burst_valid, burst_ready;
  logic [AddrWidth-1:0] burst_address;
  logic [7:0] burst_length;

  assign dropping    = abort_i || aborted_q;
  assign ready       = state_q == Idle && bursts_idle && !abort_i;
  assign start       = port_i.transfer.valid && ready;
  assign log2_bytes  = 5'(port_i.transfer.log2_n) + 5'(StrideLog2 - NMaxLog2);
  assign address     = base_i + (times_stretches(port_i.transfer.buf_idx) << StrideLog2);
  assign idle_o      = state_q == Idle;

  rs_axi_bursts #(
    .AddrWidth (AddrWidth),
    .BeatBytes (BeatBytes),
    .Stretches (Stretches),
    .StrideLog2(StrideLog2),
    .Contiguous(WidePort)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .start_i     (start),
    .address_i   (address),
    .log2_bytes_i(log2_bytes),
    .stop_i      (dropping),
    .idle_o      (bursts_idle),
    .valid_o     (burst_valid),
    .ready_i     (burst_ready),
    .address_o   (burst_address),
    .length_o    (burst_length)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      aborted_q <= 1'b0;
    end else begin
      if (start) state_q <= port_i.transfer.store ? Store : Load;
      else if (finished) state_q <= Idle;
      aborted_q <= dropping && state_q != Idle && !finished;
    end
  end

  // ------------------------------------------------------------------------------------------------------------- LOAD
  // Outstanding read beats.
  logic [CountWidth-1:0] owed_q, owed_d;
  logic beat_ready, ar_take, r_take, ld_valid, ld_err;

  assign m_axi_arvalid_o = burst_valid && state_q == Load;
  assign m_axi_araddr_o  = burst_address;
  assign m_axi_arlen_o   = burst_length;
  assign m_axi_rready_o  = beat_ready && state_q == Load;
  assign ar_take         = m_axi_arvalid_o && m_axi_arready_i;
  assign r_take          = m_axi_rvalid_i && m_axi_rready_o;

  always_comb begin
    owed_d = owed_q;
    if (ar_take) owed_d += CountWidth'(burst_length) + CountWidth'(1);
    if (r_take) owed_d -= CountWidth'(1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_q <= '0;
    else owed_q <= owed_d;
  end

  rs_host_unpack #(
    .W        (W),
    .P        (PortWords * P),
    .CoeffBits(CoeffBytes * 8),
    .BeatBits (DataWidth)
  ) u_unpack (
    .clk_i,
    .rst_ni,
    .clear_i     (dropping),
    .beat_valid_i(m_axi_rvalid_i && state_q == Load),
    .beat_ready_o(beat_ready),
    .beat_data_i (m_axi_rdata_i),
    .beat_err_i  (m_axi_rresp_i[1]),
    .word_valid_o(ld_valid),
    .word_ready_i(port_i.ld_ready),
    .word_data_o (ld_data_o),
    .word_err_o  (ld_err)
  );

  // ------------------------------------------------------------------------------------------------------------ STORE
  // Bursts whose address was taken less those whose data went out: -1 while data is ahead of the address on offer.
  logic signed [BurstWidth-1:0] lead_q;
  logic [BurstWidth-1:0] answers_left_q;
  logic [7:0] in_burst_q;
  logic pack_ready, beat_valid, beat_wanted, held_q, filling, aw_take, w_take, b_take, failed_q, st_ready, st_done;

  assign st_ready        = pack_ready && state_q == Store && !dropping;
  assign m_axi_awvalid_o = burst_valid && state_q == Store;
  assign m_axi_awaddr_o  = burst_address;
  assign m_axi_awlen_o   = burst_length;
  assign burst_ready     = (state_q == Load) ? m_axi_arready_i : (state_q == Store) && m_axi_awready_i;
  assign aw_take         = m_axi_awvalid_o && m_axi_awready_i;
  assign beat_wanted     = m_axi_awvalid_o ? !lead_q[BurstWidth-1] : lead_q > 0;
  // While dropping, a beat that was offered stays; the others carry no byte.
  assign filling         = dropping && !held_q;
  assign m_axi_wvalid_o  = beat_wanted && (beat_valid || filling);
  assign m_axi_wstrb_o   = filling ? '0 : '1;
  assign m_axi_wlast_o   = in_burst_q == burst_length;
  assign w_take          = m_axi_wvalid_o && m_axi_wready_i;
  assign m_axi_bready_o  = 1'b1;
  assign b_take          = m_axi_bvalid_i && state_q == Store;

  rs_host_pack #(
    .W        (W),
    .P        (PortWords * P),
    .CoeffBits(CoeffBytes * 8),
    .BeatBits (DataWidth)
  ) u_pack (
    .clk_i,
    .rst_ni,
    .clear_i     (filling),
    .word_valid_i(port_i.st_valid && state_q == Store && !dropping),
    .word_ready_o(pack_ready),
    .word_data_i (st_data_i),
    .beat_valid_o(beat_valid),
    .beat_ready_i(m_axi_wready_i && beat_wanted && !filling),
    .beat_data_o (m_axi_wdata_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lead_q         <= '0;
      in_burst_q     <= '0;
      held_q         <= 1'b0;
      answers_left_q <= '0;
      failed_q       <= 1'b0;
    end else begin
      lead_q <= lead_q + BurstWidth'(aw_take) - BurstWidth'(w_take && m_axi_wlast_o);
      if (w_take) in_burst_q <= m_axi_wlast_o ? '0 : in_burst_q + 8'd1;
      held_q <= m_axi_wvalid_o && !m_axi_wready_i && !filling;
      answers_left_q <= answers_left_q + BurstWidth'(aw_take) - BurstWidth'(b_take);
      failed_q <= state_q == Store && (failed_q || (b_take && m_axi_bresp_i[1]));
    end
  end

  // The last answer can only come after the last beat; a LOAD is over with its last beat.
  logic last_beat, last_answer;
  assign last_beat   = r_take && owed_q == CountWidth'(1);
  assign last_answer = b_take && answers_left_q == BurstWidth'(1);
  assign finished    = bursts_idle && (state_q == Load ? last_beat : last_answer);
  assign st_done     = finished && state_q == Store && !dropping;

  assign port_o = '{
          ready: ready,
          ld_valid: ld_valid,
          ld_err: ld_err,
          st_ready: st_ready,
          st_done: st_done,
          st_err: st_done && (failed_q || m_axi_bresp_i[1])
      };

  // AXI4 answers: bit 1 says error; bit 0 only tells which kind. The words of a transfer are counted.
  logic unused;
  assign unused = m_axi_rresp_i[0] ^ m_axi_bresp_i[0] ^ port_i.st_last;

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  // Obligations of the slave: no unsolicited beat or answer, none before the data it answers.
  assert property (@(posedge clk_i) disable iff (!armed) m_axi_rvalid_i |-> owed_q != '0)
  else $error("%m: a read beat that no burst asked for");
  assert property (@(posedge clk_i) disable iff (!armed) m_axi_bvalid_i |->
      answers_left_q != '0 && signed'(answers_left_q) > lead_q)
  else $error("%m: a write answer before the address and the data of its burst");
  // Our own are proved in rtl/formal/rs_axi_checks.sv; here the stability of VALID, for simulations.
  assert property (@(posedge clk_i) disable iff (!armed) m_axi_arvalid_o && !m_axi_arready_i |=> m_axi_arvalid_o && $stable(
    m_axi_araddr_o
  ))
  else $error("%m: an address offered must stay");
  assert property (@(posedge clk_i) disable iff (!armed) m_axi_awvalid_o && !m_axi_awready_i |=> m_axi_awvalid_o && $stable(
    m_axi_awaddr_o
  ))
  else $error("%m: an address offered must stay");
  assert property (@(posedge clk_i) disable iff (!armed) m_axi_wvalid_o && !m_axi_wready_i |=> m_axi_wvalid_o && $stable(
    {m_axi_wdata_o, m_axi_wstrb_o, m_axi_wlast_o}
  ))
  else $error("%m: a beat offered must stay");
  assert property (@(posedge clk_i) disable iff (!armed) abort_i |-> !port_i.transfer.valid && !port_i.st_valid)
  else $error("%m: the core is not quiet while it is reset");
`endif
endmodule
