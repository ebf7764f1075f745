// SPDX-License-Identifier: Apache-2.0
// One coefficient of a pointwise instruction: x = u + v*w, or the sum or difference of u and v; fully reduced.
//
//   v,w --> multiplier --+--> sum --> x
//   u,v --> delay -------+
//
// u, v, w in [0, m); v of a product any word. Latency: mod_mul_latency + addsub_latency; a result every cycle.
module rs_pointwise
  import rs_latency_pkg::*;
#(
  // Bits of a word.
  parameter int unsigned W = 32,
  // 0 Barrett, 1 word-level Montgomery.
  parameter int unsigned MulKind = 0,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  // Barrett: bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5,
  // Montgomery: the modulus is 1 modulo 2^MontW, 2 to W - 2.
  parameter int unsigned MontW = 8,
  // 1: see rs_mod_montgomery.
  parameter bit StepLuts = 1'b0
) (
  input  logic         clk_i,
  // Quasi-static.
  input  logic [W-1:0] modulus_i,
  input  logic [W+2:0] aux_i,
  input  logic [  7:0] mod_bits_i,
  // Mode, valid with u, v, w: 1 u + v or, with sub_i, u - v; 0 u + v*w.
  input  logic         crossed_i,
  input  logic         sub_i,
  input  logic [W-1:0] u_i,
  input  logic [W-1:0] v_i,
  input  logic [W-1:0] w_i,
  output logic [W-1:0] x_o
);

  localparam int unsigned MulLatency = 32'(mod_mul_latency(
    int'(MulKind), int'(MulStyle), int'(W), int'(ModMinBits), int'(MontW)
  ));

  logic [W:0] scaled;
  logic [2*W-1:0] unused_product;
  rs_mod_mul #(
    .W         (W),
    .MulKind   (MulKind),
    .MulStyle  (MulStyle),
    .ModMinBits(ModMinBits),
    .MontW     (MontW),
    .StepLuts  (StepLuts)
  ) u_mul (
    .clk_i,
    .modulus_i,
    .aux_i,
    .mod_bits_i,
    .a_i      (v_i),
    .b_i      (w_i),
    .result_o (scaled),
    .product_o(unused_product)
  );

  logic crossed, sub;
  logic [W-1:0] u, v;
  rs_delay #(
    .Width (2 * W + 2),
    .Stages(MulLatency)
  ) u_side (
    .clk_i,
    .data_i({crossed_i, sub_i, u_i, v_i}),
    .data_o({crossed, sub, u, v})
  );

  rs_mod_addsub #(
    .W(W),
    .MulStyle(MulStyle)
  ) u_sum (
    .clk_i,
    .modulus_i,
    .sub_i   (crossed && sub),
    .halve_i (1'b0),
    .whole_i (1'b0),
    .a_i     (u),
    .b_i     (crossed ? {1'b0, v} : scaled),
    .result_o(x_o)
  );

endmodule
