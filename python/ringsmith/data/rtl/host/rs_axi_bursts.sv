// SPDX-License-Identifier: Apache-2.0
// Cuts a transfer of all lanes' polynomials into AXI4 bursts.
//
// A transfer is a few stretches of host memory of one size, a power of two: each lane's n coefficients, stretch l at
// address + l * Stride; or, Contiguous, the rows of all lanes, in as many stretches as a row has beats, end to end (see
// rs_axi_dma). A burst is as long as AXI4 allows: 256 beats, 4096 bytes, or the stretch, whichever is smallest. All of
// these are powers of two, and a stretch starts at a multiple of its size, or of 4096 bytes, so no burst crosses a
// 4096-byte boundary.
//
// Protocol: start_i (while idle_o) with address_i and log2_bytes_i; then valid/ready with one burst each; idle_o after
// the last, or with stop_i after the one that is valid. Latency: the first burst is valid one cycle after start_i.
module rs_axi_bursts #(
  // Address bits, 32 to 64.
  parameter int unsigned AddrWidth = 40,
  // Bytes of a beat: a power of two, 1 to 128.
  parameter int unsigned BeatBytes = 4,
  // Stretches, 1 to 60.
  parameter int unsigned Stretches = 1,
  // log2 of the bytes from one stretch to the next, which is the largest stretch.
  parameter int unsigned StrideLog2 = 12,
  // 1: stretches lie end to end, whatever their size.
  parameter bit Contiguous = 1'b0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [AddrWidth-1:0] address_i,
  // log2 of the bytes of a stretch: at least log2 BeatBytes, at most StrideLog2.
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
  localparam int unsigned LeftBits = $clog2(Stretches + 1);
  localparam int unsigned BeatLog2 = $clog2(BeatBytes);
  localparam int unsigned LongestLog2 = (BeatLog2 + 8 < 12) ? BeatLog2 + 8 : 12;

  if (BeatBytes < 1 || BeatBytes > 128 || (1 << BeatLog2) != BeatBytes) begin : gen_check_beat
    $fatal(1, "%m: BeatBytes = %0d must be a power of two from 1 to 128", BeatBytes);
  end

  logic [4:0] log2_bytes_q;
  logic [AddrWidth-1:0] stretch_q, offset_q, stride;
  logic [LeftBits-1:0] left_q;
  logic [4:0] burst_log2;
  logic [AddrWidth-1:0] burst_bytes, next_offset;
  logic whole;

  assign burst_log2  = (32'(log2_bytes_q) < LongestLog2) ? log2_bytes_q : 5'(LongestLog2);
  assign burst_bytes = AddrWidth'(1) << burst_log2;
  assign next_offset = offset_q + burst_bytes;
  assign whole       = next_offset == (AddrWidth'(1) << log2_bytes_q);
  assign stride      = AddrWidth'(1) << (Contiguous ? log2_bytes_q : 5'(StrideLog2));

  assign idle_o      = left_q == '0;
  assign valid_o     = !idle_o;
  assign address_o   = stretch_q + offset_q;
  assign length_o    = 8'((32'd1 << (burst_log2 - 5'(BeatLog2))) - 32'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q       <= '0;
      log2_bytes_q <= '0;
      stretch_q    <= '0;
      offset_q     <= '0;
    end else if (idle_o) begin
      offset_q <= '0;
      if (start_i) begin
        left_q       <= LeftBits'(Stretches);
        log2_bytes_q <= log2_bytes_i;
        stretch_q    <= address_i;
      end
    end else if (ready_i) begin
      offset_q <= whole ? '0 : next_offset;
      if (stop_i) begin
        left_q <= '0;
      end else if (whole) begin
        left_q    <= left_q - LeftBits'(1);
        stretch_q <= stretch_q + stride;
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
