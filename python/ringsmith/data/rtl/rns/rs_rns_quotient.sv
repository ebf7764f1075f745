// SPDX-License-Identifier: Apache-2.0
// The quotient of a base conversion: v = floor((sum y_i C_i + 2^(F-1)) / 2^F), F = 51 + MinBits, MinBits the bits of
// the narrowest q_i, C_i = floor((2^F + floor(q_i/2)) / q_i).
//
// Exact: the sum is whole, and v = (sum >> F) + bit F-1 of it. With 8 primes v is at most 8. One C_i reaches 2^52, and
// so has 53 bits, only where q_i has 54 bits or more (reciprocal_bits). v of column r comes quotient_latency(...) + r
// cycles after column 0's last step.
module rs_rns_quotient
  import rs_build_pkg::*;
  import rs_latency_pkg::*;
#(
  // Bits of a word.
  parameter int unsigned W = 32,
  // Columns: 1, 2 or 4.
  parameter int unsigned RnsRate = 2,
  // Bits of the narrowest modulus that can be, 5 to W.
  parameter int unsigned Lowest = 5,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  localparam int unsigned FactorBits = 32'(reciprocal_bits(int'(W)))
) (
  input  logic                         clk_i,
  // MinBits, Lowest to W; quasi-static.
  input  logic [           6:0]        min_bits_i,
  // As rs_rns_dot takes them.
  input  logic                         first_i,
  input  logic                         last_i,
  input  logic [FactorBits-1:0]        reciprocal_i,
  input  logic [   RnsRate-1:0][W-1:0] y_i,
  output logic [           3:0]        v_o
);

  if (Lowest < ModMinBitsLeast || Lowest > W) begin : gen_lowest_check
    $error("%m: Lowest must be %0d to W", ModMinBitsLeast);
  end

  localparam int unsigned Guard = 4;
  localparam int unsigned SumBits = FactorBits + W + Guard;
  // Bit F - 1 of the narrowest modulus.
  localparam int unsigned Bottom = 50 + Lowest;
  localparam int unsigned TopBits = SumBits - Bottom;

  logic [SumBits-1:0] sum;
  rs_rns_dot #(
    .FactorBits (FactorBits),
    .OperandBits(W),
    .RnsRate    (RnsRate),
    .Guard      (Guard),
    .MulStyle   (MulStyle)
  ) u_dot (
    .clk_i,
    .first_i,
    .last_i,
    .factor_i (reciprocal_i),
    .operand_i(y_i),
    .sum_o    (sum)
  );

  // v and the bit below it.
  logic [4:0] aligned_q;
  always_ff @(posedge clk_i) begin
    aligned_q <= 5'((TopBits + 5)'(sum[SumBits-1:Bottom]) >> (min_bits_i - 7'(Lowest)));
    v_o       <= aligned_q[4:1] + 4'(aligned_q[0]);
  end

  logic unused_fraction;
  assign unused_fraction = ^sum[Bottom-1:0];

endmodule
