// SPDX-License-Identifier: Apache-2.0
// Barrett multiplier with a modulus set at run time: r in [-m, m), congruent to a*b. The bound stands in
// rs_mod_barrett.
//
// product_o is a*b itself, mul_latency after the operands. Latency of result_o:
// barrett_latency(MulStyle, W, ModMinBits).
module rs_mul_barrett
  import rs_latency_pkg::*;
#(
  // Bits of the operands, 5 or more.
  parameter int unsigned W = 32,
  // Bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational (Barrett only).
  parameter int unsigned MulStyle = 1,
  // 1: the modulus comes with the operands; 0: it is quasi-static.
  parameter bit Moving = 1'b0
) (
  input  logic           clk_i,
  // Not a power of two, with ModMinBits to W bits; mu = floor(2^(k+W+2) / m) and k, the bits of m, belong to it.
  input  logic [  W-1:0] modulus_i,
  input  logic [  W+2:0] mu_i,
  input  logic [    7:0] mod_bits_i,
  // a below 2^W, b below m.
  input  logic [  W-1:0] a_i,
  input  logic [  W-1:0] b_i,
  output logic [2*W-1:0] product_o,
  output logic [    W:0] result_o
);

  localparam int unsigned ProductLatency = 32'(mul_latency(int'(MulStyle), int'(W), int'(W)));
  localparam int unsigned ModulusBits = 2 * W + 11;

  logic [W-1:0] modulus;
  logic [W+2:0] mu;
  logic [  7:0] mod_bits;

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
    .Width (ModulusBits),
    .Stages(Moving ? ProductLatency : 0)
  ) u_modulus (
    .clk_i,
    .data_i({modulus_i, mu_i, mod_bits_i}),
    .data_o({modulus, mu, mod_bits})
  );

  rs_mod_barrett #(
    .W         (W),
    .ModMinBits(ModMinBits),
    .MulStyle  (MulStyle),
    .Moving    (Moving)
  ) u_reduce (
    .clk_i,
    .modulus_i (modulus),
    .mu_i      (mu),
    .mod_bits_i(mod_bits),
    .t_i       (product_o),
    .result_o
  );

endmodule
