// SPDX-License-Identifier: Apache-2.0
// Checks bound into rs_axi_bursts: legal bursts without a hole. The expected start of the next one is counted here from
// the bursts that were taken. Host buffers start at multiples of 4096 bytes.
module rs_bursts_checks #(
  parameter int unsigned AddrWidth = 40,
  parameter int unsigned BeatBytes = 16,
  parameter int unsigned Stretches = 3,
  parameter int unsigned StrideLog2 = 19,
  parameter bit Contiguous = 1'b0
) (
  input logic                           clk_i,
  input logic                           rst_ni,
  input logic                           start_i,
  input logic [          AddrWidth-1:0] address_i,
  input logic [                    4:0] log2_bytes_i,
  input logic                           stop_i,
  input logic                           idle_o,
  input logic                           valid_o,
  input logic                           ready_i,
  input logic [          AddrWidth-1:0] address_o,
  input logic [                    7:0] length_o,
  // Inside.
  input logic [                    4:0] log2_bytes_q,
  input logic [          AddrWidth-1:0] stretch_q,
  input logic [          AddrWidth-1:0] offset_q,
  input logic [$clog2(Stretches+1)-1:0] left_q
);
  localparam int unsigned BeatLog2 = $clog2(BeatBytes);
  // Stretches start at multiples of their stride, or of 4096 bytes.
  localparam int unsigned AlignLog2 = StrideLog2 < 12 ? StrideLog2 : 12;

  // Start of the stretch, bytes of it done, bytes of a stretch and to the next, stretches not begun or not done.
  logic [AddrWidth-1:0] start_q, done_q, whole_q, burst_bytes, next;
  logic [5:0] stretches_q;
  logic last;
  assign burst_bytes = (AddrWidth'(length_o) + 1'b1) << BeatLog2;
  assign last        = done_q + burst_bytes == whole_q;
  assign next        = Contiguous ? whole_q : AddrWidth'(1) << StrideLog2;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {start_q, done_q, whole_q, stretches_q} <= '0;
    end else if (start_i) begin
      {start_q, done_q, stretches_q} <= {address_i, AddrWidth'(0), 6'(Stretches)};
      whole_q <= AddrWidth'(1) << log2_bytes_i;
    end else if (valid_o && ready_i) begin
      done_q <= last ? '0 : done_q + burst_bytes;
      if (last) start_q <= start_q + next;
      stretches_q <= stop_i ? '0 : stretches_q - 6'(last);
    end
  end

  always_comb begin
    if (start_i) begin
      assume (idle_o && 32'(log2_bytes_i) >= BeatLog2 && 32'(log2_bytes_i) <= StrideLog2);
      // At least a polynomial of 8 coefficients of 2 bytes.
      assume (32'(log2_bytes_i) >= 4 && address_i[AlignLog2-1:0] == '0);
    end
    if (rst_ni) begin
      assert (valid_o == (stretches_q != '0) && idle_o == !valid_o);
      if (valid_o) begin
        assert (address_o == start_q + done_q && done_q + burst_bytes <= whole_q);
        assert (address_o[BeatLog2-1:0] == '0 && 13'(address_o[11:0]) + 13'(burst_bytes) <= 13'd4096);
        assert (burst_bytes <= 4096);
      end
      // How the inside relates to this.
      assert (6'(left_q) == stretches_q && 32'(log2_bytes_q) <= StrideLog2);
      if (valid_o) begin
        assert (stretch_q == start_q && offset_q == done_q && whole_q == AddrWidth'(1) << log2_bytes_q);
        assert (32'(log2_bytes_q) >= BeatLog2 && 32'(log2_bytes_q) >= 4);
        assert ((done_q & (burst_bytes - 1)) == '0 && (start_q & (burst_bytes - 1)) == '0 && done_q < whole_q);
      end
    end
  end
endmodule
