// SPDX-License-Identifier: Apache-2.0
// Pipelined unsigned multiplier of 27 to 30 by 18 to 34 bits on two DSP48s: p = a * b.
//
//   a = a1 * 2^26 + a0:   a0 * b                 two multipliers in a chain (rs_mult_chain)
//                         a1 * b * 2^26          1 to 4 rows of bits, added in LUTs; the chain takes the sum in
//
// Four tiles of 26 x 17 would leave two multipliers all but empty. MulStyle 1 (dsp26x17) only. Latency
// mul_latency(1, AWidth, BWidth) = 4; a result every cycle.
module rs_mul_strip
  import rs_latency_pkg::*;
#(
  // Bits of a, 27 to 30, and of b, 18 to 34.
  parameter int unsigned AWidth = 30,
  parameter int unsigned BWidth = 30
) (
  input  logic                     clk_i,
  input  logic [       AWidth-1:0] a_i,
  input  logic [       BWidth-1:0] b_i,
  output logic [AWidth+BWidth-1:0] p_o
);

  localparam int unsigned Rows = AWidth - 26;
  localparam int unsigned StripBits = BWidth + Rows;
  localparam int unsigned HighBits = AWidth + BWidth - 17;

  if (AWidth < 27 || AWidth > 30 || BWidth < 18 || BWidth > 34) begin : gen_width_check
    $error("%m: AWidth must be 27 to 30 and BWidth 18 to 34");
  end
  if (mul_latency(rs_build_pkg::MultiplierDsp26x17, int'(AWidth), int'(BWidth)) != 4) begin : gen_latency_check
    $error("%m: the chain and mul_latency of spec/latency.yaml disagree");
  end

  // Rows in pairs, so that a LUT before each carry takes two of them. The sum waits in shift registers.
  logic [3:0][StripBits-1:0] row;
  logic [StripBits-1:0] strip;
  for (genvar i = 0; i < 4; i++) begin : gen_row
    if (i < Rows) begin : gen_kept
      assign row[i] = a_i[26+i] ? StripBits'(b_i) << i : '0;
    end else begin : gen_none
      assign row[i] = '0;
    end
  end
  rs_delay #(
    .Width (StripBits),
    .Stages(3)
  ) u_strip (
    .clk_i,
    .data_i((row[0] + row[1]) + (row[2] + row[3])),
    .data_o(strip)
  );

  rs_mult_chain #(
    .AWidth(26),
    .BWidth(BWidth),
    .Extra (Rows)
  ) u_chain (
    .clk_i,
    .a_i(a_i[25:0]),
    .b_i,
    .c_i(HighBits'({strip, 9'd0})),
    .p_o
  );

endmodule
