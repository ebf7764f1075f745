// SPDX-License-Identifier: Apache-2.0
// Pipelined unsigned multiplier of 54 to 60 bits on ten DSP48s: p = a * b.
//
//   a = a1 * 2^26 + a0      a0 * b:  two chains, of 34 and up to 26 bits of b        weights 2^0, 2^34
//                           a1 * b:  three, of 26, 26 and up to 8 bits of b          weights 2^26, 2^52, 2^78
//
// Each chain (rs_mult_chain) has one factor of 26 bits and one of up to 34. The first and the last one do not overlap,
// so four summands are left, two levels of adders. Tiles of 26 x 17 in rows would take twelve multipliers and three
// levels. MulStyle 1 (dsp26x17) only. Latency mul_latency(1, AWidth, BWidth) = 5; a result every cycle.
module rs_mul_cross
  import rs_latency_pkg::*;
#(
  // Bits of a and of b, 54 to 60 each.
  parameter int unsigned AWidth = 60,
  parameter int unsigned BWidth = 60
) (
  input  logic                     clk_i,
  input  logic [       AWidth-1:0] a_i,
  input  logic [       BWidth-1:0] b_i,
  output logic [AWidth+BWidth-1:0] p_o
);

  if (AWidth < 54 || AWidth > 60 || BWidth < 54 || BWidth > 60) begin : gen_width_check
    $error("%m: AWidth and BWidth must be 54 to 60");
  end
  if (mul_latency(rs_build_pkg::MultiplierDsp26x17, int'(AWidth), int'(BWidth)) != 5) begin : gen_latency_check
    $error("%m: the chains and mul_latency of spec/latency.yaml disagree");
  end

  localparam int unsigned OutWidth = AWidth + BWidth;
  localparam int unsigned RestA = AWidth - 26;

  // a0 * b.
  logic [59:0] first;
  logic [BWidth-9:0] second;
  rs_mult_chain #(
    .AWidth(26),
    .BWidth(34),
    .Extra (0),
    .Stages(0)
  ) u_first (
    .clk_i,
    .a_i(a_i[25:0]),
    .b_i(b_i[33:0]),
    .c_i('0),
    .p_o(first)
  );
  rs_mult_chain #(
    .AWidth(26),
    .BWidth(BWidth - 34),
    .Extra (0),
    .Stages(0)
  ) u_second (
    .clk_i,
    .a_i(a_i[25:0]),
    .b_i(b_i[BWidth-1:34]),
    .c_i('0),
    .p_o(second)
  );

  // a1 * b.
  logic [1:0][AWidth-1:0] middle;
  logic [OutWidth-79:0] last;
  for (genvar i = 0; i < 2; i++) begin : gen_middle
    rs_mult_chain #(
      .AWidth(26),
      .BWidth(RestA),
      .Extra (0),
      .Stages(0)
    ) u_chain (
      .clk_i,
      .a_i(b_i[26*i+:26]),
      .b_i(a_i[AWidth-1:26]),
      .c_i('0),
      .p_o(middle[i])
    );
  end
  rs_mult_chain #(
    .AWidth(BWidth - 52),
    .BWidth(RestA),
    .Extra (0),
    .Stages(0)
  ) u_last (
    .clk_i,
    .a_i(b_i[BWidth-1:52]),
    .b_i(a_i[AWidth-1:26]),
    .c_i('0),
    .p_o(last)
  );

  // Those in the middle of the product start at 2^26; its 26 low bits are the first chain's.
  logic [ OutWidth-1:0] outer_q;
  logic [OutWidth-27:0] inner_q;
  always_ff @(posedge clk_i) begin
    outer_q <= {last, 18'd0, first} + OutWidth'({middle[1], 52'd0});
    inner_q <= (OutWidth - 26)'(middle[0]) + (OutWidth - 26)'({second, 8'd0});
    p_o     <= {outer_q[OutWidth-1:26] + inner_q, outer_q[25:0]};
  end

endmodule
