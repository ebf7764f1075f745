// SPDX-License-Identifier: Apache-2.0
// Cuts a transfer of all lanes' polynomials into AXI4 bursts.
//
// Each lane's n coefficients lie together in host memory; lane l starts at address + l * LaneStride. (Rows of all lanes
// are one lane of longer coefficients here: see rs_axi_dma.) A burst is as long
// as AXI4 allows: 256 beats, 4096 bytes, or the polynomial, whichever is smallest. All of these are powers of two, and
// the start of a lane is a multiple of the polynomial's size, so no burst crosses a 4096-byte boundary.
//
// Protocol: start_i (while idle_o) with address_i and log2_bytes_i; then valid/ready with one burst each; idle_o after
// the last, or with stop_i after the one that is valid. Latency: the first burst is valid one cycle after start_i.
module rs_axi_bursts #(
  // Address bits, 32 to 64.
  parameter int unsigned AddrWidth = 40,
  // Bytes of a beat: a power of two, 1 to 128.
  parameter int unsigned BeatBytes = 4,
  // Lanes, 1 to 15.
  parameter int unsigned Lanes = 1,
  // log2 of the bytes between the polynomials of two lanes.
  parameter int unsigned LaneStrideLog2 = 12
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [AddrWidth-1:0] address_i,
  // log2 of the bytes of one lane's polynomial: at least log2 BeatBytes, at most LaneStrideLog2.
  input  logic [          4:0] log2_bytes_i,
  // The burst that is valid is the last one.
  input  logic                 stop_i,
  output logic                 idle_o,
  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [AddrWidth-1:0] address_o,
  // Beats of the burst minus one, as AXI4 counts; the same for all bursts of a transfer.
  output logic [          7:0] length_o
);
  localparam int unsigned BeatLog2 = $clog2(BeatBytes);
  localparam int unsigned LongestLog2 = (BeatLog2 + 8 < 12) ? BeatLog2 + 8 : 12;

  if (BeatBytes < 1 || BeatBytes > 128 || (1 << BeatLog2) != BeatBytes) begin : gen_check_beat
    $fatal(1, "%m: BeatBytes = %0d must be a power of two from 1 to 128", BeatBytes);
  end

  logic [4:0] log2_bytes_q;
  logic [AddrWidth-1:0] lane_address_q, offset_q;
  logic [3:0] lanes_left_q;
  logic [4:0] burst_log2;
  logic [AddrWidth-1:0] burst_bytes, next_offset;
  logic lane_done;

  assign burst_log2  = (32'(log2_bytes_q) < LongestLog2) ? log2_bytes_q : 5'(LongestLog2);
  assign burst_bytes = AddrWidth'(1) << burst_log2;
  assign next_offset = offset_q + burst_bytes;
  assign lane_done   = next_offset == (AddrWidth'(1) << log2_bytes_q);

  assign idle_o      = lanes_left_q == '0;
  assign valid_o     = !idle_o;
  assign address_o   = lane_address_q + offset_q;
  assign length_o    = 8'((32'd1 << (burst_log2 - 5'(BeatLog2))) - 32'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lanes_left_q   <= '0;
      log2_bytes_q   <= '0;
      lane_address_q <= '0;
      offset_q       <= '0;
    end else if (idle_o) begin
      offset_q <= '0;
      if (start_i) begin
        lanes_left_q   <= 4'(Lanes);
        log2_bytes_q   <= log2_bytes_i;
        lane_address_q <= address_i;
      end
    end else if (ready_i) begin
      offset_q <= lane_done ? '0 : next_offset;
      if (stop_i) begin
        lanes_left_q <= '0;
      end else if (lane_done) begin
        lanes_left_q   <= lanes_left_q - 4'd1;
        lane_address_q <= lane_address_q + (AddrWidth'(1) << LaneStrideLog2);
      end
    end
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) start_i |-> idle_o && 32'(log2_bytes_i) >= BeatLog2);
  // No burst crosses a 4096-byte boundary.
  assert property (@(posedge clk_i) disable iff (!armed) valid_o |-> (address_o & (burst_bytes - 1)) == '0);
`endif
endmodule
