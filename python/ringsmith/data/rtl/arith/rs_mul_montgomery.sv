// SPDX-License-Identifier: Apache-2.0
// Word-level Montgomery multiplier: r in (-m, m), congruent to a*b*2^-(w*ceil(W/w)); m is 1 modulo 2^w.
//
// product_o is a*b itself, mul_latency after the operands. Latency of result_o: montgomery_latency(MulStyle, W, MontW).
module rs_mul_montgomery
  import rs_latency_pkg::*;
#(
  // Bits of the operands, 5 or more.
  parameter int unsigned W = 32,
  // w: m is 1 modulo 2^w; 2 to W - 2.
  parameter int unsigned MontW = 13,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  // 1: the modulus comes with the operands; 0: it is quasi-static.
  parameter bit Moving = 1'b0,
  // 1: see rs_mod_montgomery.
  parameter bit StepLuts = 1'b0
) (
  input  logic               clk_i,
  // mh = (m - 1) >> MontW.
  input  logic [W-MontW-1:0] modulus_high_i,
  // a below 2^W, b below m.
  input  logic [      W-1:0] a_i,
  input  logic [      W-1:0] b_i,
  output logic [    2*W-1:0] product_o,
  output logic [        W:0] result_o
);

  localparam int unsigned ProductLatency = 32'(mul_latency(int'(MulStyle), int'(W), int'(W)));

  logic [W-MontW-1:0] modulus_high;

  rs_mul_tiled #(
    .AWidth  (W),
    .BWidth  (W),
    .MulStyle(MulStyle)
  ) u_product (
    .clk_i,
    .a_i,
    .b_i,
    .p_o(product_o)
  );

  rs_delay #(
    .Width (W - MontW),
    .Stages(Moving ? ProductLatency : 0)
  ) u_modulus (
    .clk_i,
    .data_i(modulus_high_i),
    .data_o(modulus_high)
  );

  rs_mod_montgomery #(
    .W   (W),
    .MontW(MontW),
    .MulStyle   (MulStyle),
    .Moving  (Moving),
    .StepLuts(StepLuts)
  ) u_reduce (
    .clk_i,
    .modulus_high_i(modulus_high),
    .t_i           (product_o),
    .result_o
  );

endmodule
