// SPDX-License-Identifier: Apache-2.0
// Serves the core's LOAD and STORE through the serial host.
//
// A request waits, visible in the TRANSFER register and on the interrupt line, until the host has moved all its bytes
// with WriteData or ReadData frames: Lanes * n coefficients, lane 0 first, CoeffBytes bytes each, little-endian.
module rs_serial_dma #(
  // Bits of a coefficient, 14 to 128.
  parameter int unsigned W = 32,
  // Coefficients per memory word, 1 to 32.
  parameter int unsigned P = 1,
  // Lanes, 1 to 15.
  parameter int unsigned Lanes = 1,
  // Bytes of a coefficient on the link: 2, 4, 8 or 16, at least W / 8.
  parameter int unsigned CoeffBytes = 4
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  // Core: request, LOAD words, STORE words (see rs_core).
  input  logic           req_valid_i,
  output logic           req_ready_o,
  input  logic           req_store_i,
  input  logic [   19:0] req_buf_i,
  input  logic [    3:0] req_logn_i,
  output logic           ld_valid_o,
  input  logic           ld_ready_i,
  output logic [P*W-1:0] ld_data_o,
  input  logic           st_valid_i,
  output logic           st_ready_o,
  input  logic [P*W-1:0] st_data_i,
  output logic           st_done_o,
  // The transfer that waits.
  output logic           waiting_o,
  output logic           store_o,
  output logic [   19:0] buf_o,
  output logic [    3:0] logn_o,
  // Bytes from and to the link (see rs_serial_bridge).
  output logic [   23:0] din_left_o,
  input  logic           din_valid_i,
  output logic           din_ready_o,
  input  logic [    7:0] din_data_i,
  output logic [   23:0] dout_left_o,
  output logic           dout_valid_o,
  input  logic           dout_ready_i,
  output logic [    7:0] dout_data_o
);
  localparam int unsigned CoeffLog2 = $clog2(CoeffBytes);

  logic waiting_q, store_q;
  logic [19:0] buf_q;
  logic [ 3:0] logn_q;
  logic [23:0] left_q;
  logic start, moved, last, unused_err;
  logic pack_ready;

  assign req_ready_o = !waiting_q;
  assign start       = req_valid_i && req_ready_o;
  assign moved       = store_q ? dout_valid_o && dout_ready_i : din_valid_i && din_ready_o;
  assign last        = waiting_q && moved && left_q == 24'd1;
  assign st_done_o   = last && store_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= 1'b0;
      store_q   <= 1'b0;
      buf_q     <= '0;
      logn_q    <= '0;
      left_q    <= '0;
    end else if (start) begin
      waiting_q <= 1'b1;
      store_q   <= req_store_i;
      buf_q     <= req_buf_i;
      logn_q    <= req_logn_i;
      left_q    <= 24'(Lanes) << (5'(req_logn_i) + 5'(CoeffLog2));
    end else if (waiting_q && moved) begin
      left_q    <= left_q - 24'd1;
      waiting_q <= !last;
    end
  end

  assign waiting_o   = waiting_q;
  assign store_o     = store_q;
  assign buf_o       = buf_q;
  assign logn_o      = logn_q;
  assign din_left_o  = (waiting_q && !store_q) ? left_q : '0;
  assign dout_left_o = (waiting_q && store_q) ? left_q : '0;
  assign st_ready_o  = pack_ready && waiting_q && store_q;

  rs_host_unpack #(
    .W        (W),
    .P        (P),
    .CoeffBits(CoeffBytes * 8),
    .BeatBits (8)
  ) u_unpack (
    .clk_i,
    .rst_ni,
    .clear_i     (1'b0),
    .beat_valid_i(din_valid_i),
    .beat_ready_o(din_ready_o),
    .beat_data_i (din_data_i),
    .beat_err_i  (1'b0),
    .word_valid_o(ld_valid_o),
    .word_ready_i(ld_ready_i),
    .word_data_o (ld_data_o),
    .word_err_o  (unused_err)
  );

  rs_host_pack #(
    .W        (W),
    .P        (P),
    .CoeffBits(CoeffBytes * 8),
    .BeatBits (8)
  ) u_pack (
    .clk_i,
    .rst_ni,
    .clear_i     (1'b0),
    .word_valid_i(st_valid_i && waiting_q && store_q),
    .word_ready_o(pack_ready),
    .word_data_i (st_data_i),
    .beat_valid_o(dout_valid_o),
    .beat_ready_i(dout_ready_i),
    .beat_data_o (dout_data_o)
  );

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) din_valid_i |-> waiting_q && !store_q);
  assert property (@(posedge clk_i) disable iff (!armed) st_done_o |=> !waiting_q);
`endif
endmodule
