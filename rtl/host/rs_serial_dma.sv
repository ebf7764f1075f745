// SPDX-License-Identifier: Apache-2.0
// Serves the core's LOAD and STORE through the serial host.
//
// A request waits, visible in the TRANSFER register and on the interrupt line, until the host has moved all its bytes
// with WriteData or ReadData frames: Lanes * n coefficients, lane 0 first, CoeffBytes bytes each, little-endian.
module rs_serial_dma
  import rs_bundle_pkg::*;
#(
  // Bits of a coefficient, 14 to 128.
  parameter int unsigned W = 32,
  // Coefficients per memory word, 1 to 32.
  parameter int unsigned P = 1,
  // Lanes, 1 to 15.
  parameter int unsigned Lanes = 1,
  // Bytes of a coefficient on the link: 2, 4, 8 or 16, at least W / 8.
  parameter int unsigned CoeffBytes = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // Core (see rs_core).
  input  port_req_t           port_i,
  output port_rsp_t           port_o,
  output logic      [P*W-1:0] ld_data_o,
  input  logic      [P*W-1:0] st_data_i,
  // The transfer that waits.
  output transfer_t           waiting_o,
  // Bytes from and to the link (see rs_serial_bridge).
  output logic      [   23:0] din_left_o,
  input  logic                din_valid_i,
  output logic                din_ready_o,
  input  logic      [    7:0] din_data_i,
  output logic      [   23:0] dout_left_o,
  output logic                dout_valid_o,
  input  logic                dout_ready_i,
  output logic      [    7:0] dout_data_o
);
  localparam int unsigned CoeffLog2 = $clog2(CoeffBytes);

  transfer_t waiting_q;
  logic [23:0] left_q;
  logic start, moved, last, ld_valid, unused_err;
  logic pack_ready;

  assign start       = port_i.transfer.valid && !waiting_q.valid;
  assign moved       = waiting_q.store ? dout_valid_o && dout_ready_i : din_valid_i && din_ready_o;
  assign last        = waiting_q.valid && moved && left_q == 24'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= '0;
      left_q    <= '0;
    end else if (start) begin
      waiting_q <= port_i.transfer;
      left_q    <= 24'(Lanes) << (5'(port_i.transfer.log2_n) + 5'(CoeffLog2));
    end else if (waiting_q.valid && moved) begin
      left_q          <= left_q - 24'd1;
      waiting_q.valid <= !last;
    end
  end

  assign waiting_o   = waiting_q;
  assign din_left_o  = (waiting_q.valid && !waiting_q.store) ? left_q : '0;
  assign dout_left_o = (waiting_q.valid && waiting_q.store) ? left_q : '0;
  assign port_o = '{
          ready: !waiting_q.valid,
          ld_valid: ld_valid,
          ld_err: 1'b0,
          st_ready: pack_ready && waiting_q.valid && waiting_q.store,
          st_done: last && waiting_q.store,
          st_err: 1'b0
      };

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
    .word_valid_o(ld_valid),
    .word_ready_i(port_i.ld_ready),
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
    .word_valid_i(port_i.st_valid && waiting_q.valid && waiting_q.store),
    .word_ready_o(pack_ready),
    .word_data_i (st_data_i),
    .beat_valid_o(dout_valid_o),
    .beat_ready_i(dout_ready_i),
    .beat_data_o (dout_data_o)
  );

  // The bytes of a transfer are counted.
  logic unused_last;
  assign unused_last = port_i.st_last;

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) din_valid_i |-> waiting_q.valid && !waiting_q.store);
  assert property (@(posedge clk_i) disable iff (!armed) port_o.st_done |=> !waiting_q.valid);
`endif
endmodule
