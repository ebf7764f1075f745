// SPDX-License-Identifier: Apache-2.0
// Checks bound into rs_axi_dma: the rules of AXI4, and the state after an aborted transfer.
//
// Separate counters follow the handshakes at the pins: bursts and beats promised, sent, outstanding and answered. The
// slave is assumed to answer requests only, the core to be quiet while it is reset. One beat is one word here, or one
// row of all lanes' words.
// The last block says how the data port's own counters relate to these, which makes the proof one by induction.
module rs_axi_checks
  import rs_bundle_pkg::*;
#(
  parameter int unsigned W = 14,
  parameter int unsigned Lanes = 3,
  parameter bit WidePort = 1'b0,
  parameter int unsigned DataWidth = 16,
  parameter int unsigned AddrWidth = 16,
  parameter int unsigned NMaxLog2 = 3,
  localparam int unsigned Beats = 1 << NMaxLog2,
  localparam int unsigned Bursts = WidePort ? 1 : Lanes,
  localparam int unsigned PortWords = WidePort ? Lanes : 1,
  localparam int unsigned PlaceBits = WidePort ? DataWidth >> $clog2(Lanes) : DataWidth
) (
  input logic                          clk_i,
  input logic                          rst_ni,
  input logic        [  AddrWidth-1:0] base_i,
  input logic                          abort_i,
  input logic                          idle_o,
  input port_req_t                     port_i,
  input port_rsp_t                     port_o,
  input logic        [PortWords*W-1:0] ld_data_o,
  input logic        [PortWords*W-1:0] st_data_i,
  input logic                          m_axi_arvalid_o,
  input logic                          m_axi_arready_i,
  input logic        [  AddrWidth-1:0] m_axi_araddr_o,
  input logic        [            7:0] m_axi_arlen_o,
  input logic                          m_axi_rvalid_i,
  input logic                          m_axi_rready_o,
  input logic        [  DataWidth-1:0] m_axi_rdata_i,
  input logic                          m_axi_awvalid_o,
  input logic                          m_axi_awready_i,
  input logic        [  AddrWidth-1:0] m_axi_awaddr_o,
  input logic        [            7:0] m_axi_awlen_o,
  input logic                          m_axi_wvalid_o,
  input logic                          m_axi_wready_i,
  input logic        [  DataWidth-1:0] m_axi_wdata_o,
  input logic        [DataWidth/8-1:0] m_axi_wstrb_o,
  input logic                          m_axi_wlast_o,
  input logic                          m_axi_bvalid_i,
  input logic                          m_axi_bready_o,
  // Inside.
  input logic        [            1:0] state_q,
  input logic                          aborted_q,
  input logic                          held_q,
  input logic        [           22:0] owed_q,
  input logic signed [           15:0] lead_q,
  input logic        [           15:0] answers_left_q,
  input logic        [            7:0] in_burst_q,
  input logic                          beat_valid,
  input logic        [            5:0] stretches_left,
  input logic        [            4:0] log2_bytes,
  input logic        [  AddrWidth-1:0] offset,
  input logic                          gathered
);
  localparam logic [1:0] Idle = 2'd0;
  localparam logic [1:0] Load = 2'd1;
  localparam logic [1:0] Store = 2'd2;

  logic ar, r, aw, w, b, start, dropping;
  assign start = port_i.transfer.valid && port_o.ready;
  assign ar    = m_axi_arvalid_o && m_axi_arready_i;
  assign r     = m_axi_rvalid_i && m_axi_rready_o;
  assign aw    = m_axi_awvalid_o && m_axi_awready_i;
  assign w     = m_axi_wvalid_o && m_axi_wready_i;
  assign b     = m_axi_bvalid_i && m_axi_bready_o;

  // Outstanding read beats; write bursts taken, sent whole, answered; beats of the burst being sent; words that came
  // for the core and were not given to it; words the core gave; was this transfer aborted?
  logic [7:0] reads_q, taken_q, sent_q, answered_q, beats_q, fresh_q, given_q;
  logic signed [8:0] ahead;
  logic aborting_q;
  logic [PortWords*W-1:0] came_q, gave_q;

  // Unpacking of a beat to a core word, and packing of a word to a beat.
  function automatic logic [PortWords*W-1:0] seen(logic [DataWidth-1:0] beat);
    for (int i = 0; i < int'(PortWords); i++) seen[i*W+:W] = beat[i*PlaceBits+:W];
  endfunction
  function automatic logic [DataWidth-1:0] sent(logic [PortWords*W-1:0] word);
    sent = '0;
    for (int i = 0; i < int'(PortWords); i++) sent[i*PlaceBits+:W] = word[i*W+:W];
  endfunction

  assign ahead    = signed'({1'b0, taken_q}) - signed'({1'b0, sent_q});
  assign dropping = abort_i || aborting_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {reads_q, taken_q, sent_q, answered_q, beats_q, fresh_q, given_q, aborting_q} <= '0;
    end else begin
      reads_q <= reads_q + (ar ? m_axi_arlen_o + 8'd1 : '0) - 8'(r);
      if (start) {taken_q, sent_q, answered_q} <= '0;
      else {taken_q, sent_q, answered_q} <= {taken_q + 8'(aw), sent_q + 8'(w && m_axi_wlast_o), answered_q + 8'(b)};
      if (w) beats_q <= m_axi_wlast_o ? '0 : beats_q + 8'd1;
      fresh_q    <= dropping ? '0 : fresh_q + 8'(r) - 8'(port_o.ld_valid && port_i.ld_ready);
      given_q    <= start ? '0 : given_q + 8'(port_i.st_valid && port_o.st_ready);
      aborting_q <= dropping && !idle_o && !(b && sent_q == taken_q && !m_axi_awvalid_o && answered_q + 8'd1 == taken_q) &&
          !(r && reads_q == 8'd1 && !m_axi_arvalid_o);
    end
  end

  always_ff @(posedge clk_i) begin
    if (r) came_q <= seen(m_axi_rdata_i);
    if (port_i.st_valid && port_o.st_ready) gave_q <= st_data_i;
  end

  // Offers that were not taken a cycle ago.
  logic ar_wait_q, aw_wait_q, w_wait_q, full_q, last_q;
  logic [AddrWidth-1:0] ar_addr_q, aw_addr_q;
  logic [7:0] ar_len_q, aw_len_q;
  logic [DataWidth-1:0] data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ar_wait_q, aw_wait_q, w_wait_q, full_q} <= '0;
    end else begin
      ar_wait_q <= m_axi_arvalid_o && !m_axi_arready_i;
      aw_wait_q <= m_axi_awvalid_o && !m_axi_awready_i;
      w_wait_q  <= m_axi_wvalid_o && !m_axi_wready_i;
      full_q    <= &m_axi_wstrb_o;
    end
  end
  always_ff @(posedge clk_i) begin
    {ar_addr_q, ar_len_q} <= {m_axi_araddr_o, m_axi_arlen_o};
    {aw_addr_q, aw_len_q} <= {m_axi_awaddr_o, m_axi_awlen_o};
    {data_q, last_q}      <= {m_axi_wdata_o, m_axi_wlast_o};
  end

  // The neighbours.
  always_comb begin
    if (m_axi_rvalid_i) assume (reads_q != '0);
    if (m_axi_bvalid_i) assume (answered_q < taken_q && answered_q < sent_q);
    if (abort_i) assume (!port_i.transfer.valid && !port_i.st_valid && !port_i.ld_ready);
    if (port_i.st_valid) assume (32'(given_q) < Bursts * Beats);
    assume (base_i[11:0] == '0 && port_i.transfer.log2_n == 4'(NMaxLog2));
  end

  always_comb begin
    if (rst_ni) begin
      // VALID and payload are stable until READY.
      if (ar_wait_q) assert (m_axi_arvalid_o && {m_axi_araddr_o, m_axi_arlen_o} == {ar_addr_q, ar_len_q});
      if (aw_wait_q) assert (m_axi_awvalid_o && {m_axi_awaddr_o, m_axi_awlen_o} == {aw_addr_q, aw_len_q});
      if (w_wait_q) begin
        assert (m_axi_wvalid_o && m_axi_wlast_o == last_q && m_axi_wdata_o == data_q);
        assert (m_axi_wstrb_o == {$bits(m_axi_wstrb_o) {full_q}});
      end
      // A beat on hand goes out as soon as the address of its burst is on offer: it waits for no READY.
      if (beat_valid && ahead + signed'(9'(m_axi_awvalid_o)) > 0) assert (m_axi_wvalid_o);
      // No data without an address; the last beat, and only it, says so; bursts are as long as their address said.
      if (m_axi_wvalid_o) begin
        assert (ahead + signed'(9'(m_axi_awvalid_o)) > 0);
        assert (m_axi_wlast_o == (32'(beats_q) == Beats - 1));
      end
      if (m_axi_arvalid_o) assert (32'(m_axi_arlen_o) == Beats - 1);
      if (m_axi_awvalid_o) assert (32'(m_axi_awlen_o) == Beats - 1);
      // No byte is written once a transfer is dropped but those already on offer, and all before.
      if (m_axi_wvalid_o && !(w_wait_q && full_q)) assert (m_axi_wstrb_o == {$bits(m_axi_wstrb_o) {!dropping}});
      if (m_axi_wvalid_o && m_axi_wstrb_o != '0) assert (m_axi_wdata_o == sent(gave_q));
      // Idle: nothing on offer, nothing outstanding.
      if (idle_o) begin
        assert (!m_axi_arvalid_o && !m_axi_awvalid_o && !m_axi_wvalid_o);
        assert (reads_q == '0 && ahead == 0 && answered_q == taken_q);
      end
      if (port_o.st_done) assert (!dropping && 32'(sent_q) == Bursts && 32'(answered_q) + 1 == Bursts);
      // The core gets the words that came for it, once each, none of a transfer that was dropped.
      if (port_o.ld_valid && !abort_i) assert (fresh_q == 8'd1 && ld_data_o == came_q);
    end
  end

  // How the inside relates to this.
  always_comb begin
    if (rst_ni) begin
      assert (state_q != 2'd3 && (state_q == Idle) == idle_o && aborted_q == aborting_q);
      assert (23'(reads_q) == owed_q && 8'(in_burst_q) == beats_q);
      assert (lead_q == 16'(ahead) && answers_left_q == 16'(taken_q) - 16'(answered_q));
      assert (stretches_left <= 6'(Bursts) && answered_q <= taken_q && answered_q <= sent_q && ahead >= -1);
      assert (32'(taken_q) <= Bursts && 32'(sent_q) <= Bursts && 32'(beats_q) < Beats);
      assert (!gathered && (dropping || (fresh_q <= 8'd1 && (fresh_q == 8'd1) == port_o.ld_valid)));
      if (state_q != Idle)
        assert (32'(log2_bytes) == NMaxLog2 + $clog2(DataWidth / 8) && (offset == '0 || stretches_left == '0));
      if (state_q == Idle) assert (stretches_left == '0 && beats_q == '0 && !aborting_q && !w_wait_q && !held_q);
      if (state_q == Load) begin
        assert (32'(reads_q) + Beats * 32'(stretches_left) <= Bursts * Beats && (reads_q != '0 || stretches_left != '0));
        assert (ahead == 0 && answered_q == taken_q && beats_q == '0 && !beat_valid);
      end else begin
        assert (reads_q == '0);
      end
      if (state_q == Store) begin
        assert (32'(taken_q) + 32'(stretches_left) <= Bursts && (answered_q != taken_q || stretches_left != '0));
        if (ahead < 0) assert (stretches_left != '0);
        if (beats_q != '0) assert (ahead > 0 || (ahead == 0 && stretches_left != '0));
        if (!dropping) assert (32'(taken_q) + 32'(stretches_left) == Bursts);
        if (!dropping) assert (Beats * 32'(sent_q) + 32'(beats_q) + 32'(beat_valid) == 32'(given_q));
        assert (32'(given_q) <= Bursts * Beats);
      end else if (!abort_i) begin
        assert (!beat_valid);
      end
      assert (held_q == (w_wait_q && full_q));
      if (held_q) assert (beat_valid);
      if (beat_valid) assert (m_axi_wdata_o == sent(gave_q));
    end
  end

  logic unused;
  assign unused = ^{port_i, port_o};
endmodule
