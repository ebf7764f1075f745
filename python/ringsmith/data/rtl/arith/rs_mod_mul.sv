// SPDX-License-Identifier: Apache-2.0
// Modular multiplier with the reduction chosen by parameter; result_o is signed in [-m, m), not corrected.
//
// Barrett: congruent to a*b, any modulus. Montgomery: congruent to a*b*2^-(MontW*ceil(W/MontW)).
// product_o is the plain product, delayed to come with result_o; it is built only with KeepProduct = 1, else 0.
// Latency: mod_mul_latency(MulKind, MulStyle, W, ModMinBits, MontW).
module rs_mod_mul
  import rs_latency_pkg::*;
#(
  // Bits of a word.
  parameter int unsigned W = 32,
  // 0 Barrett, 1 word-level Montgomery.
  parameter int unsigned MulKind = 0,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational (Barrett only).
  parameter int unsigned MulStyle = 1,
  // Barrett: bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5,
  // Montgomery: the modulus is 1 modulo 2^MontW, 2 to W - 2.
  parameter int unsigned MontW = 8,
  // 1: product_o is wanted.
  parameter bit KeepProduct = 1'b0,
  // 1: the modulus and its constants come with the operands; 0: they are quasi-static.
  parameter bit Moving = 1'b0,
  // 1: see rs_mod_montgomery.
  parameter bit StepLuts = 1'b0
) (
  input  logic           clk_i,
  input  logic [  W-1:0] modulus_i,
  // Barrett: floor(2^(k+W+2) / m). Montgomery: (m - 1) >> MontW in the low bits.
  input  logic [  W+2:0] aux_i,
  // k, the bits of the modulus; Barrett only.
  input  logic [    7:0] mod_bits_i,
  input  logic [  W-1:0] a_i,
  input  logic [  W-1:0] b_i,
  output logic [    W:0] result_o,
  output logic [2*W-1:0] product_o
);

  if (MulKind > rs_build_pkg::ReductionMontgomery) begin : gen_kind_check
    $error("%m: MulKind must be 0 (Barrett) or 1 (Montgomery)");
  end

  localparam int unsigned Latency = 32'(mod_mul_latency(
    int'(MulKind), int'(MulStyle), int'(W), int'(ModMinBits), int'(MontW)
  ));
  localparam int unsigned ProductLatency = 32'(mul_latency(int'(MulStyle), int'(W), int'(W)));

  logic [2*W-1:0] product;

  if (MulKind == rs_build_pkg::ReductionBarrett) begin : gen_barrett
    rs_mul_barrett #(
      .W         (W),
      .ModMinBits(ModMinBits),
      .MulStyle  (MulStyle),
      .Moving    (Moving)
    ) u_mul (
      .clk_i,
      .modulus_i,
      .mu_i     (aux_i),
      .mod_bits_i,
      .a_i,
      .b_i,
      .product_o(product),
      .result_o
    );
  end else begin : gen_montgomery
    rs_mul_montgomery #(
      .W   (W),
      .MontW(MontW),
      .MulStyle   (MulStyle),
      .Moving  (Moving),
      .StepLuts(StepLuts)
    ) u_mul (
      .clk_i,
      .modulus_high_i(aux_i[W-MontW-1:0]),
      .a_i,
      .b_i,
      .product_o     (product),
      .result_o
    );
    logic unused_config;
    assign unused_config = ^{modulus_i, aux_i, mod_bits_i};
  end

  if (KeepProduct) begin : gen_product
    rs_delay #(
      .Width (2 * W),
      .Stages(Latency - ProductLatency)
    ) u_product (
      .clk_i,
      .data_i(product),
      .data_o(product_o)
    );
  end else begin : gen_no_product
    logic unused_product;
    assign unused_product = ^product;
    assign product_o = '0;
  end

endmodule
